"""Prose: sections between headings become pieces; small ones are joined, large ones cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .outline import Heading, Outline
from .rows import Limits, Piece, Rows, pack

#: A section with less text than SMALL says too little to be found alone; with less than TINY it is
#: but an introduction of what follows.
SMALL, TINY = 200, 100

#: How bad a cut is (see rows.pack) before an ordinary line, before a line that starts a list item or
#: an HTML block, inside a fence or table, and between a heading and its text.
_LINE, _ITEM, _BLOCK, _HEADING = 4, 2, 12, 50

_ITEM_START = re.compile(
    r"\s*(?:[-*+•] |\d+[.)] |</?(?:p|li|tr|dt|div|table|ul|ol|dl|h\d)\b|\.(?:TP|IP|PP|P|It|Pp)\b)", re.I
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its text up to the next heading, or several such joined.

    `trail` is the titles from the top down to this section, `body` the characters of text without
    headings.
    """

    start: int
    end: int
    trail: tuple[str, ...]
    body: int


def pieces(rows: Rows, outline: Outline, title: str, limits: Limits) -> Iterator[Piece]:
    """The pieces of a document with this outline; `title` heads every trail that lacks it."""
    cost = cut_costs(rows, outline)
    tables = [block for block in outline.blocks if block.header]
    headers = {row: table.header for table in tables for row in range(table.start + 1, table.end)}
    for section in _joined(rows, _sections(rows, outline), limits.aim):
        trail = _with_title(section.trail, title)
        for first, end in pack(rows, cost, *rows.trim(section.start, section.end), limits):
            header = headers.get(first)
            yield Piece(first, end, " > ".join((*trail, header) if header else trail))


def _with_title(trail: tuple[str, ...], title: str) -> tuple[str, ...]:
    """The document's title is in front once, even if the first heading repeats it."""
    if not title or (trail and trail[0].casefold() == title.casefold()):
        return trail
    return (title, *trail)


def _sections(rows: Rows, outline: Outline) -> Iterator[Section]:
    headings = outline.headings
    ends = [*(heading.start for heading in headings[1:]), len(rows)]
    if not headings or headings[0].start > 0:
        first = headings[0].start if headings else len(rows)
        yield Section(0, first, (), rows.size(0, first))
    path: list[Heading] = []
    for heading, end in zip(headings, ends, strict=False):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        first, last = rows.trim(heading.end, max(heading.end, end))
        yield Section(heading.start, end, tuple(item.title for item in path if item.title), rows.size(first, last))


def _joined(rows: Rows, sections: Iterator[Section], aim: int) -> Iterator[Section]:
    """Joins a small section with its neighbour, if that is a sibling or its own first child."""
    current: Section | None = None
    for section in sections:
        if current is None:
            current = section
        elif _belong_together(rows, current, section, aim):
            current = _join(current, section)
        else:
            yield current
            current = section
    if current is not None:
        yield current


def _belong_together(rows: Rows, a: Section, b: Section, aim: int) -> bool:
    child = len(b.trail) > len(a.trail) and b.trail[: len(a.trail)] == a.trail
    if a.body < TINY and (child or a.start == 0):
        return True  # a heading never stands alone; if both are too long, pack() cuts inside the text
    sibling = len(b.trail) == len(a.trail) and b.trail[:-1] == a.trail[:-1]
    return (child or sibling) and min(a.body, b.body) < SMALL and rows.size(a.start, b.end) <= aim


def _join(a: Section, b: Section) -> Section:
    """The first one's trail stays, unless it is but an introduction."""
    introduces = not a.trail or (a.body < TINY and a.body < b.body)
    return Section(a.start, b.end, b.trail if introduces else a.trail, a.body + b.body)


def cut_costs(rows: Rows, outline: Outline) -> Sequence[float]:
    cost = [float(_LINE)] * (len(rows) + 1)
    for i in range(1, len(rows)):
        if not rows.text[i].strip():
            cost[i] = _LINE + 1  # a piece should not begin with blanks
        elif not rows.text[i - 1].strip():
            cost[i] = 0
        elif _ITEM_START.match(rows.text[i]):
            cost[i] = _ITEM
    for block in outline.blocks:
        for i in range(block.start + 1, block.end):
            cost[i] += _BLOCK
    for heading in outline.headings:
        cost[heading.start] = 0
        for i in range(heading.start + 1, _first_text(rows, heading.end) + 1):
            cost[i] = _HEADING
    return cost


def _first_text(rows: Rows, row: int) -> int:
    while row < len(rows) and not rows.text[row].strip():
        row += 1
    return row
