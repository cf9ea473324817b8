"""Whether anything here answers the query at all. Nothing relevant returns nothing.

Two witnesses, either of which is enough:
- words: one artifact holds at least COVERAGE of what the query's words tell, rare words telling more than
  common ones and words that no text holds telling most. "Sourdough bread without a Dutch oven" shares
  `without` with every manual, and is answered by none.
- meaning: one chunk is more similar than questions about other worlds are to anything here. How similar
  these come differs from model to model and from corpus to corpus, so each index run measures it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from ..store.shelf import Shelf
from .fuse import best_of
from .lexical import Evidence

#: The share of the query's information that one artifact must hold; see docs/ranking.md for what on-topic
#: and off-topic questions reach.
COVERAGE = 0.5
#: A word that no text holds tells this much more than the rarest that one does: it is what the query is about.
UNKNOWN = 1.0

#: Questions about other worlds: kitchen, garden, body, money, sports, travel. A repository may be about one
#: of these, so the floor is what most of them stay below, not all.
ELSEWHERE = (
    "how long do I roast a chicken with potatoes and rosemary",
    "why are the leaves of my tomato plants turning yellow",
    "best beaches for a family holiday in Portugal",
    "symptoms of vitamin D deficiency in winter",
    "who won the football world cup in 1998",
    "how to remove red wine stains from a carpet",
    "cheap flights from London to New York in May",
    "is it safe for a dog to eat grapes",
    "what exercises strengthen the lower back",
    "history of the Roman empire in Britain",
    "how to knit a scarf for beginners",
    "average salary of a nurse in Canada",
    "which moon of Jupiter has volcanoes",
    "lyrics of a famous love song from the sixties",
    "how do bees make honey in the hive",
    "repair a leaking kitchen tap at home",
)


def similarity_floor(elsewhere: np.ndarray, matrix: np.ndarray) -> float:
    """The similarity that three of four questions about other worlds do not reach, in an index whose vectors
    are `matrix`; `elsewhere` are theirs. Both float32 [n, dim]."""
    if not len(matrix) or not len(elsewhere):
        return 0.0
    best = np.max(matrix @ elsewhere.T, axis=0)
    return round(float(np.quantile(best, 0.75)), 4)


def measure(embed_query: Callable[[str], np.ndarray], matrix: np.ndarray) -> float:
    """The floor of this model over these vectors."""
    return similarity_floor(np.stack([embed_query(text) for text in ELSEWHERE]), matrix)


def to_mark(model: str, floor: float) -> str:
    """As it is kept in the index."""
    return json.dumps({"model": model, "similarity": floor})


def from_mark(text: str, model: str) -> float | None:
    """The floor measured for this model; None if there is none."""
    facts = json.loads(text) if text else {}
    return facts.get("similarity") if facts.get("model") == model else None


def coverage(evidence: Evidence, shelf: Shelf, mask: np.ndarray) -> float:
    """The largest share of what the query's words tell that one artifact holds, 0..1. Only what may be
    found counts, also for how rare a word is."""
    rows = int(np.count_nonzero(mask))
    if not rows or not len(evidence.words):
        return 0.0
    held = (evidence.formed > 0) | (evidence.typed > 0)
    count = held.sum(axis=1)
    telling = np.log(1 + rows / (count + 0.5)) * np.where(count == 0, UNKNOWN, 1.0)
    groups = shelf.artifacts
    by_artifact = best_of(groups, int(groups[-1]) + 1, held.astype(np.float32))
    return float((telling @ by_artifact).max() / telling.sum())
