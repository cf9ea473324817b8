"""The semantic arm: the exact dot product of the query with every vector. Nothing approximate."""

from __future__ import annotations

import numpy as np

from ..store.reader import Vectors


def scan(vectors: Vectors, query: np.ndarray, limit: int, allowed: np.ndarray | None = None) -> list[tuple[int, float]]:
    """(chunk id, similarity) of the `limit` most similar chunks, best first, equal ones in the order of the rows.

    `query` is float32 [dim] of unit length; `allowed` a bool mask [n] of rows that may be found.
    """
    scores = vectors.matrix @ query
    rows = np.arange(len(scores)) if allowed is None else np.flatnonzero(allowed)
    found = scores[rows]
    if len(rows) > limit:
        # The cut must not depend on how argpartition breaks ties: keep all that equal the last one.
        threshold = np.partition(found, -limit)[-limit]
        keep = found >= threshold
        rows, found = rows[keep], found[keep]
    order = np.lexsort((rows, -found))[:limit]
    return [(int(vectors.ids[rows[i]]), float(found[i])) for i in order]
