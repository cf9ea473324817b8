"""What is similar to a passage: the exact dot product of its own vector with all others."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter

import numpy as np

from ..errors import NoIndexError, UsageError
from ..fossil.visible import visible
from ..store import passage
from ..store.connection import one_state
from ..store.reader import Reader, StoredChunk
from ..store.shelf import Shelf
from .address import Addresses
from .hits import hit
from .passages import Passage
from .query import Query
from .result import Result

#: So many artifacts are looked at; what is further away is not similar.
DEPTH = 50


def similar(db: sqlite3.Connection, like: tuple[str, int], query: Query, kinds: frozenset[str], base_url: str = "") -> Result:
    """The best passage of each other artifact, over the given kinds only. Raises UsageError if there is
    no such passage, or none that may be seen: which of the two is nobody's business."""
    with one_state(db):
        return _similar(db, like, query, kinds, base_url)


def _similar(db: sqlite3.Connection, like: tuple[str, int], query: Query, kinds: frozenset[str], base_url: str) -> Result:
    result, reader, began = Result(query), Reader(db), time.perf_counter()
    try:
        state = reader.state()
    except NoIndexError as error:
        result.degrade("no_index", str(error))
        return result
    result.model, result.checkin = state.model, state.checkin
    found = passage.find(reader, *like)
    if found is None or found.kind not in kinds or not _visible(db, [found]):
        raise UsageError("there is no such passage; it may have changed since: search again")
    books = reader.shelf(state, kinds)
    order = _nearest(books, found.id)
    chunks = reader.chunks([i for i, _ in order])
    hidden = {c.id for c in chunks.values()} - {c.id for c in _visible(db, list(chunks.values()))}
    order = [(i, score) for i, score in order if i not in hidden]
    result.facets = dict(Counter(chunks[i].kind for i, _ in order))
    order = [(i, score) for i, score in order if not query.kinds or chunks[i].kind in query.kinds]
    result.total = len(order)
    page = order[query.offset : query.offset + query.k]
    addresses, tips = Addresses(reader, base_url), reader.tips()
    for rank, (i, score) in enumerate(page, query.offset + 1):
        ci = addresses.checkin(chunks[i], tips, state.checkin)
        result.hits.append(hit(Passage.of(chunks[i]), rank, score, query, addresses, ci, arms={"similar": rank}))
    result.next = query.offset + query.k if len(order) > query.offset + query.k else None
    result.took_ms["similar"] = round((time.perf_counter() - began) * 1000, 2)
    return result


def _nearest(books: Shelf, chunk_id: int) -> list[tuple[int, float]]:
    """(chunk id, similarity) of the best chunk of each other artifact, best first."""
    _, rows = books.rows(np.array([chunk_id]))
    if not len(rows):
        return []
    scores = books.similarity(books.vectors(rows[:1])[0])
    scores[(books.artifacts == books.artifacts[rows[0]]) | (books.ids < 0)] = -1.0
    seen: set[int] = set()
    found = []
    for row in np.argsort(-scores, kind="stable"):
        if scores[row] <= 0 or len(found) == DEPTH:
            break
        if int(books.artifacts[row]) not in seen:
            seen.add(int(books.artifacts[row]))
            found.append((int(books.ids[row]), float(scores[row])))
    return found


def _visible(db: sqlite3.Connection, chunks: list[StoredChunk]) -> list[StoredChunk]:
    shown = visible(db, [(c.kind, c.hash) for c in chunks if not c.project])
    return [c for c in chunks if c.project or (c.kind, c.hash) in shown]
