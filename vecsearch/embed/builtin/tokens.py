"""From text to rows of the model: words, the parts of identifiers, and pieces of unknown words.

A run of ASCII letters, digits and `_` is one word: `addEventListener`, `git_commit`, `sha256`. It
counts whole, where the vocabulary has it (`addeventlistener`: case and `_` do not matter), and by
its parts. A part the vocabulary does not have is cut into the longest pieces it has. Runs of other
scripts count by character and by overlapping pair of characters (see `grams`).

The training pipeline uses this module too: what is trained is what runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

#: Bounded, so that one line of 5 MB is many words and not one.
_RUN = re.compile(r"[0-9A-Za-z_]{1,64}|[^\x00-\x7f\s]{1,64}")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]{1,8}")
_MARKS = re.compile("[\u0300-\u036f]+")
#: Letters that Unicode does not decompose.
_LETTERS = str.maketrans({
    "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "ς": "σ",
})
#: What a word must not grow into: a run of random letters is not worth more pieces than this.
_MOST_PIECES = 24


def fold(text: str) -> str:
    """The text with accents and compatibility forms removed; ASCII comes back as it is."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def words(text: str) -> list[str]:
    """The runs of a text, in order, as written but for accents."""
    return _RUN.findall(fold(text))


def parts(word: str) -> list[str]:
    """The lower-case parts of an ASCII run: `HTTPServer_v2` is http, server, v, 2."""
    return [part.lower() for part in _PART.findall(word)]


def whole(word: str) -> str:
    """How an identifier of several parts stands in the vocabulary."""
    return word.replace("_", "").lower()


def grams(word: str) -> Iterator[str]:
    """Characters and overlapping pairs of a run of another script, letters and symbols only."""
    kept = [c for c in word.lower() if unicodedata.category(c)[0] in "LNS"]
    yield from kept
    yield from map("".join, zip(kept, kept[1:]))


def tokens(word: str, known: Callable[[str], bool]) -> list[str]:
    """The tokens of an ASCII run, all of them known."""
    found = parts(word)
    taken: list[str] = []
    if len(found) > 1 and known(whole(word)):
        taken.append(whole(word))
    for part in found:
        if known(part):
            taken.append(part)
        else:
            taken.extend(pieces(part, known))
    return taken[:_MOST_PIECES]


def pieces(part: str, known: Callable[[str], bool]) -> Iterator[str]:
    """Longest known pieces from the left; those after the first are written `##piece`."""
    start = 0
    while start < len(part):
        mark = "##" if start else ""
        for end in range(min(len(part), start + 16), start, -1):
            if known(mark + part[start:end]):
                yield mark + part[start:end]
                break
        start = end
