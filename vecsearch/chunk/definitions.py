"""Where the definitions of a piece of code begin and end, by one regex pass and by indentation.

    candidates  lines (of masked text) on which a pattern of the language's row matches
    extents     a body ends with its brace, or before the next line that is not indented deeper
    nesting     a definition inside another one takes its name in front

No parser: a definition that is missed becomes part of its neighbour's chunk or of a window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .languages import LANGUAGES
from .masked import INSIDE, Code, read

#: The bodies of braces open at most so many rows below the definition's name.
_HEADER_ROWS = 30

#: Definitions nested deeper than this, and the rest of longer names, are not looked at.
_DEEPEST, _LONGEST_NAME = 6, 100

_CLOSES = re.compile(r"[ \t]*(?:[)\]}]|end\w*\b|END\b|EOF\b|\$\w*\$)")
_GOES_ON = re.compile(r"[ \t]*(?:\{|=|->|(?:where|begin|as|is|returns|language|do|on|for|when|select|from)\b)", re.I)


@dataclass(slots=True)
class Definition:
    """A named thing in rows start..end-1; `start` includes comments and decorators above `row`."""

    start: int
    row: int
    end: int
    name: str
    inner: list[Definition] = field(default_factory=list)

    def names(self) -> Iterator[str]:
        """Its own name and those of all that it contains."""
        yield self.name
        for definition in self.inner:
            yield from definition.names()


def find(name: str, rows: Sequence[str]) -> list[Definition]:
    """The outermost definitions in rows of a language, in order, with those inside them."""
    language = LANGUAGES.get(name)
    if language is None:
        return []
    code = read(language, rows)
    return _nest(code, list(_candidates(code)))


def _candidates(code: Code) -> Iterator[tuple[int, int, str]]:
    """(row, row where the body's brace opens or -1, name), by row."""
    starts = [0]
    for row in code.masked:
        starts.append(starts[-1] + len(row) + 1)
    row = 0
    for found in code.language.definitions.finditer("\n".join(code.masked)):
        while starts[row + 1] <= found.start():
            row += 1
        first = row
        name = ".".join(part for part in found.groups() if part).strip("\"'`")[:_LONGEST_NAME]
        opening = -1
        if found[0].endswith("{"):
            opening = first + found[0].count("\n")
        yield first, opening, name


def _nest(code: Code, candidates: list[tuple[int, int, str]]) -> list[Definition]:
    top: list[Definition] = []
    around: list[Definition] = []
    rows = [row for row, _, _ in candidates[1:]] + [len(code.masked)]
    for (row, opening, name), following in zip(candidates, rows, strict=False):
        while around and row >= around[-1].end:
            around.pop()
        if len(around) == _DEEPEST:
            continue
        siblings = around[-1].inner if around else top
        definition = _definition(code, row, name, _end(code, row, opening, following), around, siblings)
        if siblings and code.language.body == "indent" and _is_next_clause(siblings[-1], definition):
            siblings[-1].end = definition.end
        else:
            siblings.append(definition)
        around.append(siblings[-1])
    return top


def _definition(
    code: Code, row: int, name: str, end: int, around: list[Definition], siblings: list[Definition]
) -> Definition:
    if not name:  # typedef struct {...} Name;
        last = re.match(r"[ \t]*\}[ \t]*(\w+)", code.masked[end - 1])
        name = last[1] if last else ""
    if not around:
        return Definition(_start(code, row, siblings[-1].end if siblings else 0), row, end, name)
    parent = around[-1]
    floor = siblings[-1].end if siblings else parent.row + 1
    qualified = f"{parent.name}.{name}" if parent.name and name else name or parent.name
    return Definition(_start(code, row, floor), row, min(end, parent.end), qualified)


def _is_next_clause(before: Definition, definition: Definition) -> bool:
    """One function in several clauses, as in Haskell and Elixir."""
    return before.name == definition.name and before.end + 1 >= definition.start


def _end(code: Code, row: int, opening: int, following: int) -> int:
    """The row after the definition's last one."""
    end = row + 1
    if code.language.body == "next":
        return _start(code, following, end) if following < len(code.masked) else following
    if code.language.body == "braces":
        opening = opening if opening >= 0 else _opening(code, row, following)
        last = max(row, opening)
        while code.closing[last] > last:
            last = code.closing[last]
        end = last + 1
        return _deeper_rows(code, code.indent[row] or 0, end, closed=last > row)
    return _deeper_rows(code, code.indent[row] or 0, end)


def _opening(code: Code, row: int, following: int) -> int:
    """The row whose brace opens the body of a definition, or -1 if it has none."""
    for i in range(row, min(following, row + _HEADER_ROWS, len(code.masked))):
        if i > row and code.indent[i] is not None and code.indent[i] <= (code.indent[row] or 0):
            if not _continues(code.masked[i]):
                return -1
        if code.closing[i] > i:
            return i
        if ";" in code.masked[i] or "}" in code.masked[i]:
            return -1
    return -1


def _deeper_rows(code: Code, indent: int, end: int, closed: bool = False) -> int:
    """`end` moved behind all rows that are indented deeper, and behind what closes them. If the body
    is `closed`, a further brace closes something else."""
    last = end
    for i in range(end, len(code.masked)):
        depth = code.indent[i]
        if depth is None:
            continue
        if depth < indent or (depth == indent and not _continues(code.masked[i], closed)):
            break
        last = i + 1
    return last


def _continues(row: str, closed: bool = False) -> bool:
    """A row no deeper than the definition's that is still part of it."""
    return bool((_CLOSES.match(row) and not (closed and row.lstrip()[0] == "}")) or _GOES_ON.match(row))


def _start(code: Code, row: int, floor: int) -> int:
    """The first row of the comments and decorators directly above a definition."""
    start = row
    while start > floor:
        above = start - 1 if _belongs_below(code, start - 1) else _decorator(code, start - 1, floor)
        if above < 0:
            break
        start = above
    return start


def _belongs_below(code: Code, row: int) -> bool:
    if not code.rows[row].strip() or code.rows[row].startswith("#!"):
        return False
    comment = code.indent[row] is None
    return comment or code.indent[row] == INSIDE or bool(code.language.above.match(code.rows[row]))


def _decorator(code: Code, row: int, floor: int) -> int:
    """The row on which a decorator of several rows begins that ends at this one, or -1."""
    indent = code.indent[row]
    if indent is None or not _CLOSES.match(code.masked[row]):
        return -1
    for i in range(row - 1, max(floor, row - _HEADER_ROWS) - 1, -1):
        depth = code.indent[i]
        if depth is not None and depth <= indent:
            return i if depth == indent and code.language.above.match(code.rows[i]) else -1
    return -1
