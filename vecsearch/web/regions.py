"""Neighbourhoods of the map and what they are called. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..store.reader import StoredChunk
from ..terms import words

MOST = 12
#: A region of fewer passages is no region.
FEWEST = 12
ROUNDS = 12
#: Width of a letter and height of a line of the names, in units of the paper.
LETTER, LINE = 9.2, 24


@dataclass(frozen=True, slots=True)
class Region:
    """Its number, name, middle on the paper and how many passages lie there."""

    number: int
    name: str
    x: float
    y: float
    count: int


def members(at: np.ndarray) -> np.ndarray:
    """int64 [n]: the region of each point, by k-means from evenly chosen starts; the same every time."""
    if not len(at):
        return np.zeros(0, np.int64)
    k = max(1, min(MOST, len(at) // FEWEST))
    middles = at[np.linspace(0, len(at) - 1, k).astype(int)].copy()
    for _ in range(ROUNDS):
        member = ((at[:, None, :] - middles[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        for i in range(k):
            if (member == i).any():
                middles[i] = at[member == i].mean(axis=0)
    return member


def regions(chunks: Sequence[StoredChunk], at: np.ndarray, member: np.ndarray) -> list[Region]:
    """Each named by words that its titles and paths have more often than those of the others."""
    said = [_words(chunk) for chunk in chunks]
    everywhere = Counter(word for some in said for word in some)
    found: list[Region] = []
    taken: set[str] = set()
    for i in range(int(member.max(initial=-1)) + 1):
        inside = np.flatnonzero(member == i)
        if len(inside):
            here = Counter(word for j in inside for word in said[j] if word not in taken) or Counter(word for j in inside for word in said[j])
            telling = sorted(here, key=lambda word: (-here[word] ** 2 / everywhere[word], word))[:2]
            taken.update(telling)
            x, y = np.median(at[inside], axis=0)
            found.append(Region(i + 1, ", ".join(telling) or f"region {i + 1}", float(x), float(y), len(inside)))
    return found


def apart(found: Sequence[Region], width: float) -> list[Region]:
    """The same with names moved inside the paper, and down where one would cover another."""
    placed: list[Region] = []
    for region in sorted(found, key=lambda r: (r.y, r.x)):
        half = len(region.name) * LETTER / 2 + 6
        x, y = min(max(region.x, half), width - half), region.y
        while any(abs(p.y - y) < LINE and abs(p.x - x) < half + len(p.name) * LETTER / 2 + 6 for p in placed):
            y += 4
        placed.append(replace(region, x=x, y=y))
    return sorted(placed, key=lambda r: r.number)


def _words(chunk: StoredChunk) -> set[str]:
    text = f"{chunk.title} {chunk.symbol} {(chunk.path or '').replace('/', ' ').replace('.', ' ')}"
    return {word.lower() for word in words(text.replace("_", " ")) if 3 < len(word) < 16 and word.isalpha()}
