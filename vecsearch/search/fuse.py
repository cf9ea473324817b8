"""Fusion by reciprocal rank, and folding of an artifact's further hits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

#: Cormack, Clarke and Buettcher (SIGIR 2009) found 60 good on every collection; it is not critical.
RRF_K = 60
#: Further hits of one artifact on a page are folded under these.
PER_ARTIFACT = 2


def reciprocal_rank_fusion(arms: Mapping[str, Sequence[int]]) -> list[int]:
    """Ids of all arms ordered by the sum of 1 / (k + rank); of equal sums first what the first arm
    ranks higher. Row ids do not count: a clone has the same index under other ids."""
    scores: dict[int, float] = {}
    for ids in arms.values():
        for rank, i in enumerate(ids, 1):
            scores[i] = scores.get(i, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda i: -scores[i])  # stable, and filled in the order of the first arm


def fold(ids: Sequence[int], artifact: Callable[[int], str]) -> list[int]:
    """The ids without those beyond the first PER_ARTIFACT of their artifact."""
    seen: dict[str, int] = {}
    kept = []
    for i in ids:
        key = artifact(i)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= PER_ARTIFACT:
            kept.append(i)
    return kept
