"""What the tables hold of this repository's own artifacts, as it travels."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from ..types import Chunk
from .ve01 import Record

#: A peer's rows keep their true hash; UNIQUE(hash, seq) is kept apart by the peer's number in the
#: upper bits of seq, which the transfer format leaves free.
PEER_SHIFT = 16
#: Settings that decide what is indexed and how it is cut; a clone takes over those it has not set.
SHAPING = frozenset({"branch", "doc-glob", "instruction-glob", "media-glob", "code-glob", "ignore-glob", "max-file-kb",
                     "max-data-chunks", "chunk-chars"})


@dataclass(frozen=True, slots=True)
class Artifact:
    """An indexed artifact with what its chunks know beside their text (which stays "" here)."""

    hash: str
    kind: str
    path: str | None
    title: str
    format: str
    branch: str
    user: str
    mtime: int
    chunks: tuple[Chunk, ...]
    project: str = ""
    also: tuple[str, ...] = ()


_ALSO = "(SELECT group_concat(path, char(10)) FROM (SELECT path FROM fx_vec_alias a WHERE a.source_id=s.id ORDER BY path))"
_TRAVELS = ("s.kind IN (SELECT value FROM json_each(?))"
            " AND (s.project='' OR s.kind='api' AND s.project IN (SELECT value FROM json_each(?)))")


def checkin_months(db: sqlite3.Connection) -> set[str]:
    """The months, as 2026-11, in which there are check-ins."""
    return {month for (month,) in db.execute(
        "SELECT DISTINCT strftime('%Y-%m', mtime, 'unixepoch') FROM fx_vec_source WHERE kind='checkin' AND project='' AND skipped=''")}


def checkins(db: sqlite3.Connection, month: str) -> Iterator[Artifact]:
    """Our own check-ins of a month, by hash."""
    year, number = map(int, month.split("-"))
    first, after = datetime(year, number, 1, tzinfo=UTC), datetime(year + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return _artifacts(db, "s.kind='checkin' AND s.project='' AND s.mtime>=? AND s.mtime<?", (int(first.timestamp()), int(after.timestamp())))


def hashes(db: sqlite3.Connection, kinds: Iterable[str], libraries: Iterable[str] = ()) -> set[str]:
    """The artifacts that `artifacts` gives."""
    return {hash_ for (hash_,) in db.execute(
        f"SELECT s.hash FROM fx_vec_source s WHERE {_TRAVELS} AND EXISTS (SELECT 1 FROM fx_vec_detail d WHERE d.source_id=s.id)",
        (json.dumps(sorted(kinds)), json.dumps(sorted(libraries))))}


def artifacts(db: sqlite3.Connection, kinds: Iterable[str], libraries: Iterable[str] = (),
              only: Iterable[str] | None = None) -> Iterator[Artifact]:
    """Our own artifacts that have chunks, of the given kinds, and the definitions of the libraries; by hash.
    `only` those of these hashes."""
    narrowed, values = ("", []) if only is None else (" AND s.hash IN (SELECT value FROM json_each(?))", [json.dumps(sorted(only))])
    return _artifacts(db, _TRAVELS + narrowed, (json.dumps(sorted(kinds)), json.dumps(sorted(libraries)), *values))


def _artifacts(db: sqlite3.Connection, condition: str, values: tuple) -> Iterator[Artifact]:
    # A peer of an older version has no such table.
    also = _ALSO if db.execute("SELECT 1 FROM sqlite_schema WHERE name='fx_vec_alias'").fetchone() else "''"
    rows = db.execute(
        "SELECT s.hash, s.kind, s.path, s.title, s.format, s.branch, s.user, s.mtime,"
        f" s.project, {also}, c.seq, d.title, d.symbol, d.line_a, d.line_b, d.user, d.mtime FROM fx_vec_source s"
        " JOIN fx_vec_detail d ON d.source_id=s.id JOIN fx_vec_chunk c ON c.id=d.chunk_id"
        f" WHERE {condition} ORDER BY s.hash, c.seq", values)
    head: tuple = ()
    chunks: list[Chunk] = []
    for *facts, seq, title, symbol, a, b, user, mtime in rows:
        if tuple(facts) != head:
            if head:
                yield _artifact(head, chunks)
            head, chunks = tuple(facts), []
        chunks.append(Chunk(seq, "", title, symbol, (a, b) if a else None, user, mtime))
    if head:
        yield _artifact(head, chunks)


def _artifact(head: tuple, chunks: list[Chunk]) -> Artifact:
    *facts, project, also = head
    return Artifact(*facts, tuple(chunks), project, tuple(also.split("\n")) if also else ())


def records(db: sqlite3.Connection, hash_: str, model: str) -> list[Record]:
    """The chunks of one of our own artifacts or of a library's (whose hash holds the library's name), with
    their vectors, by seq."""
    rows = db.execute(
        "SELECT c.seq, coalesce(c.project, ''), c.text, e.v FROM fx_vec_chunk c JOIN fx_vec_embedding e ON e.chunk_id=c.id AND e.model=?"
        " WHERE c.hash=? AND (coalesce(c.project, '')='' OR c.kind='api') ORDER BY c.seq", (model, hash_))
    return [Record(seq, project, text, np.frombuffer(v, "<f4")) for seq, project, text, v in rows]


def shaping_settings(db: sqlite3.Connection) -> dict[str, str]:
    """The stored settings that a clone needs to cut the same text into the same chunks."""
    return {name: value for name, value in db.execute("SELECT name, value FROM fx_vec_config ORDER BY name") if name in SHAPING}


def vectors(db: sqlite3.Connection) -> list[tuple[int, str, bytes]]:
    """(chunk id, model, vector) of every stored vector."""
    return db.execute("SELECT chunk_id, model, v FROM fx_vec_embedding").fetchall()


def set_vector(db: sqlite3.Connection, chunk_id: int, model: str, vector: np.ndarray) -> None:
    """Replace one stored vector."""
    db.execute("UPDATE fx_vec_embedding SET v=? WHERE chunk_id=? AND model=?", (vector.astype("<f4").tobytes(), chunk_id, model))
