"""From ranked rows to the page that was asked for."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from ..fossil import corpus
from ..plain import plain
from ..store.reader import Reader, StoredChunk
from ..store.shelf import Shelf
from ..types import KINDS, Hit
from .address import Addresses
from .landing import fragment
from .query import Query
from .rank import Field, Ranking
from .result import Result
from .snippet import snippet


def fill(db: sqlite3.Connection, reader: Reader, result: Result, found: Field, ranking: Ranking, score: np.ndarray | None,
         base_url: str) -> None:
    """Put the page into the result. Every permitted kind is counted, whichever the query asks for; what has
    become invisible since the index run is not shown."""
    query, shelf = result.query, found.shelf
    rows = np.array(ranking.rows, np.int64)
    counts = np.bincount(shelf.kinds[rows], minlength=len(KINDS))
    result.facets = {kind: int(count) for kind, count in zip(KINDS, counts, strict=False) if count}
    if query.kinds:
        wanted = np.zeros(256, bool)
        wanted[[KINDS.index(kind) for kind in query.kinds]] = True
        rows = rows[wanted[shelf.kinds[rows]]]
    if query.sort == "date":
        when = reader.artifact_facts([int(i) for i in shelf.ids[rows]])
        rows = rows[np.argsort([-mtime for *_, mtime in when], kind="stable")]
    result.total = len(rows)
    page = _still_shown(db, reader, shelf, rows[query.offset : query.offset + query.k].tolist())
    tips, addresses = reader.tips(), Addresses(reader, base_url)
    for rank, (row, chunk) in enumerate(page, query.offset + 1):
        artifact = int(shelf.artifacts[row])
        result.hits.append(hit(
            chunk, rank, float(score[row]) if score is not None else 0.0, query, addresses, addresses.checkin(chunk, tips, result.checkin),
            arms={name: place for name in ranking.arms if (place := ranking.place(name, artifact))},
            folded=ranking.folded(artifact), explain=_explanation(found, ranking, row) if query.explain else {},
        ))
    if len(rows) > query.offset + query.k:
        result.next = query.offset + query.k


def hit(chunk: StoredChunk, rank: int, score: float, query: Query, addresses: Addresses, ci: str, **more: Any) -> Hit:
    """The chunk as an answer to the query; `more` are the fields that say how it was found."""
    readable = plain(chunk.format, chunk.text)
    shown = snippet(chunk.format, readable, query, chunk.title)
    landing = fragment(chunk.kind, chunk.format, chunk.text, readable, chunk.title, shown)
    return Hit(
        score=round(min(1.0, max(0.0, score)), 6), kind=chunk.kind, project=chunk.project, path=chunk.path, hash=chunk.hash, text=chunk.text,
        rank=rank, title=chunk.title or chunk.symbol or chunk.path or chunk.hash[:16], url=addresses.of(chunk, ci, landing), lines=chunk.lines,
        snippet=shown, user=chunk.user, mtime=chunk.mtime, seq=chunk.seq, ci=ci, **more)


def _still_shown(db: sqlite3.Connection, reader: Reader, shelf: Shelf, page: list[int]) -> list[tuple[int, StoredChunk]]:
    """The rows of the page with their chunks, asked once more whether Fossil would show them, however sure
    the ranking was; a peer's are another repository's affair."""
    chunks = reader.chunks([int(i) for i in shelf.ids[page]])
    found = [(row, chunks[i]) for row in page if (i := int(shelf.ids[row])) in chunks]
    visible = corpus.visible(db, [(chunk.kind, chunk.hash) for _, chunk in found if not chunk.project])
    return [(row, chunk) for row, chunk in found if chunk.project or (chunk.kind, chunk.hash) in visible]


def _explanation(found: Field, ranking: Ranking, row: int) -> dict[str, float]:
    """What each step gave the hit's artifact, and how many literals the hit holds."""
    return ranking.gave(int(found.shelf.artifacts[row])) | {"exact": int(found.tiers[row])}
