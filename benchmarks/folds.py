"""Cross-validation of the constants of the ranking. Pure: from scores to what is held out.

For each fold of the questions the recipe is chosen that is best on the other folds; the fold is then scored by it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import mean

from vecsearch.search.rank import RECIPE, Recipe

FOLDS = 5

#: What is chosen among: the weights that were set on each set, one step to either side.
DOCS_GRID = [replace(RECIPE, semantic=a, whole=b, keyword=c) for a, b, c in product((1.5, 2.0, 2.5), (0.75, 1.0, 1.25), (0.5, 0.75, 1.0))]
CODE_GRID = [replace(RECIPE, name=a, coherence=b) for a, b in product((0.75, 1.0, 1.25), (0.1, 0.15, 0.25))]


@dataclass(frozen=True)
class Held:
    """Means over all questions: with the recipe that ships, with the one chosen on the other folds, and with the
    one that is best on all (which flatters); and the recipes that were chosen."""

    shipped: float
    held_out: float
    best: float
    chosen: list[Recipe]


def cross_validated(scores: Mapping[Recipe, Sequence[float]]) -> Held:
    """`scores`: of each recipe, one value for each question, in the same order."""
    count = len(next(iter(scores.values())))
    order = list(range(count))
    random.Random(5).shuffle(order)
    held, chosen = [], []
    for fold in range(FOLDS):
        out = set(order[fold::FOLDS])
        best = _best(scores, out)
        chosen.append(best)
        held += [scores[best][i] for i in out]
    return Held(mean(scores[RECIPE]), mean(held), max(map(mean, scores.values())), chosen)


def _best(scores: Mapping[Recipe, Sequence[float]], out: set[int]) -> Recipe:
    return max(scores, key=lambda recipe: sum(x for i, x in enumerate(scores[recipe]) if i not in out))
