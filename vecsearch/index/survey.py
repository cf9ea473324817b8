"""What looks at all vectors: the floor below which nothing is relevant, and the map.

It costs by the repository's size, so it waits until enough chunks came or went since the last time.
"""

from __future__ import annotations

import sqlite3

import numpy as np

from ..layout import layout
from ..search import floor
from ..store import plane
from ..store.reader import Reader
from ..store.every_vector import StoredVectors
from ..types import Embedder

#: The floor is measured and the map is drawn again when one chunk in so many is new.
SHARE = 50


def is_due(db: sqlite3.Connection, drift: int) -> bool:
    """Whether so many chunks that came or went since the last survey are enough for one."""
    chunks = db.execute("SELECT count(*) FROM fx_vec_chunk").fetchone()[0]
    return not Reader(db).mark("floor") or drift * SHARE >= chunks


def elsewhere(db: sqlite3.Connection, embedder: Embedder) -> str:
    """What questions about other worlds reach among the vectors of now; see search/floor.py."""
    return floor.to_mark(embedder.model, floor.measure(embedder.embed_query, StoredVectors(db, embedder.model, embedder.dim).blocks()))


def draw(db: sqlite3.Connection, embedder: Embedder) -> tuple[np.ndarray, np.ndarray]:
    """(chunk ids, their places): the picture of all that will be searched."""
    vectors = StoredVectors(db, embedder.model, embedder.dim)
    return vectors.ids, layout(vectors)


def keep(db: sqlite3.Connection, places: tuple[np.ndarray, np.ndarray]) -> None:
    """Store the picture; the caller holds a transaction."""
    plane.put(db, *places)
