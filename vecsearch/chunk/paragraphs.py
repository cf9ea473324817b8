"""The outline of plain text: headings only where they are certain, else there are paragraphs."""

from __future__ import annotations

import re

from .outline import Heading, Outline
from .rows import Rows

_UNDERLINE = re.compile(r"([=\-~*#^_])\1{2,}\s*$")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+[A-Z]\S*[^.;,]*$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&()'_.-]{2,}:?$")

#: A longer line is a sentence, not a heading.
_LONGEST = 70

#: Underlines and capitals stand above numbered headings.
_ORDER = {"=": 1, "*": 1, "#": 1, "-": 2, "~": 3, "^": 3, "_": 3}


def outline(source: Rows) -> Outline:
    """Underlined titles, and lines in capitals or numbered (as in RFCs) that stand alone."""
    rows, found, i = source.text, Outline(), 0
    while i < len(rows):
        level, height = _heading(rows, i)
        if level:
            found.headings.append(Heading(i, i + height, level, " ".join(rows[i].split()).rstrip(":")))
        i += height
    return found


def _heading(rows: list[str], i: int) -> tuple[int, int]:
    """(level, rows) of a heading at row i; level 0 if there is none."""
    row = rows[i].rstrip()
    if not row or len(row) > _LONGEST or not _starts_paragraph(rows, i):
        return 0, 1
    after = rows[i + 1].rstrip() if i + 1 < len(rows) else ""
    if _UNDERLINE.match(after) and any(map(str.isalnum, row)) and abs(len(after) - len(row)) <= 4:
        return _ORDER[after[0]], 2
    if after or row[0].isspace():
        return 0, 1
    numbered = _NUMBERED.match(row)
    if numbered:
        return 3 + numbered[1].count("."), 1
    return (2, 1) if _CAPITALS.match(row) else (0, 1)


def _starts_paragraph(rows: list[str], i: int) -> bool:
    return i == 0 or not rows[i - 1].strip()
