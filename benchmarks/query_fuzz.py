"""Generated queries against the search page: `python -m benchmarks.query_fuzz FILE.fossil --count 100000`.

Operators, quotes, filters, Unicode, and the inputs of reported situations, put together at random from a
seed. Every answer must be status 200 with well-formed output, and nothing may be logged as an error.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

from vecsearch.fossil.repository import open_readonly
from vecsearch.web import create_app

WORDS = (
    "timeline", "fossil", "user_id", "INV-2024-001", "componentEmits", "C++", "a::b", "--flag", "$secureurl", "38.101", "don't", "don’t",
    "Größe", "größe", "café", "検索機能", "全文検索", "한국어", "שלום", "🔥", "x", "the", "a", "0", "%", "_", "ﬁle", "İ", "ß", "\u0301",
    "sourdough bread without a dutch oven", "backoffice-nodelay", "max-loadavg", "foo:bar", "c:\\temp", "the", "checkin", "merge",
)
OPERATORS = (
    '"', '""', '"unbalanced', "AND", "OR", "NOT", "NOT NEAR(", "NEAR(a b, 3)", "a AND", "*", "x*", "-", "--", "-x", "-*", "(", ")", "^x", "{a b}: c",
    "+", ":", "title : x", "'", "''", "\\", ";", "[", "]", "\x00", "\u200b", "\u202e", "\ud83d", "\udcff", "\ufffe", "\t", "\n", "a\u0000b", "re\u200bbase",
)
FILTERS = (
    "kind:doc", "kind:doc,wiki", "kind:nonsense", "kind:", "project:", "project:*", "path:src/*.c", "path:[", "path:**", "path:\\", "path:(", "user:drh",
    "after:2024", "after:2024-13-45", "before:2020-01", "before:", "in:title", "in:body", "-kind:doc", "path:a path:b", 'path:"a b"',
)


def queries(count: int, seed: int, known: Sequence[str] = WORDS) -> Iterator[str]:
    """The same for the same seed: one to six pieces, glued with or without a blank; some very long."""
    choose = random.Random(seed)
    for _ in range(count):
        pieces = [choose.choice(choose.choice((known, WORDS, OPERATORS, FILTERS))) for _ in range(choose.randint(1, 6))]
        pieces = [f'"{piece}"' if choose.random() < 0.1 else f"-{piece}" if choose.random() < 0.1 else piece for piece in pieces]
        text = choose.choice((" ", " ", "")).join(pieces)
        yield text * 400 if choose.random() < 0.002 else text


def known_words(repository: Path) -> list[str]:
    """Words that the repository holds, so that queries find something."""
    db = open_readonly(repository)
    texts = " ".join(text for (text,) in db.execute("SELECT text FROM fx_vec_chunk ORDER BY hash, seq LIMIT 300"))
    db.close()
    return sorted(set(texts.split()))[:2000] or list(WORDS)


class _Balanced(HTMLParser):
    """Raises on a tag that closes what is not open."""

    _VOID = frozenset("br hr img input link meta wbr area base col embed source track".split())

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._VOID or tag in ("p", "li", "option"):
            return
        while self.open and self.open[-1] in ("p", "li", "option") and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            raise ValueError(f"</{tag}> closes nothing")


class _Complaints(logging.Handler):
    """Counts what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def run(repository: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """(states seen, faults) of so many queries, most as JSON, one in eight as a page."""
    app = create_app(str(repository))
    complaints = _Complaints()
    app.logger.addHandler(complaints)
    logging.getLogger().addHandler(complaints)
    client = app.test_client()
    seen: Counter[str] = Counter()
    faults = []
    for number, text in enumerate(queries(count, seed, known_words(repository))):
        as_json = number % 8 != 0
        raw = text.encode("utf-8", "surrogatepass")
        answer = client.get("/", query_string={"q": raw, "format": "json" if as_json else "html"})
        fault = _fault(answer.status_code, answer.data, as_json, seen)
        if fault or complaints.messages:
            faults.append(f"{text!r}: {fault or complaints.messages.pop()}")
    return seen, faults


def _fault(status: int, body: bytes, as_json: bool, seen: Counter[str]) -> str:
    if status != 200:
        return f"status {status}"
    try:
        text = body.decode("utf-8")
        if as_json:
            answer = json.loads(text)
            seen[f"{answer['state']}, {'hits' if answer['hits'] else 'nothing'}"] += 1
        else:
            page = _Balanced()
            page.feed(text)
            page.close()
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Generated queries against the search page of an indexed repository.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=6)
    arguments = parser.parse_args()
    seen, faults = run(arguments.repository, arguments.count, arguments.seed)
    print(f"{arguments.count} queries, {len(faults)} faults")
    for state, count in sorted(seen.items()):
        print(f"  {count:7} {state}")
    print("\n".join(faults[:20]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
