"""Contracts in code and documentation: seed 2's `[DEF:id:type]` ... `[/DEF:id:type]` with @TAGS. Pure.

A mark stands alone on its row, behind whatever starts a comment there. A contract that is never closed
ends where the next one begins, so it holds no other; a closed one may hold others. Each row belongs to
the innermost contract around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .rows import Limits, Piece, Rows, pack

_OPEN = re.compile(r"\W{0,12}\[DEF:([^\s\[\]]{1,300}):([A-Za-z][\w-]{0,60})\]\s*(?:\*/|-->|\*\)|\"\"\")?\s*$")
_CLOSE = re.compile(r"\W{0,12}\[/DEF:([^\s\[\]]{1,360})\]\s*(?:\*/|-->|\*\)|\"\"\")?\s*$")
_TAG = re.compile(r"[^\w@]{0,12}@([A-Z][A-Z_]{1,40})(?::|\b)[ \t]*(.*?)[ \t]*(?:\*/|-->)?$")
_EMPTY = re.compile(r"\W*$")
_RELATION = re.compile(r"([\w-]+)\s*->\s*\[?(?:DEF:)?([^\s\[\]]+)\]?")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")

#: Rows that only begin or end a comment belong to the mark beside them.
_COMMENT_OPENS = frozenset({"/*", "/**", "<!--", "(*", '"""', "'''", "{-", "--[["})
_COMMENT_CLOSES = frozenset({"*/", "**/", "-->", "*)", '"""', "'''", "-}", "]]"})


@dataclass(frozen=True, slots=True)
class Header:
    """What a contract says about itself; `tags` are (name, value) in their order."""

    id: str
    type: str
    tags: tuple[tuple[str, str], ...]

    def relations(self) -> list[tuple[str, str]]:
        """(predicate, id of the other contract) of each @RELATION that can be read."""
        found = (_RELATION.match(value) for name, value in self.tags if name == "RELATION")
        return [(relation[1], relation[2]) for relation in found if relation]


@dataclass(frozen=True, slots=True)
class Span:
    """Rows start..end-1 whose innermost contract is `id`; "" outside of all."""

    start: int
    end: int
    id: str


def header(text: str) -> Header | None:
    """The contract that a chunk begins with, if it begins with one."""
    rows = text.split("\n")
    for i, row in enumerate(rows[:2]):
        if found := _OPEN.match(row):
            return Header(found[1], found[2], tuple(_tags(rows[i + 1 :])))
        if row.strip() not in _COMMENT_OPENS:
            return None
    return None


def _tags(rows: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Tags up to the first row that is neither a tag nor empty."""
    for row in rows:
        if found := _TAG.match(row):
            yield found[1], found[2]
        elif not _EMPTY.match(row) or _OPEN.match(row):
            return


def pieces(rows: Rows, format: str, ordinary: Iterator[Piece], limits: Limits) -> Iterator[Piece]:
    """The ordinary pieces, but where there are contracts these are the pieces."""
    found = spans(rows.text, fenced=format == "markdown")
    if not found:
        yield from ordinary
        return
    usual = list(ordinary)
    at = 0
    for span in found:
        while at < len(usual) and usual[at].end <= span.start:
            at += 1
        around = _overlapping(usual, at, span)
        if span.id:
            yield from _contract_pieces(rows, span, around, limits)
        else:
            yield from (Piece(max(p.start, span.start), min(p.end, span.end), p.title, p.symbol) for p in around)


def _overlapping(usual: Sequence[Piece], at: int, span: Span) -> list[Piece]:
    end = at
    while end < len(usual) and usual[end].start < span.end:
        end += 1
    return list(usual[at:end])


def _contract_pieces(rows: Rows, span: Span, around: Sequence[Piece], limits: Limits) -> Iterator[Piece]:
    """One piece, or several of a contract that is too long; its id ends the heading trail."""
    trail = next((piece.title for piece in around if piece.title), "")
    symbol = next((piece.symbol for piece in around if piece.symbol), "")
    cost = [0.0 if not row.strip() else 4.0 for row in ("", *rows.text)]  # a cut is good after a blank row
    for first, end in pack(rows, cost, *rows.trim(span.start, span.end), limits):
        yield Piece(first, end, f"{trail} > {span.id}" if trail else span.id, symbol)


def spans(rows: Sequence[str], *, fenced: bool = False) -> list[Span]:
    """The whole text as spans in order; none if there is no contract. Examples in Markdown fences
    are no contracts (`fenced`)."""
    marks = list(_marks(rows, fenced))
    if not any(mark.opens for mark in marks):
        return []
    found: list[Span] = []
    for span in _spans(rows, _matched(marks)):
        if found and all(_EMPTY.match(row) or _CLOSE.match(row) for row in rows[span.start : span.end]):
            before = found.pop()
            span = Span(before.start, span.end, before.id)
        found.append(span)
    return found


@dataclass(slots=True)
class _Mark:
    row: int
    name: str
    id: str
    opens: bool
    matched: bool = False


def _marks(rows: Sequence[str], fenced: bool) -> Iterator[_Mark]:
    inside = False
    for i, row in enumerate(rows):
        if fenced and _FENCE.match(row):
            inside = not inside
        elif not inside and "DEF:" in row:
            if found := _OPEN.match(row):
                yield _Mark(i, f"{found[1]}:{found[2]}", found[1], True)
            elif found := _CLOSE.match(row):
                yield _Mark(i, found[1], found[1], False)


def _matched(marks: list[_Mark]) -> list[_Mark]:
    """The marks, with pairs known as such; closing marks of nothing are left out."""
    open_: list[_Mark] = []
    waiting: dict[str, int] = {}
    kept = []
    for mark in marks:
        if mark.opens:
            open_.append(mark)
            waiting[mark.name] = waiting.get(mark.name, 0) + 1
            kept.append(mark)
        elif name := next((n for n in _names(mark, open_) if waiting.get(n)), ""):
            while True:
                opener = open_.pop()
                waiting[opener.name] -= 1
                if opener.name == name:
                    break
            opener.matched = mark.matched = True
            kept.append(mark)
    return kept


def _names(mark: _Mark, open_: list[_Mark]) -> tuple[str, ...]:
    """`[/DEF:id]` without the type closes the innermost contract, if that is its id."""
    return (mark.name, open_[-1].name) if open_ and open_[-1].id == mark.id else (mark.name,)


def _spans(rows: Sequence[str], marks: list[_Mark]) -> Iterator[Span]:
    around: list[str] = []  # closed contracts around the current row
    inside, start = "", 0
    for mark in marks:
        cut = _after(rows, mark.row) if not mark.opens else _before(rows, mark.row, start)
        if start < cut:
            yield Span(start, cut, inside)
            start = cut
        if mark.opens:
            inside = mark.id
            if mark.matched:
                around.append(mark.id)
        else:
            around.pop()
            inside = around[-1] if around else ""
    if start < len(rows):
        yield Span(start, len(rows), inside)


def _before(rows: Sequence[str], row: int, floor: int) -> int:
    return row - 1 if row > floor and rows[row - 1].strip() in _COMMENT_OPENS else row


def _after(rows: Sequence[str], row: int) -> int:
    return row + 2 if row + 1 < len(rows) and rows[row + 1].strip() in _COMMENT_CLOSES else row + 1
