"""What searches have worked out about one state of the repository and need not work out again.

It lives with the shelf. What a hit says is read again after the first change of the file, whatever was changed; what is known of
words, artifacts and questions outlives writes that change nothing of it (version.py), as Fossil notes whose turn the backoffice is
after every few pages. So the next page of an answer, or one kind of it, needs no second ranking. Bounded, so that a resident process stays as large as its vectors.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..store.shelf import Shelf
from .version import Version

if TYPE_CHECKING:
    from .passages import Passage
    from .rank import Ranking

#: Rows of full-text matches that are kept, 8 bytes each; words of common questions are in thousands of rows.
MOST_ROWS = 2_000_000
#: Letters of passages that are kept; one has about a thousand, three times.
MOST_LETTERS = 3_000_000
#: Bytes of rankings that are kept; one takes about ten thousand.
MOST_RANKED = 8_000_000
#: What any entry costs beside.
ENTRY = 100

Value = TypeVar("Value")
_one_of_each = threading.Lock()


class Recent(Generic[Value]):
    """The values of the last keys asked for, of no more weight than `most` together. Safe to share between threads."""

    def __init__(self, most: int):
        self.most, self._weight = most, 0
        self._held: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: Value, weight: int) -> None:
        with self._lock:
            if key in self._held:
                self._weight -= self._held.pop(key)[1]
            self._held[key] = value, weight + ENTRY
            self._weight += weight + ENTRY
            while self._weight > self.most and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]


class Match(NamedTuple):
    """Rows of the shelf, int32 ascending, a float32 for each, and how many rows of all kinds there are."""

    rows: np.ndarray
    values: np.ndarray
    everywhere: int


class Shown(NamedTuple):
    """A passage, and the state of the file in which it was read."""

    stamp: tuple
    passage: Passage


class Memory:
    """Of one shelf at one state of the file. Safe to share between threads."""

    def __init__(self, stamp: tuple = (), version: Version = Version(), last: Memory | None = None):
        self.stamp, self.version = stamp, version
        goes_on = last if last is not None and last.version == version else None
        self.facts: dict[str, Any] = goes_on.facts if goes_on else {}
        self._making = goes_on._making if goes_on else threading.Lock()
        self.matches: Recent[Match] = goes_on.matches if goes_on else Recent(MOST_ROWS)
        self.rankings: Recent[Ranking] = goes_on.rankings if goes_on else Recent(MOST_RANKED)
        self.passages: Recent[Shown] = last.passages if last else Recent(MOST_LETTERS)

    @classmethod
    def of(cls, shelf: Shelf, stamp: tuple, version: Callable[[Version | None], Version]) -> Memory:
        """The shelf's own. `version` is asked where the stamp of the file is another, or is empty: then it cannot be told whether
        the file is the same. It is given the last one."""
        with _one_of_each:
            found = shelf.derived.get("memory")
            if found is None or found.stamp != stamp or not stamp:
                found = shelf.derived["memory"] = cls(stamp, version(found and found.version), found)
            return found

    def fact(self, name: str, make: Callable[[], Any]) -> Any:
        """One thing that is true of the repository as a whole. Of several who want it at once one makes it."""
        with self._making:
            if name not in self.facts:
                self.facts[name] = make()
            return self.facts[name]
