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
from .rank import Ranking
from .result import Result
from .snippet import snippet


def fill(db: sqlite3.Connection, reader: Reader, memory: Memory, result: Result, shelf: Shelf, ranking: Ranking, base_url: str) -> None:
    """Put the page into the result. Every permitted kind is counted, whichever the query asks for; what has
    become invisible since the index run is not shown."""
    query, rows, chosen = result.query, ranking.rows, np.arange(len(ranking.rows))
    counts = np.bincount(shelf.kinds[rows], minlength=len(KINDS))
    result.facets = {kind: int(count) for kind, count in zip(KINDS, counts, strict=False) if count}
    if query.kinds:
        wanted = np.zeros(256, bool)
        wanted[[KINDS.index(kind) for kind in query.kinds]] = True
        chosen = np.flatnonzero(wanted[shelf.kinds[rows]])
    if query.sort == "date":
        when = reader.artifact_facts([int(i) for i in shelf.ids[rows[chosen]]])
        chosen = chosen[np.argsort([-mtime for *_, mtime in when], kind="stable")]
    result.total = len(chosen)
    here = chosen[query.offset : query.offset + query.k]
    ids = shelf.ids[rows[here]].tolist()
    passages = read(reader, memory, ids)
    tips, addresses = reader.tips(), Addresses(reader, base_url)
    for rank, (at, passage) in enumerate(_still_shown(db, here.tolist(), ids, passages), query.offset + 1):
        result.hits.append(hit(
            passage, rank, float(ranking.similarity[at]), query, addresses, addresses.checkin(passage.chunk, tips, result.checkin),
            arms={name: place for name, places in ranking.places.items() if (place := int(places[at]))},
            folded=int(ranking.further[at]), explain=_explained(ranking, at) if query.explain else {},
        ))
    if len(chosen) > query.offset + query.k:
        result.next = query.offset + query.k


def _explained(ranking: Ranking, at: int) -> dict[str, float]:
    """step -> what it gave the row."""
    return {name: round(float(gave[at]), 4) for name, gave in ranking.steps.items()} | {"exact": int(ranking.tiers[at])}


def hit(passage: Passage, rank: int, score: float, query: Query, addresses: Addresses, ci: str, **more: Any) -> Hit:
    """The passage as an answer to the query; `more` are the fields that say how it was found."""
    chunk, shown = passage.chunk, snippet(passage.line, query)
    landing = fragment(chunk.kind, chunk.format, chunk.text, passage.readable, chunk.title, shown)
    return Hit(
        score=round(min(1.0, max(0.0, score)), 6), kind=chunk.kind, project=chunk.project, path=chunk.path, hash=chunk.hash, text=chunk.text,
        rank=rank, title=chunk.title or chunk.symbol or chunk.path or chunk.hash[:16], url=addresses.of(chunk, ci, landing), lines=chunk.lines,
        snippet=shown, user=chunk.user, mtime=chunk.mtime, seq=chunk.seq, ci=ci, **more)


def _still_shown(db: sqlite3.Connection, places: list[int], ids: list[int], passages: dict[int, Passage]) -> list[tuple[int, Passage]]:
    """The places of the page with their passages, asked once more whether Fossil would show them, however sure
    the ranking was; a peer's are another repository's affair."""
    found = [(place, passages[i]) for place, i in zip(places, ids, strict=True) if i in passages]
    shown = visible(db, [(passage.chunk.kind, passage.chunk.hash) for _, passage in found if not passage.chunk.project])
    return [(place, passage) for place, passage in found if passage.chunk.project or (passage.chunk.kind, passage.chunk.hash) in shown]
