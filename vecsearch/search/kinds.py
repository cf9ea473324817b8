"""How well each kind of content answers at all. Pure.

Ranks are fused within a kind, so the best page of a documentation that says nothing about the question
would stand above the code that does. What decides is the share of the query that one chunk holds.
"""

from __future__ import annotations

import numpy as np

from ..store.shelf import Shelf
from .lexical import Evidence

#: A kind whose best chunk holds half of what another's holds counts an eighth. The sets hardly
#: see it (docs/ranking.md); repositories that are mostly code do, where any page stood above the code that knows the words.
SHARPNESS = 3.0


def strength(shelf: Shelf, evidence: Evidence | None) -> np.ndarray:
    """float [256], by the kinds' numbers: 1 for the kind that answers best. All 1 without the keyword arm."""
    factors = np.ones(256)
    if evidence is None or not evidence.held:
        return factors
    covered = np.zeros(len(shelf.ids))
    for weight, rows in zip(evidence.telling(), evidence.held, strict=True):
        covered[rows] += weight
    best, kinds, covered = np.zeros(256), shelf.kinds[evidence.rows], covered[evidence.rows]
    for kind in np.flatnonzero(np.bincount(kinds)):
        best[kind] = covered[kinds == kind].max()
    return (best / best.max()) ** SHARPNESS if best.any() else factors
