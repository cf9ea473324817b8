"""The full-text index as rows of a shelf: which rows match an expression, and how strongly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonprefix

import numpy as np

from ..store import postings, vocabulary
from ..store.reader import Reader
from ..store.shelf import Shelf
from .memory import Match, Memory

#: bm25 weights of title, path, symbol, body, parts, named: a word in a title or a path says what the
#: text is about; a piece of an identifier says less than the word itself. Doubling or halving any of
#: them moves the measured figures by less than their noise.
WEIGHTS = (4.0, 2.0, 3.0, 1.0, 0.5, 1.5)
#: Of the names that a row defines alone, and of its path alone.
NAMES = (0.0, 0.0, 3.0, 0.0, 0.0, 1.5)
PATH = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
#: What bm25 takes for the rarity of what most rows hold (SQLite, src of FTS5: fts5_aux.c).
HARDLY_RARE = 1e-6

#: A word in more rows than this says little: that it is there counts, not how often. bm25 looks at every
#: row that holds the word, so this bounds what a word costs to a few milliseconds.
COMMON = 2000

#: A limit that is none, to SQLite.
ALL = -1

#: FTS5 gives a word that most rows hold next to nothing; dividing by less would make noise of it.
LEAST_RARE = 0.2

_PHRASE = re.compile('"[^"]*"')
#: Words of one beginning among which the forms of a word are looked for; among more they are asked for unseen.
RELATED = 5000


class Lexicon:
    """Remembers what it has read as long as the repository is the same."""

    def __init__(self, reader: Reader, shelf: Shelf, memory: Memory):
        self.reader, self.shelf, self.memory = reader, shelf, memory

    def rows(self, expression: str) -> np.ndarray:
        """The rows that match, int32, ascending; none for an empty expression."""
        if not expression:
            return np.zeros(0, np.int32)
        known = self.memory.matches.get(expression) or self.memory.matches.get(f"rows {expression}")
        return (known or self._keep(f"rows {expression}", self._common(postings.holding(self.reader.db, expression)))).rows

    def holding(self, expression: str) -> np.ndarray:
        """bool [n rows]: whether each matches."""
        held = np.zeros(len(self.shelf.ids), bool)
        held[self.rows(expression)] = True
        return held

    def frequency(self, expression: str) -> int:
        """How many rows of all kinds match, as far as that is known."""
        known = self.memory.matches.get(expression)
        return known.everywhere if known else 0

    def weighed(self, expression: str) -> Match:
        """The rows and their bm25 without how rare the words are; 1 for a common expression."""
        return self.memory.matches.get(expression) or self._keep(expression, self._weighed(expression))

    def word(self, expression: str, others: Sequence[str]) -> tuple[Match, Match]:
        """What `weighed` says of a word, and of the word or any of its other forms."""
        typed, formed = self.memory.matches.get(expression), self.memory.matches.get(f"forms {expression}")
        if typed is None or formed is None:
            typed, formed = self._word(expression, others)
            self._keep(expression, typed)
            self._keep(f"forms {expression}", formed)
        return typed, formed

    def names(self, expression: str) -> Match:
        """What `weighed` says of an expression within the names that rows define."""
        return self.weighed(_in_names(expression))

    def _keep(self, expression: str, match: Match) -> Match:
        self.memory.matches.put(expression, match, len(match.rows))
        return match

    def _word(self, expression: str, others: Sequence[str]) -> tuple[Match, Match]:
        """Most forms are in no text: only those that are get asked for. bm25 is a sum over the forms, so it need not be asked
        for the word and for all forms: the same numbers are added in the same order."""
        word = expression.strip('"').lower()
        counts = vocabulary.beginning(self.reader.db, commonprefix([word, *others]), RELATED)
        if len(counts) == RELATED:
            return self.weighed(expression), self.weighed(" OR ".join([expression, *(f'"{other}"' for other in others)]))
        some = [f'"{other}"' for other in others if other in counts]
        if counts.get(word, 0) > COMMON:
            ids = self._everywhere(expression)
            typed = self._common(ids)
            return typed, self._common(_once(np.concatenate([ids, postings.holding(self.reader.db, " OR ".join(some))]))) if some else typed
        if not some:
            typed = self.weighed(expression)
            return typed, typed
        if max(counts.get(other, 0) for other in others) > COMMON:
            return self.weighed(expression), self._common(postings.holding(self.reader.db, " OR ".join([expression, *some])))
        found = [self._columns(expression, ALL), *((ids, strengths) for form in some for ids, [strengths] in [postings.match(self.reader.db, form, [WEIGHTS], ALL)])]
        ids, place = np.unique(np.concatenate([ids for ids, _ in found]), return_inverse=True)
        strengths = np.bincount(place, np.concatenate([strengths for _, strengths in found]), len(ids))
        return self._rare(*found[0]), (self._rare(ids, strengths) if len(ids) <= COMMON else self._common(ids))

    def _weighed(self, expression: str) -> Match:
        if _PHRASE.fullmatch(expression):
            ids, strengths = self._columns(expression, COMMON + 1)
            return self._rare(ids, strengths) if len(ids) <= COMMON else self._common(self._everywhere(expression))
        ids, [strengths] = postings.match(self.reader.db, expression, [WEIGHTS], COMMON + 1)
        return self._rare(ids, strengths) if len(ids) <= COMMON else self._common(postings.holding(self.reader.db, expression))

    def _columns(self, phrase: str, most: int) -> tuple[np.ndarray, np.ndarray]:
        """(row ids, bm25) of a phrase. On the way is kept what will be asked of it next: where it is a name, and where in a path. To ask
        anew, FTS5 would walk through all its rows twice."""
        ids, [typed, names, path] = postings.match(self.reader.db, phrase, [WEIGHTS, NAMES, PATH], most)
        if len(ids) <= COMMON:
            self._keep_columns(phrase, ids, names, path)
        return ids, typed

    def _everywhere(self, phrase: str) -> np.ndarray:
        """Row ids of a common phrase, of which it is kept as well where it is a name, and where in a path."""
        ids, [names, path] = postings.match(self.reader.db, f"{{path symbol named}} : ({phrase})", [NAMES, PATH], COMMON + 1)
        if len(ids) <= COMMON:
            self._keep_columns(phrase, ids, names, path)
        return postings.holding(self.reader.db, phrase)

    def _keep_columns(self, phrase: str, ids: np.ndarray, names: np.ndarray, path: np.ndarray) -> None:
        named = np.flatnonzero(names)
        # bm25 as if these columns alone had been asked: only the rarity is another.
        strengths = names[named] / self._bm25_rarity(len(ids)) * self._bm25_rarity(len(named))
        self._keep(_in_names(phrase), self._rare(ids[named], strengths))
        self._keep(f"rows path : {phrase}", self._common(ids[np.flatnonzero(path)]))

    def _bm25_rarity(self, rows: int) -> float:
        """Inverse document frequency of what so many rows hold, as FTS5 has it."""
        return max(float(np.log((self._size() - rows + 0.5) / (rows + 0.5))) if 2 * rows < self._size() else 0.0, HARDLY_RARE)

    def _common(self, ids: np.ndarray) -> Match:
        _, rows = self.shelf.rows(ids)
        return Match(np.sort(rows.astype(np.int32)), np.ones(len(rows), np.float32), len(ids))

    def _rare(self, ids: np.ndarray, strengths: np.ndarray) -> Match:
        """FTS5 counts all kinds as one, also those that the visitor may not read: its rarity is taken out."""
        everywhere = max(np.log((self._size() + 0.5) / (len(ids) + 0.5)), LEAST_RARE)
        here, rows = self.shelf.rows(ids)
        order = np.argsort(rows)
        return Match(rows[order].astype(np.int32), (strengths[here][order].astype(np.float32) / everywhere).astype(np.float32), len(ids))

    def _size(self) -> int:
        return self.memory.fact("lexical rows", lambda: postings.rows(self.reader.db))


def _in_names(expression: str) -> str:
    return f"{{symbol named}} : ({expression})"


def _once(ids: np.ndarray) -> np.ndarray:
    """Each number once, ascending; numpy's own way is ten times slower from version 2.3 on."""
    ids = np.sort(ids)
    return ids[np.append(True, ids[1:] != ids[:-1])] if len(ids) else ids
