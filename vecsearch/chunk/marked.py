"""The outlines of reStructuredText, AsciiDoc and manual pages: markups that mark whole lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..plain import plain
from .outline import Block, Heading, Outline
from .rows import Rows

_RST_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_DOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$")
_DOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,}|_{4,}|/{4,}|`{3,}|[|,:!]={3,}|--)[ \t]*$")
_DOC_UNDERLINES = "=-~^+"
_MAN_HEADING = re.compile(r"[.'][ \t]*(SH|SS|Sh|Ss)\b[ \t]*(.*)$")
_MAN_TITLE = re.compile(r"[.'][ \t]*(?:TH|Dt)[ \t]+\"?([\w.+:-]+)\"?(?:[ \t]+\"?(\w+)\"?)?")


def rst_outline(source: Rows) -> Outline:
    """Underlined (and overlined) titles; the kinds of lines rank in order of appearance."""
    rows, found, ranks, i = source.text, Outline(), {}, 0
    while i < len(rows):
        over = bool(_RST_LINE.match(rows[i]))
        title = i + over
        if _is_rst_title(rows, title, over):
            kind = (over, rows[title + 1][0])
            level = ranks.setdefault(kind, len(ranks) + 1)
            found.headings.append(Heading(i, title + 2, level, _words("rst", rows[title])))
            i = title + 2
        elif rows[i].rstrip().endswith("::"):
            i = _rst_literal(rows, i, found)
        else:
            i += 1
    return found


def _is_rst_title(rows: Sequence[str], i: int, over: bool) -> bool:
    """An underline may be two characters too short: people miscount."""
    if i + 1 >= len(rows) or not rows[i].strip() or _RST_LINE.match(rows[i]) or (rows[i][0].isspace() and not over):
        return False
    return bool(_RST_LINE.match(rows[i + 1])) and len(rows[i + 1].rstrip()) >= len(rows[i].strip()) - 2


def _rst_literal(rows: Sequence[str], i: int, found: Outline) -> int:
    """The indented block after a line that ends in `::`."""
    indent = _indent(rows[i])
    end = i + 1
    while end < len(rows) and (not rows[end].strip() or _indent(rows[end]) > indent):
        end += 1
    found.blocks.append(Block(i, end))
    return end


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def asciidoc_outline(source: Rows) -> Outline:
    """`=` titles, underlined titles, delimited blocks; the first level-1 title is the document's."""
    rows, found, i = source.text, Outline(), 0
    while i < len(rows):
        heading = _DOC_HEADING.match(rows[i])
        if heading:
            found.headings.append(Heading(i, i + 1, len(heading[1]), _words("asciidoc", heading[2])))
        elif _is_underlined(rows, i):
            level = _DOC_UNDERLINES.index(rows[i + 1][0]) + 1
            found.headings.append(Heading(i, i + 2, level, _words("asciidoc", rows[i])))
            i += 1
        elif _DOC_FENCE.match(rows[i]):
            i = _delimited(rows, i, found) - 1
        i += 1
    return found


def _is_underlined(rows: Sequence[str], i: int) -> bool:
    """The old style, in which title and underline are about equally long."""
    under = rows[i + 1].rstrip() if i + 1 < len(rows) else ""
    if len(under) < 3 or under[0] not in _DOC_UNDERLINES or under != under[0] * len(under):
        return False
    title = rows[i].rstrip()
    return bool(title) and title[0].isalnum() and abs(len(title) - len(under)) <= 1


def _delimited(rows: Sequence[str], i: int, found: Outline) -> int:
    """A block ends at a line like the one that opens it, or with the text."""
    mark = rows[i].rstrip()
    end = i + 1
    while end < len(rows) and rows[end].rstrip() != mark:
        end += 1
    end = min(end + 1, len(rows))
    found.blocks.append(Block(i, end))
    return end


def man_outline(source: Rows) -> Outline:
    """.SH and .SS (mdoc: .Sh and .Ss); the title is the page's name and section, `ls(1)`."""
    rows, found = source.text, Outline()
    for i, row in enumerate(rows):
        heading = _MAN_HEADING.match(row)
        title = _MAN_TITLE.match(row)
        if heading:
            bare = not heading[2].strip() and i + 1 < len(rows)  # the title may stand on the next line
            words = _words("man", rows[i + 1] if bare else heading[2].strip().strip('"'))
            found.headings.append(Heading(i, i + 1 + bare, 1 + heading[1].lower().startswith("ss"), words))
        elif title and not found.title:
            found.title = title[1].lower() + (f"({title[2]})" if title[2] else "")
    return found


def _words(markup: str, row: str) -> str:
    return " ".join(plain(markup, row.strip()).split())
