"""Repositories of any size, made from words: what the bars about growth are measured on."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

LETTERS = "bcdfghklmnprstvw"
VOWELS = "aeiou"


def words(count: int) -> list[str]:
    """Distinct words that can be pronounced."""
    chance = random.Random(count)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choice(LETTERS) + chance.choice(VOWELS) for _ in range(chance.randint(2, 5)))] = None
    return list(found)


def text(chance: random.Random, vocabulary: list[str], sections: int) -> str:
    """Markdown of so many sections of about 900 characters, one chunk each; words by Zipf's law."""
    weights = [1 / (rank + 5) for rank in range(len(vocabulary))]
    drawn = iter(chance.choices(vocabulary, weights, k=sections * 150))
    return "".join(f"## {next(drawn)} {next(drawn)}\n\n" + " ".join(next(drawn) for _ in range(130)) + ".\n\n" for _ in range(sections))


def repository(path: Path, checkins: int, files: int, sections: int) -> Path:
    """`files` documents of `sections` chunks, then check-ins that change one of them each."""
    chance, vocabulary = random.Random(checkins), words(8000)
    importer = subprocess.Popen(["fossil", "import", "--git", "--force", str(path)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                env={**os.environ, "USER": "bench", "HOME": "/tmp"})
    put = importer.stdin.write
    for number in range(checkins):
        changed = range(files) if number == 0 else [chance.randrange(files)]
        comment = " ".join(chance.choices(vocabulary, k=8)).encode()
        put(b"commit refs/heads/trunk\ncommitter bench <b@example.org> %d +0000\ndata %d\n%b\n" % (1_700_000_000 + 60 * number, len(comment), comment))
        for file in changed:
            body = text(chance, vocabulary, sections).encode()
            put(b"M 100644 inline docs/d%d/f%d.md\ndata %d\n%b\n" % (file % 50, file, len(body), body))
    importer.stdin.close()
    if importer.wait():
        raise SystemExit("fossil import failed")
    return path
