"""All vectors of a model as a matrix whose rows are read when they are asked for: a look at all of them
costs the memory of a few thousand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

import numpy as np

BLOCK = 4096


class StoredVectors:
    """float32 [n, dim], in the order that all clones share; `ids` int64 [n] are the chunks. A chunk without
    a vector is a row of zeros."""

    def __init__(self, db: sqlite3.Connection, model: str, dim: int):
        self.db, self.model, self.dim = db, model, dim
        rows = db.execute("SELECT id FROM fx_vec_chunk ORDER BY hash, seq")
        self.ids = np.fromiter((i for (i,) in rows), np.int64)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, which: slice | np.ndarray) -> np.ndarray:
        ids = self.ids[which]
        matrix = np.zeros((len(ids), self.dim), np.float32)
        for start in range(0, len(ids), BLOCK):
            some = ids[start : start + BLOCK].tolist()
            rows = self.db.execute("SELECT j.key, e.v FROM json_each(?) j JOIN fx_vec_embedding e ON e.chunk_id=j.value AND e.model=?",
                                   (json.dumps(some), self.model))
            for at, vector in rows:
                matrix[start + at] = np.frombuffer(vector, "<f4")
        return matrix

    def blocks(self) -> Iterator[np.ndarray]:
        """All rows, some at a time."""
        return (self[start : start + BLOCK] for start in range(0, len(self), BLOCK))
