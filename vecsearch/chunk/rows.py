"""The text as rows: its lines, overlong ones cut into several; and the packing of rows into pieces.

All chunkers work on rows, so that a 5 MB line is as harmless as 5 MB of lines.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

#: Where an overlong line may be cut, best first: after a sentence, a blank, punctuation.
_BREAKS = (re.compile(r"[.!?;][ \t]+|[。！？]"), re.compile(r"\s+"), re.compile(r"[,;:)}\]>]+"))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a chunk should be, and how long it may be, in characters."""

    aim: int
    ceiling: int

    @classmethod
    def of(cls, aim: int) -> Limits:
        """No chunk is longer than 10/7 of the aim, whatever the text: 2000 at the default of 1400."""
        return cls(aim, aim * 10 // 7)


@dataclass(frozen=True, slots=True)
class Rows:
    """`source` is the whole text, `text[i]` row i of it without its line end, `line[i]` its 1-based line number in the document,
    `start[i]` its offset there. `start` has one more entry: the end of the text."""

    source: str
    text: list[str]
    line: list[int]
    start: list[int]

    def __len__(self) -> int:
        return len(self.text)

    def size(self, first: int, end: int) -> int:
        """Characters of rows first..end-1, with their line ends."""
        return self.start[end] - self.start[first]

    def at(self, offset: int) -> int:
        """The row that holds the character at `offset`."""
        return max(0, bisect_right(self.start, offset, 0, len(self.text)) - 1)

    def trim(self, first: int, end: int) -> tuple[int, int]:
        """The same rows without blank ones at either end."""
        while first < end and not self.text[first].strip():
            first += 1
        while first < end and not self.text[end - 1].strip():
            end -= 1
        return first, end


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows start..end-1, and what is known about them: a chunk in the making."""

    start: int
    end: int
    title: str = ""
    symbol: str = ""


def rows_of(text: str, limits: Limits) -> Rows:
    """Cuts a text at its line ends, and lines longer than the ceiling at sentences, blanks or hard."""
    rows: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        parts = [line] if len(line) < limits.ceiling else list(_cut_line(line, limits.aim))
        rows += parts
        numbers += [number] * len(parts)
    ends_line = [a != b for a, b in zip(numbers, numbers[1:], strict=False)] + [False]
    sizes = (len(row) + last for row, last in zip(rows, ends_line, strict=True))
    return Rows(text, rows, numbers, list(accumulate(sizes, initial=0)))


def _cut_line(line: str, size: int) -> Iterator[str]:
    start = 0
    while len(line) - start > size:
        cut = _best_break(line, start + size // 2, start + size)
        yield line[start:cut]
        start = cut
    yield line[start:]


def _best_break(line: str, low: int, high: int) -> int:
    for pattern in _BREAKS:
        cut = max((found.end() for found in pattern.finditer(line, low, high)), default=0)
        if cut:
            return cut
    return high


def pack(rows: Rows, cost: Sequence[float], first: int, end: int, limits: Limits) -> Iterator[tuple[int, int]]:
    """Cuts rows first..end-1 into pieces of about the aim, none over the ceiling.

    `cost[i]` says how bad a cut before row i is (0 good). Pieces come out even, so that no crumb is
    left at the end: a text a little longer than the ceiling becomes two halves.
    """
    while first < end:
        rest = rows.size(first, end)
        if rest <= limits.ceiling:
            yield first, end
            return
        cut = _best_cut(rows, cost, first, end, rest / math.ceil(rest / limits.aim), limits.ceiling)
        yield first, cut
        first = cut


#: What being off by the whole wanted size costs, in the unit of `cost`: two indents, or half of the
#: difference between a paragraph's end and the inside of a fence.
_OFF_TARGET = 6


def _best_cut(rows: Rows, cost: Sequence[float], first: int, end: int, wanted: float, ceiling: int) -> int:
    origin = rows.start[first]
    low = max(first + 1, bisect_left(rows.start, origin + 0.4 * wanted, first, end))
    high = bisect_right(rows.start, origin + ceiling, first, end + 1) - 1
    high = min(high, bisect_right(rows.start, rows.start[end] - 0.4 * wanted, first, end) - 1)  # leaves no crumb
    low = min(low, max(high, first + 1))  # before a row so long that nothing near the wanted size fits
    return min(range(low, max(low, high) + 1), key=lambda i: cost[i] + _OFF_TARGET * abs(rows.start[i] - origin - wanted) / wanted)
