"""What searches have worked out about one state of the repository and need not work out again.

It lives with the shelf and is dropped at the first change of the file, whatever was changed: all of it is as
exact as reading anew. Bounded, so that a resident process stays as large as its vectors.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..store.shelf import Shelf

#: Rows of full-text matches that are kept, 8 bytes each; words of common questions are in thousands of rows.
MOST_ROWS = 2_000_000
class Match(NamedTuple):
    """Rows of the shelf, int32 ascending, a float32 for each, and how many rows of all kinds there are."""

    rows: np.ndarray
    values: np.ndarray
    everywhere: int


class Memory:
    """Of one shelf at one state of the file. Safe to share between threads."""

    def __init__(self, stamp: tuple):
        self.stamp = stamp
        self.facts: dict[str, Any] = {}
        self._matches: OrderedDict[str, Match] = OrderedDict()
        self._rows = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, shelf: Shelf, stamp: tuple) -> Memory:
        """The shelf's own if the file is still what it was; an empty stamp says that this cannot be told."""
        found = shelf.derived.get("memory")
        if found is None or found.stamp != stamp or not stamp:
            found = shelf.derived["memory"] = cls(stamp)
        return found

    def fact(self, name: str, make: Callable[[], Any]) -> Any:
        """One thing that is true of the repository as a whole."""
        if name not in self.facts:
            self.facts[name] = make()
        return self.facts[name]

    def recall(self, expression: str) -> Match | None:
        """What was kept of the rows that match."""
        with self._lock:
            if expression in self._matches:
                self._matches.move_to_end(expression)
                return self._matches[expression]
        return None

    def keep(self, expression: str, match: Match) -> Match:
        """Remember it; the least recently asked goes first."""
        with self._lock:
            self._rows += len(match.rows) + 100 - (len(self._matches.pop(expression).rows) + 100 if expression in self._matches else 0)
            self._matches[expression] = match
            while self._rows > MOST_ROWS and len(self._matches) > 1:
                self._rows -= len(self._matches.popitem(last=False)[1].rows) + 100
        return match
