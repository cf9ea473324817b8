"""Code as the search for definitions may see it: without comments, strings harmless, and with the
indentation and the closing brace of every row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .grammar import Language

#: Indentation of a row inside a string, or after a backslash: deeper than any code.
INSIDE = 1 << 20

_STRING = "\x01"
_TO_MASK = str.maketrans("{}()[];", "_______")


@dataclass(frozen=True, slots=True)
class Code:
    """Rows, the same masked, and what is known of each: `indent` (None: blank or comment), `closing`:
    where the brace closes that is still open at the end of the row (the row itself if none is)."""

    language: Language
    rows: Sequence[str]
    masked: list[str]
    indent: list[int | None]
    closing: list[int]


def read(language: Language, rows: Sequence[str]) -> Code:
    masked = _mask(language, "\n".join(rows)).split("\n")
    closing = _closing_rows(masked) if language.body == "braces" else []
    return Code(language, rows, masked, _indents(masked), closing)


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
            indents.append(INSIDE)
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
