"""How well each kind of content answers at all. Pure.

Ranks are fused within a kind, so the best page of a documentation that says nothing about the question
would stand above the code that does. What decides is the share of the query that one chunk holds.
"""

from __future__ import annotations

import numpy as np

from ..store.shelf import Shelf
from .lexical import Evidence

#: A kind whose best chunk holds half of what another's holds counts an eighth. Between 2 and 6 the
#: documentation questions of a whole repository do not care (nDCG@10 0.808 to 0.809; without: 0.793).
SHARPNESS = 3.0


def strength(shelf: Shelf, mask: np.ndarray, evidence: Evidence | None) -> np.ndarray:
    """float [256], by the kinds' numbers: 1 for the kind that answers best. All 1 without the keyword arm."""
    factors = np.ones(256)
    if evidence is None or not len(evidence.words) or not mask.any():
        return factors
    held = (evidence.formed > 0) & mask
    telling = np.log(1 + np.count_nonzero(mask) / (held.sum(axis=1) + 0.5))
    covered = telling @ held
    best = {kind: covered[shelf.kinds == kind].max() for kind in np.flatnonzero(np.bincount(shelf.kinds[mask]))}
    most = max(best.values())
    for kind, most_here in best.items() if most > 0 else ():
        factors[kind] = (most_here / most) ** SHARPNESS
    return factors
