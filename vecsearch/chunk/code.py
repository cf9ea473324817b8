"""Code: one chunk per definition; small neighbours are packed together, large ones cut inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .definitions import Definition, find
from .rows import Limits, Piece, Rows, pack

#: Smaller definitions are packed together; what is smaller than a crumb goes with any neighbour.
SMALL, CRUMB = 300, 120

#: Files that hold data, whatever structure they have. SQL is data if it only inserts.
DATA = frozenset({"json", "csv", "tsv", "xml", "svg", "yaml", "toml", "ini", "gettext", "lock"})

#: A file is minified if more than half of its rows are cut from longer lines.
_MINIFIED = 0.5

_WORD = re.compile(r"[^\W\d]\w{3,}")
_CLOSING = re.compile(r"\s*(?:$|[})\]]|end\w*\s*$|#\s*endif)")


@dataclass(frozen=True, slots=True)
class Unit:
    """Rows start..end-1 that should stay together. `symbol` names the definition of which they hold
    most (`share` rows), `scope` the one around them; `defines` is false for what lies between."""

    start: int
    end: int
    symbol: str
    scope: str
    share: int
    defines: bool


def symbols(language: str, text: str) -> list[str]:
    """The names that a piece of code defines, qualified as far as the piece shows it."""
    found = (name for definition in find(language, text.split("\n")) for name in definition.names())
    return list(dict.fromkeys(name for name in found if name))


def code_pieces(language: str, rows: Rows, limits: Limits, most_of_data: int) -> Iterator[Piece]:
    """The pieces of a source file; of data and of minified code only the few that tell the most."""
    minified = _is_minified(rows)
    definitions = [] if minified else find(language, rows.text)
    found = _pieces(rows, definitions, _cut_costs(rows), limits)
    data = minified or language in DATA or (language == "sql" and not definitions)
    return _most_telling(rows, found, most_of_data) if data else found


def _most_telling(rows: Rows, found: Iterator[Piece], most: int) -> Iterator[Piece]:
    """The pieces that bring the most words no earlier piece has, in order: 400 lines of INSERT repeat
    themselves, and what is searched for in a bundle is the one name that does not."""
    pieces, seen, news = list(found), set[str](), list[int]()
    for piece in pieces:
        words = set(_WORD.findall(rows.source, rows.start[piece.start], rows.start[piece.end]))
        news.append(len(words - seen))
        seen |= words
    kept = sorted(range(len(pieces)), key=lambda i: (-news[i], i))[:most]
    return (pieces[i] for i in sorted(kept))


def _is_minified(rows: Rows) -> bool:
    cut = sum(a == b for a, b in zip(rows.line, rows.line[1:], strict=False))
    return cut > _MINIFIED * len(rows)


def _pieces(rows: Rows, definitions: list[Definition], cost: Sequence[float], limits: Limits) -> Iterator[Piece]:
    units = _units(rows, definitions, 0, len(rows), "", limits)
    for unit in _packed(rows, units, limits):
        for first, end in pack(rows, cost, *rows.trim(unit.start, unit.end), limits):
            yield Piece(first, end, symbol=unit.symbol)


def _units(rows: Rows, definitions: list[Definition], first: int, end: int, scope: str, limits: Limits) -> Iterator[Unit]:
    """Rows first..end-1 as definitions and what lies between them, in order."""
    for definition in definitions:
        if first < definition.start:
            yield _between(first, definition.start, scope)
        if rows.size(definition.start, definition.end) > limits.ceiling and definition.inner:
            yield from _units(rows, definition.inner, definition.start, definition.end, definition.name, limits)
        else:
            yield Unit(definition.start, definition.end, definition.name, scope, definition.end - definition.row, True)
        first = definition.end
    if first < end:
        yield _between(first, end, scope)


def _between(first: int, end: int, scope: str) -> Unit:
    """Rows between definitions; they belong to the one around them, if any."""
    return Unit(first, end, scope, scope, end - first if scope else 0, False)


def _packed(rows: Rows, units: Iterator[Unit], limits: Limits) -> Iterator[Unit]:
    current: Unit | None = None
    for unit in units:
        if rows.trim(unit.start, unit.end)[0] == unit.end:
            continue
        if current is None:
            current = unit
        elif _belong_together(rows, current, unit, limits):
            current = _join(current, unit)
        else:
            yield current
            current = unit
    if current is not None:
        yield current


def _belong_together(rows: Rows, a: Unit, b: Unit, limits: Limits) -> bool:
    """Small ones as long as they fit. A crumb always goes with what it belongs to, the end of a
    class with its last method, any other with what follows: pack() cuts what is then too long."""
    size_a, size_b = rows.size(a.start, a.end), rows.size(b.start, b.end)
    if size_a < CRUMB or (size_b < CRUMB and _is_tail(rows, a, b)):
        return True
    if size_a + size_b > limits.aim or min(size_a, size_b) > SMALL:
        return False
    return a.scope == b.scope if a.defines and b.defines else True


def _is_tail(rows: Rows, a: Unit, b: Unit) -> bool:
    """`b` only closes what is open, or ends the definition that `a` is a part of."""
    closes = all(_CLOSING.match(row) for row in rows.text[b.start : b.end])
    return closes or (not b.defines and b.scope != "" and a.scope.startswith(b.scope))


def _join(a: Unit, b: Unit) -> Unit:
    named = b if b.share > a.share else a
    return Unit(a.start, b.end, named.symbol, a.scope, named.share, a.defines or b.defines)


def _cut_costs(rows: Rows) -> Sequence[float]:
    """A cut is good before a shallow line after a blank one, bad before what closes a block."""
    cost: list[float] = []
    blank = True
    for row in rows.text:
        bare = row.lstrip()
        if not bare:
            cost.append(20)
        else:
            depth = min(len(row) - len(bare), 40) * (4 if row[0] == "\t" else 1)
            closes = bare[0] in "})]>" or bare.startswith(("end", "else"))
            cost.append(depth + (0 if blank else 6) + (8 if closes else 0))
        blank = not bare
    return [*cost, 0]
