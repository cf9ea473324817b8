"""The passage of a chunk that answers the query, as safe HTML with the matched words marked."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from ..plain import plain
from ..terms import fold, parts, words
from .lexical import STOP
from .query import Query

#: Characters of a snippet; about three lines on a page.
LENGTH = 280
#: Text beyond this is not looked through for a better passage.
HORIZON = 20_000

_WORD = re.compile(r"[\w-]+")


def snippet(format: str, text: str, query: Query) -> Markup:
    """At most LENGTH characters around the densest group of matched words."""
    readable = " ".join(plain(format, text)[:HORIZON].split())
    wanted = _wanted(query)
    spans = [m.span() for m in _WORD.finditer(readable) if _matches(fold(m.group()), wanted)]
    start, end = _window(readable, spans)
    marked = _mark(readable, [s for s in spans if start <= s[0] and s[1] <= end], start, end)
    return Markup("{}{}{}").format("…" if start else "", marked, "…" if end < len(readable) else "")


def _wanted(query: Query) -> set[str]:
    typed = [w for text in (*query.terms, *query.phrases) for w in words(text)]
    found = {fold(w) for w in typed if w.lower() not in STOP} or {fold(w) for w in typed}
    found |= {fold(p) for w in typed for p in parts(w) if len(p) > 2}
    return found | {f"{fold(p)}*" for p in query.prefixes}


def _matches(word: str, wanted: set[str]) -> bool:
    if word in wanted or any(piece in wanted for piece in re.split(r"[_-]+", word)):
        return True
    return any(w.endswith("*") and word.startswith(w[:-1]) for w in wanted) or (
        not word.isascii() and any(not w.isascii() and w in word for w in wanted)
    )


def _window(text: str, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Start and end of the stretch that holds the most matches, widened to whole words."""
    best, count = 0, 0
    right = 0
    for left, (begin, _) in enumerate(spans):
        while right < len(spans) and spans[right][1] <= begin + LENGTH - 40:
            right += 1
        if right - left > count:
            best, count = begin, right - left
    start = max(0, min(best - 40, len(text) - LENGTH))
    end = min(len(text), start + LENGTH)
    if start and (gap := text.find(" ", start, start + 30)) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", end - 30, end)) >= 0:
        end = gap
    return start, end


def _mark(text: str, spans: list[tuple[int, int]], start: int, end: int) -> Markup:
    out, at = Markup(), start
    for begin, stop in spans:
        out += escape(text[at:begin]) + Markup("<mark>{}</mark>").format(text[begin:stop])
        at = stop
    return out + escape(text[at:end])
