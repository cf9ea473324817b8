"""What an artifact counts for whatever was asked: its kind, its age, whether it is settled, who links to it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

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


class Known(Protocol):
    """The part of rank.About that matters here."""

    kind: str
    mtime: int
    closed: bool
    links: int


def factors(about: Sequence[Known]) -> np.ndarray:
    """One factor for each artifact. Age is counted from the newest of them, not from today: the same index
    gives the same order."""
    moment = max((item.mtime for item in about), default=0)
    return np.array([ANSWERING.get(item.kind, 1.0) * _state(item) * _age(item, moment) * (1 + LINKED * math.log2(1 + item.links))
                     for item in about])


def _state(item: Known) -> float:
    return CLOSED if item.closed else 1.0


def _age(item: Known, moment: int) -> float:
    return 1 + FRESH * 0.5 ** ((moment - item.mtime) / HALF_LIFE) if item.mtime else 1.0
