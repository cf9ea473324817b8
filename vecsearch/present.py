"""Results as JSON, one shape on every surface (docs/api.md), and as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from dataclasses import fields
from html import unescape
from typing import Any
from unicodedata import category

from markupsafe import Markup, escape

from .search.run import Result
from .types import Hit

#: Lines of code shown of a hit.
LINES = 7
_FIELDS = tuple(field.name for field in fields(Hit))


def hit_json(hit: Hit) -> dict[str, Any]:
    """The frozen hit shape and the fields that were added to it."""
    data = {name: getattr(hit, name) for name in _FIELDS}
    data["lines"] = list(hit.lines) if hit.lines else None
    return data


def result_json(result: Result, next_: str | int | None) -> dict[str, Any]:
    """One object; `next` is how to ask for the following page, None at the end."""
    return {
        "query": result.query.text,
        "hits": [hit_json(hit) for hit in result.hits],
        "total": result.total,
        "facets": result.facets,
        "state": result.state,
        "message": result.message,
        "model": result.model,
        "checkin": result.checkin,
        "took_ms": result.took_ms,
        "next": next_,
    }


def result_text(result: Result) -> str:
    """Hits for a terminal: rank, score, kind, where; then a line or two of what matched."""
    if not result.hits:
        return "" if result.state == "no_index" or not result.query.text.strip() else "nothing relevant found\n"
    return "".join(_hit_text(hit) for hit in result.hits)


def _hit_text(hit: Hit) -> str:
    where = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}" if hit.path and hit.lines else hit.path or hit.hash[:16]
    project = f"{hit.project}: " if hit.project else ""
    passage = textwrap.fill(hit.snippet.striptags(), 96, initial_indent="     ", subsequent_indent="     ")
    return printable(f"{hit.rank:2}.  {hit.title}\n     {hit.kind}  {project}{where}  {hit.score:.2f}\n{passage}\n{_explanation(hit)}")


def _explanation(hit: Hit) -> str:
    """The hit's rank in each arm and what each step gave it, where that was asked for."""
    if not hit.explain:
        return ""
    arms = ", ".join(f"{name} {rank}" for name, rank in hit.arms.items())
    return f"     ranks: {arms}\n     steps: {', '.join(f'{name} {value:g}' for name, value in hit.explain.items())}\n"


def printable(text: str) -> str:
    """Repository content must not steer the terminal: of what is no letter or sign only blanks of all kinds, tabs and line ends."""
    return "".join(c if c in "\n\t" or c.isprintable() or category(c) == "Zs" else "?" for c in text)


def code_lines(hit: Hit, asked: str) -> list[tuple[int, Markup]]:
    """(number, line) of the few lines of a code hit that hold most of what was asked or its snippet marks."""
    words = {unescape(word) for word in re.findall(r"<mark>(.*?)</mark>", hit.snippet)} | {w for w in re.findall(r"\w+", asked) if len(w) > 3}
    lines = hit.text.expandtabs(4).splitlines()
    said = [{line[start:end] for start, end in _where(line, words)} for line in lines]
    held = [i for i, here in enumerate(said) if here]
    best = max(held, key=lambda i: (len(set().union(*said[i : i + LINES - 1])), -i), default=0)
    start = max(0, min(best - 1, len(lines) - LINES))
    while start < best and not lines[start].strip():
        start += 1
    number = hit.lines[0] if hit.lines else 1
    return [(number + i, _marked(lines[i][:240], words)) for i in range(start, min(start + LINES, len(lines)))]


def _where(line: str, words: set[str]) -> list[tuple[int, int]]:
    """(start, end) of the words that stand alone in the line, of two that overlap the first, of two that begin together the longer."""
    found = []
    for word in words:
        start = line.find(word)
        while start >= 0:
            end = start + len(word)
            if not (_in_word(line[start - 1 : start]) or _in_word(line[end : end + 1])):
                found.append((start, -end))
            start = line.find(word, start + 1)
    kept: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not kept or start >= kept[-1][1]:
            kept.append((start, -end))
    return kept


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _marked(line: str, words: set[str]) -> Markup:
    out, at = [], 0
    for start, end in _where(line, words):
        out.append(f"{escape(line[at:start])}<mark>{escape(line[start:end])}</mark>")
        at = end
    return Markup("".join([*out, escape(line[at:])]))
