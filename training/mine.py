"""Pieces of text and the queries that should find them: `python -m training.mine RAW OUT`.

One file of JSON lines per package: {"kind", "path", "title", "symbol", "text", "queries"}. The
pieces are cut by vecsearch's own chunker, so that the model is trained on what it will be asked
to embed. Seeds depend on the package's name alone: a run repeats to the byte.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

from vecsearch import chunk as chunking
from vecsearch.chunk import symbols
from vecsearch.config import default_settings
from vecsearch.plain import plain

from . import queries, read
from .fetch import folder, read_sources

#: Per package, so that no large one drowns the rest.
MOST = {"doc": 4000, "code": 1500}
MOST_PER_FILE = 25
MOST_FILES = {"doc": 1200, "code": 400}
SECONDS = 120  # of processor time that the largest archive may take
_MENTION = re.compile(r"\b(?:[A-Za-z]+_[A-Za-z_0-9]+|[a-z]+[A-Z][A-Za-z0-9]+|[A-Z][a-z]+[A-Z][A-Za-z0-9]+)\b")

#: `* path, path (name, name): remark`, to the next such entry or a blank line.
_ENTRY = re.compile(r"^[ \t]+\* (?P<path>[\w./+-]+)[^()\n:]{0,200}\((?P<names>[^()]{2,200})\):\s+(?P<remark>(?:.+\n(?![ \t]*(?:\*|\n)))*.+)", re.M)
MOST_RECALLED = 3  # entries that become queries, per piece

Piece = dict[str, object]


def archives(place: Path) -> list[Path]:
    """The upstream archives of a package; Debian's own additions are left out."""
    return [path for path in sorted(place.iterdir())
            if re.search(r"\.(whl|tgz|deb|tar\.\w+)$", path.name) and ".debian.tar" not in path.name]


def documents(place: Path, rng: random.Random) -> tuple[list[tuple[str, bytes]], list[str]]:
    """A sample of a package's files, documentation and code alike, tests being a tenth of it; and its change logs."""
    found: dict[str, list[tuple[str, bytes]]] = {"doc": [], "code": []}
    histories = []
    for archive in archives(place):
        for path, content in read.members(archive):
            if read.HISTORY.search(path):
                histories.append(content.decode("utf-8", "replace"))
                continue
            kind = "doc" if read.BY_SUFFIX[path.rpartition(".")[2].lower()] in read.PROSE else "code"
            if not read.TESTS.search(path) or rng.random() < 0.1:
                found[kind].append((path, content))
    chosen: list[tuple[str, bytes]] = []
    for kind, files in found.items():
        chosen += rng.sample(files, min(len(files), MOST_FILES[kind]))
    return chosen, histories


def pieces(path: str, content: bytes, rng: random.Random) -> list[Piece]:
    document = read.document(path, content)
    if document is None:
        return []
    chunks = [c for c in chunking.split(document, default_settings()) if len(c.text) > 120]
    made: list[Piece] = []
    for chunk in rng.sample(chunks, min(len(chunks), MOST_PER_FILE)):
        text = plain(document.format, chunk.text)
        if document.source.kind == "doc":
            asked = queries.of_section(path, chunk.title, text, rng)
        else:
            names = symbols(document.format, chunk.text)
            asked = queries.of_code(path, chunk.symbol, names, text, rng)
        if asked:
            made.append({"kind": document.source.kind, "lang": document.format, "path": path, "title": chunk.title,
                         "symbol": chunk.symbol, "text": text, "queries": asked})
    return made


def refer(made: list[Piece]) -> None:
    """Sentences of the documentation that name a definition become queries for its code."""
    owner: dict[str, Piece | None] = {}
    for piece in made:
        if piece["kind"] == "code":
            for name in str(piece["symbol"]).split(", "):
                owner[name.rpartition(".")[2]] = None if name in owner else piece
    for piece in made:
        if piece["kind"] == "doc":
            for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", str(piece["text"])):
                for name in sorted(set(_MENTION.findall(sentence))):
                    target = owner.get(name)
                    spoken = queries.tidy(sentence.replace(name, " "))
                    if target and len(target["queries"]) < 14 and queries.good(spoken, 5, 45):
                        target["queries"].append(("mention", spoken))


def recall(made: list[Piece], histories: list[str]) -> None:
    """Entries of change logs become queries for the code of the function they name, in the file they name."""
    owner: dict[tuple[str, str], Piece] = {}
    for piece in made:
        if piece["kind"] == "code":
            for name in str(piece["symbol"]).split(", "):
                owner[str(piece["path"]).rpartition("/")[2], name.rpartition(".")[2]] = piece
    asked: Counter = Counter()
    for entry in (match for history in histories for match in _ENTRY.finditer(history)):
        remark = queries.tidy(entry["remark"])[:300]
        for name in re.findall(r"\w+", entry["names"]):
            target = owner.get((entry["path"].rpartition("/")[2], name))
            if target and asked[id(target)] < MOST_RECALLED and not remark.startswith("*") and queries.good(remark, 3, 45):
                asked[id(target)] += 1
                target["queries"].append(("change", remark))


def mine(job: tuple[Path, Path]) -> tuple[str, Counter]:
    place, target = job
    rng = random.Random(place.name)
    made: list[Piece] = []
    kept: Counter = Counter()
    started = time.process_time()
    chosen, histories = documents(place, rng)
    for path, content in chosen:
        if time.process_time() - started > SECONDS:
            break
        for piece in pieces(path, content, rng):
            if kept[piece["kind"]] < MOST[str(piece["kind"])]:
                kept[piece["kind"]] += 1
                made.append(piece)
    refer(made)
    recall(made, histories)
    seen: set[str] = set()
    with target.open("w", encoding="utf-8") as out:
        for piece in made:
            if piece["text"] not in seen:
                seen.add(str(piece["text"]))
                out.write(json.dumps(piece, ensure_ascii=False) + "\n")
    return place.name, Counter(f"{p['kind']} {p['lang']}" for p in made)


def main(raw: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for source in read_sources():
        place = folder(raw, source)
        target = out / f"{source['ecosystem']}-{place.name}.jsonl"
        if (place / ".done").exists() and not target.exists():
            jobs.append((place, target))
    total: Counter = Counter()
    with Pool(2) as pool:
        for name, counts in pool.imap_unordered(mine, jobs):
            total += counts
            print(f"{name:40} {sum(counts.values()):6}", flush=True)
    print(f"{sum(total.values())} pieces:", dict(total.most_common()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
