"""Whether anything here answers the query at all. Nothing relevant returns nothing.

Two witnesses, whose testimony adds up:
- words: the largest share of what the query's words tell that one artifact holds. Rare words tell more than
  common ones, and words that no text holds tell most: "sourdough bread without a Dutch oven" shares
  `without` with every manual.
- meaning: how much more similar the best chunk is than what questions about other worlds reach here. That
  differs from model to model and from corpus to corpus, so each index run asks some and keeps the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..store.shelf import Shelf
from .inflect import stem
from .lexical import Evidence, bare

#: What a query must reach: all of its words, or most of them and some likeness, or few and much likeness.
#: docs/ranking.md has what 654 questions that belong to an index reach there, and 41 that do not.
ENOUGH = 0.62
#: What one standard deviation above questions about other worlds is worth.
LIKENESS = 0.125
#: More deviations count no more: a smartwatch called Fossil is near to much here, but shares one word in six.
MOST_LIKENESS = 3.5
#: Without likeness (no provider) words alone decide, without words (no FTS5) likeness alone.
WORDS_ALONE, LIKENESS_ALONE = 0.5, 1.5
#: Models differ in spread; below this, chance decides.
LEAST_SPREAD = 0.02

#: Words in which anything is asked, of which it proves nothing that no text here holds them: in a repository of
#: a few pages one of them would outweigh all that is held. Compared by their stems.
ASKING = frozenset(map(stem, (
    "make get use work want need try give take find see know tell show explain describe happen go keep let look mean"
    " put say set start stop come become like help support allow enable handle change add create write read run call"
    " thing way example possible best good new many much more only also just there here any some all each other same"
    " different command option setting program tool software application feature function without about after before between"
    " during while again still".split())))

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


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The best similarity that questions about other worlds reach in an index: mean and spread."""

    mean: float
    spread: float

    def likeness(self, similarity: float) -> float:
        """Standard deviations above what comes from elsewhere; to be less like it is no proof of anything."""
        return max(0.0, (similarity - self.mean) / max(self.spread, LEAST_SPREAD))


def measure(embed_query: Callable[[str], np.ndarray], blocks: Iterable[np.ndarray]) -> Elsewhere:
    """Of a model over an index whose vectors come in `blocks`, float32 [rows, dim]."""
    questions = np.stack([embed_query(text) for text in ELSEWHERE])
    maxima = [np.max(block @ questions.T, axis=0) for block in blocks]
    best = np.max(maxima, axis=0) if maxima else np.zeros(len(questions))
    return Elsewhere(round(float(best.mean()), 4), round(float(best.std()), 4))


def to_mark(model: str, elsewhere: Elsewhere) -> str:
    """As it is kept in the index."""
    return json.dumps({"model": model, "mean": elsewhere.mean, "spread": elsewhere.spread})


def from_mark(text: str, model: str) -> Elsewhere | None:
    """What was measured for this model; None if nothing was."""
    facts = json.loads(text) if text else {}
    return Elsewhere(facts["mean"], facts["spread"]) if facts.get("model") == model else None


def is_relevant(covered: float | None, similarity: float | None, elsewhere: Elsewhere | None) -> bool:
    """Whether to answer. None: that arm did not run, or nothing was measured."""
    likeness = elsewhere.likeness(similarity) if elsewhere and similarity is not None else None
    if covered is None:
        return likeness is None or likeness >= LIKENESS_ALONE
    if likeness is None:
        return covered >= WORDS_ALONE
    return covered + LIKENESS * min(likeness, MOST_LIKENESS) >= ENOUGH


def coverage(evidence: Evidence, shelf: Shelf) -> float:
    """The largest share of what the query's words tell that one artifact holds, 0..1. Only what may be
    found counts, also for how rare a word is."""
    telling = np.array([0.0 if not len(rows) and stem(bare(word.text).lower()) in ASKING else weight
                        for word, rows, weight in zip(evidence.words, evidence.held, evidence.telling(), strict=True)])
    held = np.zeros(len(shelf.starts) - 1)
    for weight, rows in zip(telling, evidence.held, strict=True):
        has = np.zeros(len(held), bool)
        has[shelf.artifacts[rows]] = True
        held += weight * has
    return float(held.max(initial=0.0) / telling.sum()) if telling.any() else 0.0
