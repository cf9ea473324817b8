"""Words as the lexical arm sees them: one analysis for the text and for the query.

A word keeps `_` and `-` inside (user_id, INV-2024-001), as the FTS5 tokenizer in store/schema.py
does; its parts (split at `_ - .` and at changes of case or to digits) are findable on their own.
Scripts without blanks between words become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:-+\w+)*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
#: What could be compound, and the border within that makes it so: two passes, each linear.
_RUN = re.compile(r"[A-Za-z0-9][\w-]*")
_BORDER = re.compile(r"[a-z][A-Z0-9]|[A-Z]{2}[a-z]|[0-9][A-Za-z]|[A-Za-z][0-9]|[A-Za-z0-9][_-]+[A-Za-z0-9]")
_DASHES = re.compile(r"(?<!\w)-+|-+(?!\w)")
#: Han, kana, Hangul: no blank shows where a word ends.
_UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]+"  # takes 2 ms to compile


def words(text: str) -> list[str]:
    """The whole words of a text, in order, unspaced scripts as pairs."""
    return _WORD.findall(pairs(text))


def parts(word: str) -> list[str]:
    """The pieces of a compound word, lower case; empty if it is in one piece."""
    found = [piece.lower() for piece in _PART.findall(word)]
    return found if len(found) > 1 else []


def all_parts(text: str) -> str:
    """The pieces of every compound word of a text, separated by blanks, for the `parts` column."""
    return " ".join(piece for word in _RUN.findall(text) if _BORDER.search(word) for piece in parts(word))


def pairs(text: str) -> str:
    """The text with each run of an unspaced script as overlapping pairs: 検索機能 -> 検索 索機 機能."""
    if text.isascii():
        return text
    return re.sub(_UNSPACED, lambda run: f" {_overlap(run.group())} ", text)


def _overlap(run: str) -> str:
    return run if len(run) < 3 else " ".join(run[i : i + 2] for i in range(len(run) - 1))


def indexable(text: str) -> str:
    """Text for an FTS5 column: pairs made, hyphens kept only inside words."""
    return _DASHES.sub(" ", pairs(text))


def fold(text: str) -> str:
    """Lower case without accents, for comparing letter by letter: Größe -> große."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))
