"""The keyword arm: FTS5 with bm25 over title, path, names, body and the pieces of compound words.

Each word of the query is asked on its own. bm25 is a sum over the words, so nothing is lost, and what
each row holds of the query is known: the floor, the whole-artifact arm and `explain` live on that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..store.shelf import Shelf
from ..terms import parts, words
from .inflect import forms
from .lexicon import Lexicon
from .memory import Match
from .query import Query

#: Words that every English question has; alone they still search.
STOP = frozenset(
    "a an and are as at be been by can could did do does for from had has have how i if in into is it its me my no not of"
    " on or our should so than that the their them then there these they this those to was we were what when where which"
    " who whom why will with would you your".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """One thing asked for: its FTS5 expression, and `others`, further forms of a plain word."""

    text: str
    expression: str
    others: tuple[str, ...] = ()

    @property
    def forms(self) -> str:
        """The expression that admits the others as well."""
        return " OR ".join([self.expression, *(quote([other]) for other in self.others)])


@dataclass(frozen=True)
class Evidence:
    """What the rows that may be found hold of the query. float32 [n rows] each: `typed` bm25 of the words as
    typed, `formed` in any of their forms, `names` within the names that a row defines. `document` float32
    [n artifacts]: as `typed`, each word where the artifact holds it best. `held`: for each word, the rows that
    hold it in any form; `totals` int [256]: rows by kind."""

    words: tuple[Word, ...]
    typed: np.ndarray
    formed: np.ndarray
    names: np.ndarray
    document: np.ndarray
    held: tuple[np.ndarray, ...]
    totals: np.ndarray

    @cached_property
    def rows(self) -> np.ndarray:
        """Every row that holds any of the words in any form, ascending: all others are 0 in each of the arrays."""
        some = np.zeros(len(self.typed), bool)
        for rows in self.held:
            some[rows] = True
        return np.flatnonzero(some)

    def telling(self) -> np.ndarray:
        """How much each word tells: the rarer, the more; most if no row holds it."""
        return np.log(1 + self.totals.sum() / (np.array([len(rows) for rows in self.held]) + 0.5))


def gather(lexicon: Lexicon, shelf: Shelf, mask: np.ndarray, query: Query) -> Evidence:
    """Ask the full-text index for each word of the query; only rows in the mask count."""
    found = words_of(query)
    column = "title : " if query.in_title else ""
    typed, formed, names = (np.zeros(len(shelf.ids), np.float32) for _ in range(3))
    document = np.zeros(len(shelf.starts) - 1, np.float32)
    narrowed = None if mask.all() else mask
    totals = shelf.totals if narrowed is None else np.bincount(shelf.kinds[mask], minlength=256)
    held = []
    for word in found:
        as_typed, in_any_form = _asked(lexicon, word, column)
        rows, values = _scores(shelf, narrowed, totals, as_typed)
        typed[rows] += values
        _add_best_of_each(document, shelf.artifacts[rows], values)
        if in_any_form is not as_typed:
            rows, values = _scores(shelf, narrowed, totals, in_any_form)
        formed[rows] += values
        held.append(rows)
        if not query.in_title:
            rows, values = _scores(shelf, narrowed, totals, lexicon.names(word.expression))
            names[rows] += values
    return Evidence(found, typed, formed, names, document, tuple(held), totals)


def _asked(lexicon: Lexicon, word: Word, column: str) -> tuple[Match, Match]:
    """The word as typed, and in any form; the same object where it has no other."""
    if word.others and not column:
        return lexicon.word(word.expression, word.others)
    typed = lexicon.weighed(f"{column}({word.expression})" if column else word.expression)
    return typed, lexicon.weighed(f"{column}({word.forms})") if word.others else typed


def _scores(shelf: Shelf, mask: np.ndarray | None, totals: np.ndarray, match: Match) -> tuple[np.ndarray, np.ndarray]:
    """(rows, bm25 of each), with the rarity that the words have within the row's own kind, among what may be
    found: check-ins make `commit` a common word, and in the documentation it is not."""
    rows, values = match.rows, match.values
    if mask is not None:
        here = mask[rows]
        rows, values = rows[here], values[here]
    kinds = shelf.kinds[rows]
    return rows, values * _rarity(totals, np.bincount(kinds, minlength=256))[kinds]


def _add_best_of_each(document: np.ndarray, artifacts: np.ndarray, values: np.ndarray) -> None:
    """The best value of each artifact's rows, which stand together."""
    begins = np.flatnonzero(np.diff(artifacts, prepend=-1))
    if len(begins):
        document[artifacts[begins]] += np.maximum.reduceat(values, begins)


def _rarity(totals: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Inverse document frequency within each kind, float32 [256], from counts by kind."""
    return np.log(1 + (totals - found + 0.5) / (found + 0.5)).astype(np.float32)


def words_of(query: Query) -> tuple[Word, ...]:
    """The words, phrases and prefixes that a text can answer, each once."""
    found = [_word(term) for term in significant(query.terms)]
    found += [Word(phrase, quote(words(phrase))) for phrase in query.phrases if words(phrase)]
    found += [Word(f"{prefix}*", f"{quote([prefix])}*") for prefix in query.prefixes]
    return tuple({word.expression: word for word in found if word.expression}.values())


def _word(term: str) -> Word:
    """One typed word: its tokens in a row, or all pieces of a compound one."""
    tokens = words(term)
    if not tokens:
        return Word(term, "")
    pieces = [piece for token in tokens for piece in parts(token)]
    whole = quote(tokens)
    if pieces:
        return Word(term, f"{whole} OR ({' AND '.join(quote([piece]) for piece in pieces)})")
    return Word(term, whole, tuple(forms(tokens[0])) if len(tokens) == 1 else ())


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
