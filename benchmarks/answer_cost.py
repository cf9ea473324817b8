"""Processor time of one whole answer in a process that stays: `python -m benchmarks.answer_cost FILE.fossil`.

From the CGI environment to the bytes that a CGI prints, as the worker does it: JSON and page, ten hits, with words that nobody
has asked for (`new`: what is remembered of words, questions and shown passages is dropped before), with known words in a new question,
and the same question again, as for its next page.
Medians in milliseconds of this thread's processor time; the questions are words of the index's own check-in comments.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import statistics
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the worker does, before numpy is loaded

from vecsearch.cgi import answer
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.memory import Memory
from vecsearch.store import shelf

QUESTIONS, ROUNDS = 40, 3


def questions(repository: Path) -> list[str]:
    """One to four words that stand together, always the same ones."""
    with closing(open_readonly(repository)) as db:
        texts = [text for (text,) in db.execute("SELECT text FROM fx_vec_chunk WHERE kind='checkin' ORDER BY hash LIMIT 400")]
    rng, found = random.Random(11), []
    for text in texts:
        words = re.findall(r"[A-Za-z]{4,}", text)
        if len(words) > 4:
            start = rng.randrange(len(words) - 4)
            found.append(" ".join(words[start : start + rng.randint(1, 4)]))
    return found[:QUESTIONS]


def asked(repository: Path, words: str, form: str) -> float:
    environ = {b"REQUEST_METHOD": b"GET", b"QUERY_STRING": f"format={form}&q={quote(words)}".encode(), b"SCRIPT_NAME": b"/ext/search",
               b"FOSSIL_REPOSITORY": os.fsencode(repository.resolve()), b"PATH_INFO": b"", b"SERVER_NAME": b"localhost", b"SERVER_PORT": b"80",
               b"HTTP_HOST": b"localhost", b"FOSSIL_URI": b"", b"FOSSIL_NONCE": b"x", b"SERVER_PROTOCOL": b"HTTP/1.1"}
    begun = time.thread_time()
    said = answer(environ, io.BytesIO(), io.StringIO())
    taken = 1000 * (time.thread_time() - begun)
    assert said.startswith(b"Status: 200"), said[:200]
    return taken


def forget(*names: str) -> None:
    """What is remembered of words, questions and passages; facts of artifacts and of the file stay."""
    for _, shelves in shelf._kept.values():
        for one in shelves.values():
            if (known := one.derived.get("memory")) is not None:
                fresh = Memory(known.stamp, known.version)
                for name in names:
                    setattr(known, name, getattr(fresh, name))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Processor time of one whole answer, warm.")
    parser.add_argument("repository", type=Path)
    repository = parser.parse_args().repository
    texts = questions(repository)
    for form in ("json", "html"):
        new, known, again = [], [], []
        for words in texts:
            asked(repository, words, form)
        for words in texts * ROUNDS:
            forget("matches", "rankings", "passages")
            new.append(asked(repository, words, form))
            forget("rankings")
            known.append(asked(repository, words, form))
            again.append(asked(repository, words, form))
        said = (f"{name} {statistics.median(some):.1f} ms (least {min(some):.1f})" for name, some in
                (("new words", new), ("known words", known), ("the same question", again)))
        print(f"{form}: {', '.join(said)}")


if __name__ == "__main__":
    main()
