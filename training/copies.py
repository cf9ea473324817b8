"""Pieces of training text that repositories of the sets hold too: `python -m training.copies PAIRS REPOSITORY...`.

The check behind the claim that none of them was trained on. Packages carry copies of other projects, so the names of
packages prove nothing. Lines are compared without regard to blanks. A piece counts if MOSTLY of its lines of 30 characters and more stand in one of the repositories,
and at least FEW do; a file is reported from its third such piece on, since single ones are a licence's or a template's. Of documentation the
pieces have lost their markup, so copies of it show only where lines have none.
Prints a line per file, and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

LONG, FEW, MOSTLY, PIECES = 30, 3, 0.7, 3
LARGEST = 12_000_000  # bytes of a file that is read: SQLite's is the longest


def lines(text: str) -> list[str]:
    return [line for line in (" ".join(line.split()) for line in text.split("\n")) if len(line) >= LONG]


def known(repository: Path) -> set[str]:
    found: set[str] = set()
    for folder, folders, files in os.walk(repository):
        folders[:] = [name for name in folders if name != ".git"]
        for path in (Path(folder, name) for name in files):
            if path.is_file() and path.stat().st_size < LARGEST:
                found.update(lines(path.read_bytes().decode("utf-8", "replace")))
    return found


def main(pairs: Path, repositories: list[Path]) -> None:
    held = {repository.name: known(repository) for repository in repositories}
    copies: Counter[tuple[str, str, str]] = Counter()
    pieces = 0
    for package in sorted(pairs.glob("*.jsonl")):
        for line in package.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            if not line:
                continue
            piece = json.loads(line)
            own = lines(piece["text"])
            pieces += 1
            for name, theirs in held.items():
                if len(own) >= FEW and sum(line in theirs for line in own) >= MOSTLY * len(own):
                    copies[name, package.stem, piece["path"]] += 1
    found = [(*place, count) for place, count in copies.most_common() if count >= PIECES]
    for name, package, path, count in found:
        print(f"{count:4} pieces of {package} {path} stand in {name}")
    print(f"{pieces} pieces, {len(found)} files that stand in one of {len(held)} repositories")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(argument) for argument in sys.argv[2:]])
