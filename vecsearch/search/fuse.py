"""Fusion by reciprocal rank, over arrays. Pure."""

from __future__ import annotations

import numpy as np

#: Cormack, Clarke and Buettcher (SIGIR 2009) found 60 good over long lists; ours are short, and the first
#: places of an arm should count for more (docs/ranking.md has both measured).
RRF_K = 20
#: Ranks beyond this add nothing that reaches a page.
DEPTH = 50
#: Scores of which only the best is looked at to tell what cannot be among the first.
TOGETHER = 64


def ranked(scores: np.ndarray, depth: int) -> np.ndarray:
    """Positions of the best positive scores, best first; equal ones in the order of the array."""
    positive = np.flatnonzero(_promising(scores, depth))
    found = scores[positive]
    if len(positive) > depth:
        # The cut must not depend on how partition breaks ties: keep all that equal the last one.
        keep = found >= np.partition(found, -depth)[-depth]
        positive, found = positive[keep], found[keep]
    return positive[np.argsort(-found, kind="stable")[:depth]]


def _promising(scores: np.ndarray, depth: int) -> np.ndarray:
    """bool: the positive scores, without most of those that `depth` others surpass: so many groups have one that
    is no less than the least here."""
    groups = len(scores) // TOGETHER
    if groups > depth:
        best = scores[: groups * TOGETHER].reshape(TOGETHER, groups).max(axis=0)
        least = np.partition(best, -depth)[-depth]
        if least > 0:
            return scores >= least
    return scores > 0


def add_ranks(fused: np.ndarray, best: np.ndarray, weight: float, k: int) -> None:
    """Adds weight / (k + rank) for each position that an arm has, best first; scores themselves never mix."""
    fused[best] += weight / (k + 1.0 + np.arange(len(best)))


def best_of(starts: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The best score in each group of rows along the last axis; `starts` is the first row of each, and the end."""
    if len(starts) < 2:
        return np.zeros(scores.shape[:-1] + (0,), scores.dtype)
    return np.maximum.reduceat(scores, starts[:-1], axis=-1)
