"""The outline of a Markdown document: CommonMark with tables and front matter, as Fossil renders it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..plain import plain
from .outline import Block, Heading, Outline
from .rows import Rows

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|(?<=##)(?=[A-Za-z])|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:#|>|[-*+] |\d+[.)] |```|~~~|\|)| {4}|\t|[ \t]*$")
_HTML_HEADING = re.compile(r" {0,3}<h([1-6])\b", re.I)
_RAW_HTML = re.compile(r" {0,3}(?:<(pre|script|style|verbatim|textarea)\b|(<!--))", re.I)
_FRONT_TITLE = re.compile(r"""title[ \t]*[:=][ \t]*(['"]?)(.+?)\1[ \t]*$""", re.I)

#: Lines over which the title of an HTML heading may run.
_HEADING_LINES = 5


def outline(source: Rows) -> Outline:
    """Headings (ATX, setext, HTML), fences, tables and raw HTML blocks."""
    rows, found = source.text, Outline()
    i = _front_matter(rows, found)
    while i < len(rows):
        i = _fence(rows, i, found) or _raw_html(rows, i, found) or _heading(rows, i, found) or _table(rows, i, found) or i + 1
    return found


def _front_matter(rows: Sequence[str], found: Outline) -> int:
    """YAML or TOML between `---` or `+++` at the very top; gives the document's title."""
    mark = rows[0].rstrip() if rows else ""
    if mark not in ("---", "+++"):
        return 0
    for i in range(1, len(rows)):
        if rows[i].rstrip() in (mark, "..."):
            titles = (_FRONT_TITLE.match(row) for row in rows[1:i])
            found.title = next((title[2] for title in titles if title), "")
            return i + 1
    return 0


def _fence(rows: Sequence[str], i: int, found: Outline) -> int:
    """The row after the fence that opens at row i, or 0. An unclosed fence ends with the text."""
    opening = _FENCE.match(rows[i])
    if not opening:
        return 0
    mark = opening["mark"]
    for end in range(i + 1, len(rows)):
        row = rows[end].strip()
        if len(row) >= len(mark) and row == mark[0] * len(row) and not rows[end].startswith("    "):
            break
    else:
        end = len(rows) - 1
    found.blocks.append(Block(i, end + 1))
    return end + 1


def _raw_html(rows: Sequence[str], i: int, found: Outline) -> int:
    """The row after a block of HTML in which nothing is Markdown, or 0."""
    opening = _RAW_HTML.match(rows[i])
    if not opening:
        return 0
    closing = "-->" if opening[2] else f"</{opening[1].lower()}"
    for end in range(i, len(rows)):
        if closing in rows[end].lower():
            found.blocks.append(Block(i, end + 1))
            return end + 1
    return len(rows)


def _heading(rows: Sequence[str], i: int, found: Outline) -> int:
    """The row after a heading that starts at row i, or 0."""
    atx = _ATX.match(rows[i])
    if atx:
        return _add_heading(found, i, i + 1, len(atx[1]), rows[i])
    if _HTML_HEADING.match(rows[i]):
        return _html_heading(rows, i, found)
    after = rows[i + 1] if i + 1 < len(rows) else ""
    underline = _SETEXT.match(after)
    before = rows[i - 1] if i else ""
    alone = not before.strip() or _SETEXT.match(before) or before.lstrip().startswith("#")
    if underline and alone and not _NO_PARAGRAPH.match(rows[i]):
        return _add_heading(found, i, i + 2, 1 if underline[1][0] == "=" else 2, rows[i])
    return 0


def _html_heading(rows: Sequence[str], i: int, found: Outline) -> int:
    level = int(_HTML_HEADING.match(rows[i])[1])
    for end in range(i, min(i + _HEADING_LINES, len(rows))):
        if f"</h{level}" in rows[end].lower():
            return _add_heading(found, i, end + 1, level, "\n".join(rows[i : end + 1]))
    return 0


def _add_heading(found: Outline, start: int, end: int, level: int, markup: str) -> int:
    title = " ".join(plain("markdown", markup.strip()).split())
    found.headings.append(Heading(start, end, level, title))
    return end


def _table(rows: Sequence[str], i: int, found: Outline) -> int:
    """The row after a table whose header is row i, or 0."""
    if "|" not in rows[i] or i + 1 >= len(rows) or not _is_delimiter(rows[i + 1]):
        return 0
    end = i + 2
    while end < len(rows) and "|" in rows[end]:
        end += 1
    header = " | ".join(" ".join(cell.split()) for cell in rows[i].strip(" \t|").split("|"))
    found.blocks.append(Block(i, end, header))
    return end


def _is_delimiter(row: str) -> bool:
    return "|" in row and "-" in row and set(row) <= set("|-: \t")
