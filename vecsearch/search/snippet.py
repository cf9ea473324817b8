"""The passage of a chunk that answers the query, as safe HTML with the matched words marked."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup, escape

from ..terms import fold, parts, words
from .inflect import stem
from .lexical import STOP
from .query import Query

#: Characters of a snippet; about three lines on a page.
LENGTH = 280
#: Text beyond this is not looked through for a better passage.
HORIZON = 20_000

#: Formats in which a blank line ends a paragraph or a heading; in all others it stands within code.
_PROSE = frozenset({"markdown", "wiki", "html", "rst", "asciidoc", "man", "plain", "passages"})
_WORD = re.compile(r"[\w-]+")
#: Letters that may be those of the query with an accent.
_FOREIGN = re.compile(r"[^\W\x00-\x7f]+")
_PIECES = re.compile(r"[_-]+")
_PARAGRAPHS = re.compile(r"\n\s*\n")
_STOPPED = re.compile("([.!?:;,…]) · ")


def snippet(line: str, query: Query) -> Markup:
    """At most LENGTH characters of a text on one line, where most of what was asked stands together, matched words marked."""
    spans = _wanted(query).spans(line)
    start, end = _window(line, spans)
    marked = _mark(line, [(a, b) for a, b, _ in spans if start <= a and b <= end], start, end)
    return Markup(f"{'…' if start else ''}{marked}{'…' if end < len(line) else ''}")


def one_line(format: str, readable: str, title: str = "") -> str:
    """The beginning of a text whose markup is gone on one line. A paragraph that no stop ends, such as a heading, is kept
    apart from the next; headings at the beginning that `title` has already are left out."""
    text = readable[:HORIZON]
    if format not in _PROSE:
        return " ".join(text.split())
    blocks = [folded for block in _PARAGRAPHS.split(text) if (folded := " ".join(block.split()))]
    known = {title, *title.split(" > ")}
    while len(blocks) > 1 and blocks[0] in known:
        del blocks[0]
    return _STOPPED.sub(r"\1 ", " · ".join(blocks))


class _Wanted:
    """What the query asks for, in any form of its words."""

    def __init__(self, query: Query):
        typed = [fold(w) for text in (*query.terms, *query.phrases) for w in words(text)]
        self.typed = {w: w for w in typed if w not in STOP} or {w: w for w in typed}
        self.typed |= {p: w for w in [*self.typed] for p in _PIECES.split(w) if len(p) > 2}
        self.typed |= {fold(p): fold(w) for text in query.terms for w in words(text) for p in parts(w) if len(p) > 2}
        self.stems = {stem(w): w for w in self.typed if len(w) > 3}
        self.prefixes = tuple(fold(p) for p in query.prefixes)
        self.pairs = [w for w in self.typed if not w.isascii()]
        self.keys = {key for key in (*self.prefixes, *(stem(w) if len(w) > 3 else w for w in self.typed)) if key}
        self.answers: dict[str, str] = {}

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, word of the query) for each word of the text that answers one."""
        found, end = [], 0
        for start in self._near(text):
            if start < end:
                continue
            while start > end and (text[start - 1].isalnum() or text[start - 1] in "_-"):
                start -= 1
            if word := _WORD.match(text, start):
                end = word.end()
                if said := self.by(word.group()):
                    found.append((start, end, said))
        return found

    def _near(self, text: str) -> list[int]:
        """Where to look: what can answer holds one of the keys, or a letter that may be one of theirs with an accent."""
        lower = text.lower()
        if len(lower) != len(text):  # a capital i with a dot becomes two letters
            return [word.start() for word in _WORD.finditer(text)]
        found = [] if text.isascii() else [letters.start() for letters in _FOREIGN.finditer(text)]
        for key in self.keys:
            at = lower.find(key)
            while at >= 0:
                found.append(at)
                at = lower.find(key, at + len(key))
        return sorted(found)

    def by(self, word: str) -> str:
        """The word of the query that this one answers, "" if none."""
        if (answer := self.answers.get(word)) is None:
            answer = self.answers[word] = self._by(word)
        return answer

    def _by(self, word: str) -> str:
        folded = fold(word)
        for piece in (folded, *parts(word), *_PIECES.split(folded)):
            if found := self.typed.get(piece) or self.stems.get(stem(piece)):
                return found
        if self.prefixes and folded.startswith(self.prefixes):
            return folded
        return "" if folded.isascii() else next((w for w in self.pairs if w in folded), "")


@lru_cache(maxsize=8)
def _wanted(query: Query) -> _Wanted:
    """One for all hits of a page."""
    return _Wanted(query)


def _window(text: str, spans: list[tuple[int, int, str]]) -> tuple[int, int]:
    """Start and end of the stretch that answers most of the query: different words count before repeated
    ones. Widened to whole words."""
    best, most = 0, (0, 0)
    right = 0
    for left, (begin, _, _) in enumerate(spans):
        while right < len(spans) and spans[right][1] <= begin + LENGTH - 40:
            right += 1
        value = (len({said for _, _, said in spans[left:right]}), right - left)
        if value > most:
            best, most = begin, value
    start = max(0, min(best - 40, len(text) - LENGTH))
    end = min(len(text), start + LENGTH)
    if start and (gap := text.find(" ", start, start + 30)) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", end - 30, end)) >= 0:
        end = gap
    return start, end


def _mark(text: str, spans: list[tuple[int, int]], start: int, end: int) -> str:
    """HTML: every piece of the text is escaped here, and nothing else is put in."""
    out, at = [], start
    for begin, stop in spans:
        out.append(f"{escape(text[at:begin])}<mark>{escape(text[begin:stop])}</mark>")
        at = stop
    return "".join([*out, str(escape(text[at:end]))])
