"""From ranked rows to the page that was asked for."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..fossil import corpus
from ..store.reader import Reader, StoredChunk
from ..types import Hit
from .address import Addresses
from .fuse import fold
from .landing import fragment
from .query import Query
from .rank import Field, Ranking
from .result import Result
from .snippet import snippet

#: Further hits of one artifact are folded under these.
PER_ARTIFACT = 2


def fill(db: sqlite3.Connection, reader: Reader, result: Result, found: Field, ranking: Ranking, score: np.ndarray | None,
         base_url: str) -> None:
    """Put the page into the result, without what has become invisible since the index run."""
    query, artifacts = result.query, found.shelf.artifacts
    about = _visible(db, reader, found, ranking.rows)
    rows, folded = fold(list(about), artifacts, PER_ARTIFACT)
    if query.sort == "date":
        rows.sort(key=lambda row: -about[row][4])
    result.total = len(rows)
    result.facets = dict(Counter(about[row][0] for row in rows))
    page = rows[query.offset : query.offset + query.k]
    chunks = reader.chunks([int(i) for i in found.shelf.ids[page]])
    tips, addresses = reader.tips(), Addresses(reader, base_url)
    for rank, row in enumerate(page, query.offset + 1):
        chunk = chunks[int(found.shelf.ids[row])]
        artifact = int(artifacts[row])
        result.hits.append(hit(
            chunk, rank, float(score[row]) if score is not None else 0.0, query, addresses, addresses.checkin(chunk, tips, result.checkin),
            arms={name: places[artifact] for name, places in ranking.arms.items() if artifact in places},
            folded=folded.get(artifact, 0), explain=_explanation(found, ranking, row) if query.explain else {},
        ))
    if len(rows) > query.offset + query.k:
        result.next = query.offset + query.k


def hit(chunk: StoredChunk, rank: int, score: float, query: Query, addresses: Addresses, ci: str, **more: Any) -> Hit:
    """The chunk as an answer to the query; `more` are the fields that say how it was found."""
    shown = snippet(chunk.format, chunk.text, query, chunk.title)
    landing = fragment(chunk.kind, chunk.format, chunk.text, chunk.title, shown)
    return Hit(
        score=round(min(1.0, max(0.0, score)), 6), kind=chunk.kind, project=chunk.project, path=chunk.path, hash=chunk.hash, text=chunk.text,
        rank=rank, title=chunk.title or chunk.symbol or chunk.path or chunk.hash[:16], url=addresses.of(chunk, ci, landing), lines=chunk.lines,
        snippet=shown, user=chunk.user, mtime=chunk.mtime, seq=chunk.seq, ci=ci, **more)


def _visible(db: sqlite3.Connection, reader: Reader, found: Field, rows: Sequence[int]) -> dict[int, tuple]:
    """The rows whose artifacts may still be shown, with (kind, path, hash, project, mtime); a peer's are
    another repository's affair."""
    facts = reader.artifact_facts([int(i) for i in found.shelf.ids[list(rows)]]) if rows else []
    visible = corpus.visible(db, [(kind, hash_) for kind, _, hash_, project, _ in facts if not project])
    return {row: about for row, about in zip(rows, facts, strict=True) if about[3] or (about[0], about[2]) in visible}


def _explanation(found: Field, ranking: Ranking, row: int) -> dict[str, float]:
    """What each step gave the hit's artifact, and how many literals the hit holds."""
    artifact = int(found.shelf.artifacts[row])
    steps = {name: round(values[artifact], 4) for name, values in ranking.steps.items() if artifact in values}
    return steps | {"exact": int(found.tiers[row])}
