"""The metrics of the two relevance sets. Pure; a result is its hits as (path, (first line, last line) or None)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Found = tuple[str, tuple[int, int] | None]


class Target(NamedTuple):
    """A file, or the lines of it, that answers a question on code."""

    path: str
    lines: tuple[int, int] | None


class Answer(NamedTuple):
    """How well one question on the documentation was answered."""

    ndcg: float
    first: bool
    third: bool


def code_ndcg(found: Sequence[Found], targets: Sequence[Target], k: int = 10) -> float:
    """Each target counts at the rank of the first chunk of its file, overlapping its lines where they are
    given; a file's further chunks waste places."""
    gains = [0.0] * k
    for target in targets:
        place = next((i for i, hit in enumerate(found[:k]) if _reaches(hit, target)), None)
        if place is not None:
            gains[place] = 1.0
    ideal = sum(1 / math.log2(i + 2) for i in range(min(k, len(targets))))
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains)) / ideal


def _reaches(hit: Found, target: Target) -> bool:
    path, lines = hit
    if path != target.path:
        return False
    return target.lines is None or lines is None or not (lines[1] < target.lines[0] or lines[0] > target.lines[1])


def doc_answer(found: Sequence[Found], grades: Mapping[str, int], k: int = 10) -> Answer:
    """A file stands at the rank of its best chunk; its gain is 2^grade - 1."""
    files = list(dict.fromkeys(path for path, _ in found))
    gained = sum((2 ** grades.get(path, 0) - 1) / math.log2(i + 2) for i, path in enumerate(files[:k]))
    ideal = sum((2**grade - 1) / math.log2(i + 2) for i, grade in enumerate(sorted(grades.values(), reverse=True)[:k]))
    answers = [grades.get(path) == 2 for path in files[:3]]
    return Answer(gained / ideal, any(answers[:1]), any(answers))
