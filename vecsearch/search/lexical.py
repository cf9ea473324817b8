"""The keyword arm: FTS5 with bm25 over title, path, names, body and the pieces of compound words.

Each word of the query is asked on its own. bm25 is a sum over the words, so nothing is lost, and what
each row holds of the query is known: the floor, the whole-artifact arm and `explain` live on that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..store.reader import Reader
from ..store.shelf import Shelf
from ..terms import parts, words
from .inflect import forms
from .query import Query

#: bm25 weights of title, path, symbol, body, parts, named: a word in a title or a path says what the
#: text is about; a piece of an identifier says less than the word itself. Doubling or halving any of
#: them moves the measured figures by less than their noise.
WEIGHTS = (4.0, 2.0, 3.0, 1.0, 0.5, 1.5)

#: A word in more rows than this says little: that it is there counts, not how often. bm25 looks at every
#: row that holds the word, so this bounds what a word costs to a few milliseconds.
COMMON = 2000

#: FTS5 gives a word that most rows hold next to nothing; dividing by less would make noise of it.
LEAST_RARE = 0.2

#: Words that every English question has; alone they still search.
STOP = frozenset(
    "a an and are as at be been by can could did do does for from had has have how i if in into is it its me my no not of"
    " on or our should so than that the their them then there these they this those to was we were what when where which"
    " who whom why will with would you your".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """One thing asked for: its FTS5 expression, and one that admits other forms of the same word."""

    text: str
    expression: str
    forms: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows of the shelf hold of the query, [n words, n rows]: bm25 of each word as it was
    typed, and in any of its forms; `names` [n rows] is bm25 within the names that a row defines."""

    words: tuple[Word, ...]
    typed: np.ndarray
    formed: np.ndarray
    names: np.ndarray


def gather(reader: Reader, shelf: Shelf, mask: np.ndarray, query: Query) -> Evidence:
    """Ask the full-text index for each word of the query; only rows in the mask count."""
    found = words_of(query)
    column = "title : " if query.in_title else ""
    typed = np.zeros((len(found), len(shelf.ids)), np.float32)
    formed, names = np.zeros_like(typed), np.zeros(len(shelf.ids), np.float32)
    totals = np.bincount(shelf.kinds[mask], minlength=256)
    for i, word in enumerate(found):
        typed[i] = _scores(reader, shelf, mask, totals, f"{column}({word.expression})")
        formed[i] = typed[i] if word.forms == word.expression else _scores(reader, shelf, mask, totals, f"{column}({word.forms})")
        if not query.in_title:
            names += _scores(reader, shelf, mask, totals, f"{{symbol named}} : ({word.expression})")
    return Evidence(found, typed, formed, names)


def _scores(reader: Reader, shelf: Shelf, mask: np.ndarray, totals: np.ndarray, expression: str) -> np.ndarray:
    """bm25 of each row, with the rarity that the words have within the row's own kind: FTS5 counts all
    kinds as one, also those that the visitor may not read, and check-ins make `commit` a common word."""
    scores = np.zeros(len(shelf.ids), np.float32)
    ids = reader.holding(expression)
    _, rows = shelf.rows(ids)
    rows = rows[mask[rows]]
    rarity = _rarity(totals, np.bincount(shelf.kinds[rows], minlength=256))
    if len(ids) > COMMON:
        scores[rows] = rarity[shelf.kinds[rows]]
    elif len(ids):
        ids, values = reader.match(expression, WEIGHTS)
        here, rows = shelf.rows(ids)
        everywhere = max(np.log((reader.lexical_rows() + 0.5) / (len(ids) + 0.5)), LEAST_RARE)
        scores[rows] = values[here] * rarity[shelf.kinds[rows]] / everywhere
        scores[~mask] = 0.0
    return scores


def _rarity(totals: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Inverse document frequency within each kind, float [256], from counts by kind."""
    return np.log(1 + (totals - found + 0.5) / (found + 0.5))


def holding(reader: Reader, shelf: Shelf, expression: str) -> np.ndarray:
    """bool [n rows]: which rows match an expression."""
    held = np.zeros(len(shelf.ids), bool)
    if expression:
        held[shelf.rows(reader.holding(expression))[1]] = True
    return held


def words_of(query: Query) -> tuple[Word, ...]:
    """The words, phrases and prefixes that a text can answer, each once."""
    found = [_word(term) for term in significant(query.terms)]
    found += [Word(phrase, quote(words(phrase)), quote(words(phrase))) for phrase in query.phrases if words(phrase)]
    found += [Word(f"{prefix}*", f"{quote([prefix])}*", f"{quote([prefix])}*") for prefix in query.prefixes]
    return tuple({word.expression: word for word in found if word.expression}.values())


def _word(term: str) -> Word:
    """One typed word: its tokens in a row, or all pieces of a compound one."""
    tokens = words(term)
    if not tokens:
        return Word(term, "", "")
    pieces = [piece for token in tokens for piece in parts(token)]
    whole = quote(tokens)
    if pieces:
        either = f"{whole} OR ({' AND '.join(quote([piece]) for piece in pieces)})"
        return Word(term, either, either)
    others = forms(tokens[0]) if len(tokens) == 1 else []
    return Word(term, whole, " OR ".join([whole, *(quote([other]) for other in others)]))


def unwanted(query: Query) -> str:
    """The FTS5 expression of what was excluded."""
    return " OR ".join(quote(words(term)) for term in query.excluded if words(term))


def significant(terms: tuple[str, ...]) -> list[str]:
    """The terms without stop words, unless there is nothing else."""
    kept = [term for term in terms if bare(term).lower() not in STOP]
    return kept or list(terms)


def bare(term: str) -> str:
    """A term without the punctuation of the sentence around it."""
    return re.sub(r"^[\"'(\[{<]+|[\"')\]}>?!.,;:]+$", "", term)


def quote(tokens: list[str]) -> str:
    """Tokens in a row, quoted: nothing typed is ever an operator."""
    return '"' + " ".join(token.replace('"', "") for token in tokens) + '"'
