"""Known words near to those that found nothing: "did you mean". Only words of what the visitor may read."""

from __future__ import annotations

import numpy as np

from ..store import vocabulary
from ..terms import fold, words
from . import lexical
from .lexicon import Lexicon
from .query import Query

#: With so many hits nobody needs another word.
FEW = 3
#: A slip of one letter, in a long word of two; shorter words are near to everything.
SHORTEST, LONG = 4, 8
#: Words of one initial that are compared, and nearest ones whose readers are asked for.
COMPARED, ASKED = 20_000, 12


def suggestions(lexicon: Lexicon, mask: np.ndarray, query: Query) -> list[str]:
    """At most one: the query with each unknown word replaced by the nearest known one."""
    typed = [lexical.bare(term) for term in query.terms]
    better = {word: near for word in typed if (near := _nearest(lexicon, mask, word))}
    return [" ".join(better.get(word, word) for word in typed)] if better else []


def _nearest(lexicon: Lexicon, mask: np.ndarray, word: str) -> str:
    """The nearest known word, of equally near ones the most frequent; "" if the word is known or none is near."""
    plain = fold(word)
    if len(plain) < SHORTEST or words(plain) != [plain] or _readers(lexicon, mask, plain):
        return ""
    most = 1 if len(plain) < LONG else 2
    candidates = ((distance(plain, term, most), term) for term in vocabulary.beginning(lexicon.reader.db, plain[0], COMPARED))
    near = sorted((apart, term) for apart, term in candidates if apart <= most)[:ASKED]
    found = [(apart, -count, term) for apart, term in near if (count := _readers(lexicon, mask, term))]
    return min(found)[2] if found else ""


def _readers(lexicon: Lexicon, mask: np.ndarray, word: str) -> int:
    """How many rows that may be found hold the word."""
    return int(np.count_nonzero(mask[lexicon.rows(lexical.quote([word]))]))


def distance(a: str, b: str, most: int) -> int:
    """Letters to insert, drop, change or swap (Damerau and Levenshtein); most + 1 if it is more than `most`."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]

