"""The outline of Fossil wiki pages and of HTML: both mark headings by tags."""

from __future__ import annotations

import re

from ..plain import plain
from .outline import Block, Heading, Outline
from .rows import Rows

#: Text that shows no markup, titles and headings. Every part is bounded or takes the rest of the
#: text, so that hostile input costs linear time.
_MARKS = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style|verbatim|nowiki|pre|textarea)\b.*?(?:</(?P=raw)\s*>|\Z)"
    r"|<title\b[^<>]{0,200}>(?P<title>.{0,300}?)</title"
    r"|<h(?P<level>[1-6])\b[^<>]{0,300}>(?P<heading>.{0,400}?)</h(?P=level)",
    re.I | re.S,
)


def outline(rows: Rows) -> Outline:
    """Headings <h1> to <h6> wherever they stand, the <title>, and preformatted blocks."""
    found = Outline()
    for mark in _MARKS.finditer(rows.source):
        if mark["title"] is not None:
            _add_title(rows, found, mark)
        elif mark["level"]:
            _add(found, Heading(rows.at(mark.start()), _end(rows, mark), int(mark["level"]), _words(mark["heading"])))
        elif mark["raw"]:
            found.blocks.append(Block(rows.at(mark.start()), rows.at(mark.end() - 1) + 1))
    return found


def _add_title(rows: Rows, found: Outline, mark: re.Match[str]) -> None:
    """The first <title> and what precedes it stand above all headings; later ones are pictures'."""
    if not found.title and not found.headings:
        found.title = _words(mark["title"])
        found.headings.append(Heading(0, rows.at(mark.end()) + 1, 0, found.title))


def _add(found: Outline, heading: Heading) -> None:
    """Of two headings in one row the first counts: a piece is whole rows."""
    if not found.headings or found.headings[-1].end <= heading.start:
        found.headings.append(heading)


def _end(rows: Rows, mark: re.Match[str]) -> int:
    """The row after the heading; its last row, if text follows there."""
    row = rows.at(mark.end())
    rest = rows.source[mark.end() : rows.start[row + 1]].partition(">")[2]
    return row if _words(rest) else row + 1


def _words(markup: str) -> str:
    return " ".join(plain("html", markup).split())
