"""What an artifact counts for whatever was asked: its kind, its age, whether it is settled, who links to it. Pure."""

from __future__ import annotations

import numpy as np

from ..types import KINDS

#: A question in a sentence is answered by what was written to be read; check-in comments repeat the words
#: of everything and explain little.
ANSWERING = {"doc": 1.0, "wiki": 1.0, "instruction": 0.8, "api": 0.9, "technote": 0.9, "forum": 0.8, "ticket": 0.7,
             "media": 0.8, "code": 0.4, "checkin": 0.25}
#: A closed ticket was true once.
CLOSED = 0.8
#: Freshness decides between equals: the newest gains so much over the oldest...
FRESH = 0.05
#: ...and half of that is gone after two years.
HALF_LIFE = 2 * 365 * 86400
#: Each doubling of the links to an artifact counts so much; measured, more of it hurts.
LINKED = 0.02


_BY_KIND = np.array([ANSWERING.get(kind, 1.0) for kind in KINDS] + [1.0] * (256 - len(KINDS)))


def factors(kind: np.ndarray, mtime: np.ndarray, closed: np.ndarray, links: np.ndarray) -> np.ndarray:
    """One factor for each artifact: uint8 index into KINDS, int64 Unix time (0: unknown), bool, number of links. Age
    is counted from the newest of them, not from today: the same index gives the same order."""
    age = mtime.max(initial=0) - mtime
    fresh = np.where(mtime != 0, 1 + FRESH * 0.5 ** (age / HALF_LIFE), 1.0)
    return _BY_KIND[kind] * np.where(closed, CLOSED, 1.0) * fresh * (1 + LINKED * np.log2(1 + links))
