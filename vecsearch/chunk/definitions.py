"""Where the definitions of a piece of code begin and end, by one regex pass and by indentation.

    mask        comments and strings are blanked, so that no later step trips over them
    candidates  lines on which a pattern of the language's row matches
    extents     a body ends with its brace, or before the next line that is not indented deeper
    nesting     a definition inside another one takes its name in front

No parser: a definition that is missed becomes part of its neighbour's chunk or of a window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .grammar import Language
from .languages import LANGUAGES

#: Indentation of a row inside a string, or after a backslash: deeper than any code.
_INSIDE = 1 << 20

#: The bodies of braces open at most so many rows below the definition's name.
_HEADER_ROWS = 30

#: Definitions nested deeper than this, and the rest of longer names, are not looked at.
_DEEPEST, _LONGEST_NAME = 6, 100

_STRING = "\x01"
_TO_MASK = str.maketrans("{}()[];", "_______")
_CLOSES = re.compile(r"[ \t]*(?:[)\]}]|end\w*\b|END\b|EOF\b|\$\w*\$)")
_GOES_ON = re.compile(r"[ \t]*(?:\{|=|->|where\b|begin\b|as\b|is\b|returns\b|language\b|do\b|on\b|for\b|when\b|select\b|from\b)", re.I)


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


@dataclass(frozen=True, slots=True)
class _Code:
    """Masked rows and what is known of each: indent (None: blank or comment), where the brace closes
    that is still open at the end of the row (the row itself if none is)."""

    language: Language
    rows: Sequence[str]
    masked: list[str]
    indent: list[int | None]
    closing: list[int]


def find(name: str, rows: Sequence[str]) -> list[Definition]:
    """The outermost definitions in rows of a language, in order, with those inside them."""
    language = LANGUAGES.get(name)
    if language is None:
        return []
    text = _mask(language, "\n".join(rows))
    masked = text.split("\n")
    code = _Code(language, rows, masked, _indents(masked), _closing_rows(masked) if language.braces else [])
    return _nest(code, list(_candidates(code, text)))


def _mask(language: Language, text: str) -> str:
    """The text, as long as before, without comments and with nothing in strings that opens or closes."""

    def blank(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return re.sub(r"[^\n]", " ", found[0])
        first, *others = found[0].translate(_TO_MASK).split("\n")
        return "\n".join([first, *(_STRING * len(line) for line in others)])

    return language.opaque.sub(blank, text)


def _indents(masked: Sequence[str]) -> list[int | None]:
    """Columns of leading blanks; a tab goes to the next multiple of eight, as in Python."""
    indents: list[int | None] = []
    continued = False
    for row in masked:
        bare = row.lstrip()
        if not bare:
            indents.append(None)
        elif continued or bare[0] == _STRING:
            indents.append(_INSIDE)
        else:
            indents.append(len(row[: len(row) - len(bare)].expandtabs()))
        continued = row.endswith("\\")
    return indents


def _closing_rows(masked: Sequence[str]) -> list[int]:
    """For each row the row that closes its outermost brace still open at its end, else itself.

    A brace at the left margin closes everything: code under #if opens twice what it closes once.
    """
    closing = list(range(len(masked)))
    opened: list[int] = []
    for i, row in enumerate(masked):
        if "{" not in row and "}" not in row:
            continue
        if row[0] == "}":
            for start in opened:
                closing[start] = i
            opened.clear()
        for brace in re.findall("[{}]", row[row[0] == "}" :]):
            if brace == "{":
                opened.append(i)
            elif opened:
                start = opened.pop()
                closing[start] = i
    for start in opened:
        closing[start] = len(masked) - 1
    return closing


def _candidates(code: _Code, text: str) -> Iterator[tuple[int, int, str]]:
    """(row, row where the body's brace opens or -1, name), by row."""
    starts = [0]
    for row in code.masked:
        starts.append(starts[-1] + len(row) + 1)
    row = 0
    for found in code.language.definitions.finditer(text):
        while starts[row + 1] <= found.start():
            row += 1
        first = row
        name = ".".join(part for part in found.groups() if part).strip("\"'`")[:_LONGEST_NAME]
        opening = -1
        if found[0].endswith("{"):
            opening = first + found[0].count("\n")
        yield first, opening, name


def _nest(code: _Code, candidates: list[tuple[int, int, str]]) -> list[Definition]:
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
        if siblings and _is_next_clause(siblings[-1], definition):
            siblings[-1].end = definition.end
        else:
            siblings.append(definition)
        around.append(siblings[-1])
    return top


def _definition(code: _Code, row: int, name: str, end: int, around: list[Definition], siblings: list[Definition]) -> Definition:
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
    """One function in several clauses (Haskell, Elixir), or once under #if and once under #else."""
    return before.name == definition.name and before.end + 1 >= definition.start


def _end(code: _Code, row: int, opening: int, following: int) -> int:
    """The row after the definition's last one."""
    end = row + 1
    if code.language.braces:
        opening = opening if opening >= 0 else _opening(code, row, following)
        last = max(row, opening)
        while code.closing[last] > last:
            last = code.closing[last]
        end = last + 1
    return _deeper_rows(code, code.indent[row] or 0, end)


def _opening(code: _Code, row: int, following: int) -> int:
    """The row whose brace opens the body of a definition, or -1 if it has none."""
    for i in range(row, min(following, row + _HEADER_ROWS, len(code.masked))):
        if i > row and code.indent[i] is not None and code.indent[i] <= (code.indent[row] or 0):
            if not (_CLOSES.match(code.masked[i]) or _GOES_ON.match(code.masked[i])):
                return -1
        if code.closing[i] > i:
            return i
        if ";" in code.masked[i] or "}" in code.masked[i]:
            return -1
    return -1


def _deeper_rows(code: _Code, indent: int, end: int) -> int:
    """`end` moved behind all rows that are indented deeper, and behind what closes them."""
    last = end
    for i in range(end, len(code.masked)):
        depth = code.indent[i]
        if depth is None:
            continue
        if depth < indent or (depth == indent and not (_CLOSES.match(code.masked[i]) or _GOES_ON.match(code.masked[i]))):
            break
        last = i + 1
    return last


def _start(code: _Code, row: int, floor: int) -> int:
    """The first row of the comments and decorators directly above a definition."""
    start = row
    while start > floor and _belongs_below(code, start - 1):
        start -= 1
    return start


def _belongs_below(code: _Code, row: int) -> bool:
    if not code.rows[row].strip():
        return False
    comment = code.indent[row] is None
    return comment or code.indent[row] == _INSIDE or bool(code.language.above.match(code.rows[row]))
