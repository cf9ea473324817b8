"""The full-text index as rows of a shelf: which rows match an expression, and how strongly."""

from __future__ import annotations

import numpy as np

from ..store.reader import Reader
from ..store.shelf import Shelf
from .memory import Memory

#: bm25 weights of title, path, symbol, body, parts, named: a word in a title or a path says what the
#: text is about; a piece of an identifier says less than the word itself. Doubling or halving any of
#: them moves the measured figures by less than their noise.
WEIGHTS = (4.0, 2.0, 3.0, 1.0, 0.5, 1.5)

#: A word in more rows than this says little: that it is there counts, not how often. bm25 looks at every
#: row that holds the word, so this bounds what a word costs to a few milliseconds.
COMMON = 2000

#: FTS5 gives a word that most rows hold next to nothing; dividing by less would make noise of it.
LEAST_RARE = 0.2


class Lexicon:
    """Remembers what it has read as long as the repository is the same."""

    def __init__(self, reader: Reader, shelf: Shelf, memory: Memory):
        self.reader, self.shelf, self.memory = reader, shelf, memory

    def rows(self, expression: str) -> np.ndarray:
        """The rows that match, int32 in their order; none for an empty expression."""
        return self.weighed(expression, strength=False)[0]

    def holding(self, expression: str) -> np.ndarray:
        """bool [n rows]: whether each matches."""
        held = np.zeros(len(self.shelf.ids), bool)
        held[self.rows(expression)] = True
        return held

    def weighed(self, expression: str, strength: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(rows, float32 bm25 of each without how rare the words are); 1 for a common word, and unless `strength`."""
        if not expression:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        if strength:
            return self.memory.match(expression, lambda: self._weighed(expression))
        return self.memory.match(f"rows {expression}", lambda: self._held(expression))

    def _held(self, expression: str) -> tuple[np.ndarray, np.ndarray]:
        _, rows = self.shelf.rows(self.reader.holding(expression))
        return np.sort(rows.astype(np.int32)), np.ones(len(rows), np.float32)

    def _weighed(self, expression: str) -> tuple[np.ndarray, np.ndarray]:
        """FTS5 counts all kinds as one, also those that the visitor may not read: its rarity is taken out."""
        ids = self.reader.holding(expression)
        here, rows = self.shelf.rows(ids)
        values = np.ones(len(rows), np.float32)
        if 0 < len(ids) <= COMMON:
            everywhere = max(np.log((self._size() + 0.5) / (len(ids) + 0.5)), LEAST_RARE)
            ids, strengths = self.reader.match(expression, WEIGHTS)
            here, rows = self.shelf.rows(ids)
            values = (strengths[here] / everywhere).astype(np.float32)
        order = np.argsort(rows)
        return rows[order].astype(np.int32), values[order]

    def _size(self) -> int:
        return self.memory.fact("lexical rows", self.reader.lexical_rows)
