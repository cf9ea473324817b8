"""From ranked rows to the page that was asked for."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from ..fossil.visible import visible
from ..store.reader import Reader
from ..store.shelf import Shelf
from ..types import KINDS, Hit
from .address import Addresses
from .landing import fragment
from .memory import Memory
from .passages import Passage, read
from .query import Query
from .rank import Field, Ranking
from .result import Result
from .snippet import snippet


def fill(db: sqlite3.Connection, reader: Reader, memory: Memory, result: Result, found: Field, ranking: Ranking, score: np.ndarray | None,
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
    passages = read(reader, memory, shelf.ids[rows[query.offset : query.offset + query.k]].tolist())
    page = _still_shown(db, shelf, rows[query.offset : query.offset + query.k].tolist(), passages)
    tips, addresses = reader.tips(), Addresses(reader, base_url)
    for rank, (row, passage) in enumerate(page, query.offset + 1):
        artifact = int(shelf.artifacts[row])
        result.hits.append(hit(
            passage, rank, float(score[row]) if score is not None else 0.0, query, addresses,
            addresses.checkin(passage.chunk, tips, result.checkin),
            arms={name: place for name in ranking.arms if (place := ranking.place(name, artifact))},
            folded=ranking.folded(artifact), explain=_explanation(found, ranking, row) if query.explain else {},
        ))
    if len(rows) > query.offset + query.k:
        result.next = query.offset + query.k


def hit(passage: Passage, rank: int, score: float, query: Query, addresses: Addresses, ci: str, **more: Any) -> Hit:
    """The passage as an answer to the query; `more` are the fields that say how it was found."""
    chunk, shown = passage.chunk, snippet(passage.line, query)
    landing = fragment(chunk.kind, chunk.format, chunk.text, passage.readable, chunk.title, shown)
    return Hit(
        score=round(min(1.0, max(0.0, score)), 6), kind=chunk.kind, project=chunk.project, path=chunk.path, hash=chunk.hash, text=chunk.text,
        rank=rank, title=chunk.title or chunk.symbol or chunk.path or chunk.hash[:16], url=addresses.of(chunk, ci, landing), lines=chunk.lines,
        snippet=shown, user=chunk.user, mtime=chunk.mtime, seq=chunk.seq, ci=ci, **more)


def _still_shown(db: sqlite3.Connection, shelf: Shelf, page: list[int], passages: dict[int, Passage]) -> list[tuple[int, Passage]]:
    """The rows of the page with their passages, asked once more whether Fossil would show them, however sure
    the ranking was; a peer's are another repository's affair."""
    found = [(row, passages[i]) for row in page if (i := int(shelf.ids[row])) in passages]
    shown = visible(db, [(passage.chunk.kind, passage.chunk.hash) for _, passage in found if not passage.chunk.project])
    return [(row, passage) for row, passage in found if passage.chunk.project or (passage.chunk.kind, passage.chunk.hash) in shown]


def _explanation(found: Field, ranking: Ranking, row: int) -> dict[str, float]:
    """What each step gave the hit's artifact, and how many literals the hit holds."""
    return ranking.gave(int(found.shelf.artifacts[row])) | {"exact": int(found.tiers[row])}
