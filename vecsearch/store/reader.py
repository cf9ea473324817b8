"""Reading the index. With writer.py and schema.py the only SQL on fx_vec_* tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..config import Settings, default_settings, from_rows
from ..errors import NoIndexError, StoreError, UsageError
from . import check, schema, shelf
from .product import InFile
from .shelf import Shelf


#: What no model's vectors are longer than.
MOST_NUMBERS = 1 << 16


@dataclass(frozen=True, slots=True)
class State:
    """Which vectors a search scans, and the check-in that the index is current to ('' if none)."""

    model: str
    dim: int
    checkin: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with all that is known about it."""

    id: int
    hash: str
    kind: str
    path: str | None
    seq: int
    text: str
    project: str
    title: str
    symbol: str
    lines: tuple[int, int] | None
    user: str
    mtime: int
    branch: str
    format: str


#: Columns as text and numbers, whatever somebody put into them: a damaged row is shown as it is, and no fault.
_CHUNK = "CAST(c.hash AS TEXT), CAST(c.kind AS TEXT), CAST(c.path AS TEXT), CAST(c.seq AS INTEGER)"
_TITLE, _LINES = "CAST(d.title AS TEXT)", "CAST(d.line_a AS INTEGER), CAST(d.line_b AS INTEGER)"


def _time(column: str) -> str:
    """Unix time within the years that a date can have."""
    return f"min(max(coalesce(CAST({column} AS INTEGER), 0), 0), 253402300799)"


class Reader:
    """Answers questions about the index over any open connection; never writes. `seen` is what others have read of the
    same state (seen.py): what a search asks each time is then taken from it."""

    def __init__(self, db: sqlite3.Connection, seen: dict[str, Any] | None = None):
        self.db, self._seen = db, seen
        self.tables = self._once("tables", lambda: schema.table_names(db))

    def _once(self, name: str, read: Callable[[], Any]) -> Any:
        if self._seen is None:
            return read()
        if name not in self._seen:
            self._seen[name] = read()
        return self._seen[name]

    def settings(self) -> Settings:
        """The repository's settings; defaults where there is no row."""
        return self._once("settings", self._settings)

    def _settings(self) -> Settings:
        if not check.require_table(self.db, "fx_vec_config"):
            return default_settings()
        try:
            return from_rows({str(name): str(value) for name, value in self.db.execute("SELECT name, value FROM fx_vec_config")})
        except UsageError as error:
            raise StoreError(f"a stored setting is wrong: {error}; run: vecsearch config NAME VALUE", file=check.file_of(self.db)) from error

    def state(self) -> State:
        """Raises NoIndexError where there is none, StoreError where the tables are foreign."""
        return self._once("state", self._state)

    def _state(self) -> State:
        check.require(self.db)
        row = self.db.execute("SELECT model, dim, coalesce(last_ckout, '') FROM fx_vec_state").fetchone()
        if row is None:
            raise NoIndexError("the first index run has not finished yet; run: vecsearch index")
        model, dim, checkin = row
        if not (isinstance(model, str) and isinstance(dim, int) and 0 < dim <= MOST_NUMBERS and isinstance(checkin, str)):
            raise check.damaged(self.db, "fx_vec_state does not say which vectors to search")
        return State(model, dim, checkin)

    def mark(self, name: str) -> str:
        """A bookkeeping value, '' if it was never set."""
        return self._once(f"mark {name}", lambda: self._mark(name))

    def _mark(self, name: str) -> str:
        if "fx_vec_mark" not in self.tables:
            return ""
        row = self.db.execute("SELECT CAST(value AS TEXT) FROM fx_vec_mark WHERE name=?", (name,)).fetchone()
        return row[0] if row else ""

    def tips(self) -> dict[str, str]:
        """branch -> check-in that the index was read from."""
        if "fx_vec_tip" not in self.tables:
            return {}
        return self._once("tips", lambda: dict(self.db.execute("SELECT CAST(branch AS TEXT), CAST(ci AS TEXT) FROM fx_vec_tip")))

    def has_map(self) -> bool:
        """Whether the chunks have their places on the map (plane.py): an index made by an older version has none before its next run."""
        return {"fx_vec_map", "fx_vec_detail", "fx_vec_source"} <= self.tables

    def has_lexical(self) -> bool:
        """Whether the full-text index is there and this SQLite can read it."""
        return "fx_vec_fts" in self.tables and self._once("fts5", lambda: schema.has_fts5(self.db))

    def counts(self, kinds: Iterable[str]) -> dict[str, tuple[int, int]]:
        """kind -> (artifacts, chunks), only for the given kinds and those that have any."""
        wanted = sorted(kinds)
        sql = f"SELECT kind, count(DISTINCT hash), count(*) FROM fx_vec_chunk WHERE kind IN ({_marks(wanted)}) GROUP BY kind"
        return {kind: (artifacts, chunks) for kind, artifacts, chunks in self.db.execute(sql, wanted)}

    def projects(self, kinds: Iterable[str]) -> list[str]:
        """The projects that have anything of the given kinds, '' (this repository) included."""
        wanted = sorted(kinds)
        table = "fx_vec_source" if "fx_vec_source" in self.tables else "fx_vec_chunk"  # one row for each artifact, or for each chunk
        if table == "fx_vec_source" and not self._has_others():  # no need to look at each
            return [""] if self.db.execute(f"SELECT 1 FROM fx_vec_source WHERE kind IN ({_marks(wanted)}) LIMIT 1", wanted).fetchone() else []
        sql = f"SELECT DISTINCT coalesce(project, '') FROM {table} WHERE kind IN ({_marks(wanted)}) ORDER BY 1"
        return [name for (name,) in self.db.execute(sql, wanted)]

    def _has_others(self) -> bool:
        """Whether a peer or a library was taken in: nothing else has a project of its own."""
        return any(self.db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in ("fx_vec_peer", "fx_vec_library") if table in self.tables)

    def skipped(self) -> list[tuple[str, str, str]]:
        """(path or hash, kind, reason or notes) of artifacts with no text or with notes."""
        if "fx_vec_source" not in self.tables:
            return []
        return self.db.execute(
            "SELECT coalesce(path, hash), kind, CASE skipped WHEN '' THEN notes ELSE 'skipped: ' || skipped END"
            " FROM fx_vec_source WHERE skipped<>'' OR notes<>'' ORDER BY 2, 1"
        ).fetchall()

    def library(self, project: str) -> dict[str, int]:
        """hash -> source id of an imported library's definitions."""
        if "fx_vec_source" not in self.tables:
            return {}
        return dict(self.db.execute("SELECT hash, id FROM fx_vec_source WHERE kind='api' AND project=?", (project,)))

    def library_templates(self) -> dict[str, str]:
        """project -> template of the addresses of its definitions."""
        if "fx_vec_library" not in self.tables:
            return {}
        return self._once("libraries", lambda: dict(self.db.execute("SELECT project, template FROM fx_vec_library")))

    def unembedded(self, model: str) -> list[tuple[int, str | None, str, str, str, str]]:
        """(chunk id, path, title, symbol, format, text) of chunks that have no vector of the model."""
        return self.db.execute(
            "SELECT c.id, c.path, coalesce(d.title, ''), coalesce(d.symbol, ''), coalesce(s.format, 'plain'), c.text"
            " FROM fx_vec_chunk c LEFT JOIN fx_vec_embedding e ON e.chunk_id=c.id AND e.model=?"
            " LEFT JOIN fx_vec_detail d ON d.chunk_id=c.id LEFT JOIN fx_vec_source s ON s.id=d.source_id"
            " WHERE e.chunk_id IS NULL ORDER BY c.id", (model,)
        ).fetchall()

    def shelf(self, state: State, kinds: frozenset[str]) -> Shelf:
        """Every row of the kinds with its vector of the state's model. Raises StoreError on a vector of
        the wrong size."""
        return shelf.load(self.db, state.model, state.dim, kinds, self.tables, self._shelf_version(state))

    def ahead(self, state: State, query: Callable[[], np.ndarray]) -> InFile | None:
        """As shelf.ahead."""
        return shelf.ahead(self.db, query, self._shelf_version(state))

    def _shelf_version(self, state: State) -> tuple[str, tuple]:
        return self._once(f"shelf {state.model} {state.dim}", lambda: shelf.version(self.db, state.model, state.dim, self.tables))

    def chunks(self, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """The chunks with these row ids; a negative id gives the source's path with an empty text."""
        found = {chunk.id: chunk for chunk in self._chunk_rows([i for i in ids if i > 0])}
        found |= {chunk.id: chunk for chunk in self._source_rows([-i for i in ids if i < 0])}
        return found

    def vectors(self, state: State) -> Iterator[tuple[StoredChunk, np.ndarray]]:
        """Each chunk with its float32 [dim] vector of the state's model, a few hundred at a time."""
        rows = self.db.execute("SELECT chunk_id, v FROM fx_vec_embedding WHERE model=? ORDER BY chunk_id", (state.model,))
        while some := dict(rows.fetchmany(500)):
            for i, chunk in sorted(self.chunks(list(some)).items()):
                yield chunk, np.frombuffer(some[i], "<f4")

    def _chunk_rows(self, ids: Sequence[int]) -> Iterator[StoredChunk]:
        if not ids:
            return
        detail = "fx_vec_detail" in self.tables and "fx_vec_source" in self.tables
        extra = (
            f"{_TITLE}, CAST(d.symbol AS TEXT), {_LINES}, CAST(d.user AS TEXT), {_time('d.mtime')}, CAST(s.branch AS TEXT), CAST(s.format AS TEXT)"
            " FROM fx_vec_chunk c LEFT JOIN fx_vec_detail d ON d.chunk_id=c.id LEFT JOIN fx_vec_source s ON s.id=d.source_id"
            if detail
            else "'', '', NULL, NULL, '', 0, '', 'plain' FROM fx_vec_chunk c"
        )
        sql = f"SELECT c.id, {_CHUNK}, CAST(c.text AS TEXT), coalesce(CAST(c.project AS TEXT), ''), {extra} WHERE c.id IN ({_marks(ids)})"
        for row in self.db.execute(sql, ids):
            title, symbol, a, b, user, mtime, branch, fmt = row[7:]
            lines = (a, b) if a else None
            seq = row[4] & 0xFFFF  # above stands the number of the peer, see exchange.PEER_SHIFT
            yield StoredChunk(*row[:4], seq, *row[5:7], title or "", symbol or "", lines, user or "", mtime or 0, branch or "", fmt or "plain")

    def _source_rows(self, ids: Sequence[int]) -> Iterator[StoredChunk]:
        if not ids:
            return
        sql = ("SELECT id, CAST(hash AS TEXT), CAST(kind AS TEXT), CAST(path AS TEXT), CAST(project AS TEXT), CAST(title AS TEXT), CAST(user AS TEXT),"
               f" {_time('mtime')}, CAST(branch AS TEXT), CAST(format AS TEXT) FROM fx_vec_source WHERE id IN ({_marks(ids)})")
        for i, hash_, kind, path, project, title, user, mtime, branch, fmt in self.db.execute(sql, ids):
            yield StoredChunk(-i, hash_, kind, path, 0, "", project, title, "", None, user, mtime, branch, fmt)

    def row_facts(self) -> Iterator[tuple[int, str, str | None, str, int]]:
        """(row id, project, path, user, mtime) of every chunk, and of every artifact under the negative
        row id by which it is found if it is only a name; once for each of its paths; for filters."""
        detail = "fx_vec_detail" in self.tables
        extra = f"coalesce(CAST(d.user AS TEXT), ''), {_time('d.mtime')}" if detail else "'', 0"
        join = "LEFT JOIN fx_vec_detail d ON d.chunk_id=c.id" if detail else ""
        yield from self.db.execute(f"SELECT c.id, coalesce(CAST(c.project AS TEXT), ''), CAST(c.path AS TEXT), {extra} FROM fx_vec_chunk c {join}")
        if "fx_vec_source" in self.tables:
            yield from self.db.execute("SELECT -id, CAST(project AS TEXT), CAST(path AS TEXT), CAST(user AS TEXT),"
                                       f" {_time('mtime')} FROM fx_vec_source")
        if "fx_vec_alias" in self.tables:
            columns = "CAST(s.project AS TEXT), CAST(a.path AS TEXT), CAST({0}.user AS TEXT)"
            own = "FROM fx_vec_alias a JOIN fx_vec_source s ON s.id=a.source_id"
            yield from self.db.execute(f"SELECT d.chunk_id, {columns.format('d')}, {_time('d.mtime')} {own} JOIN fx_vec_detail d ON d.source_id=s.id")
            yield from self.db.execute(f"SELECT -s.id, {columns.format('s')}, {_time('s.mtime')} {own}")

    def artifact_facts(self, ids: Sequence[int]) -> list[tuple[str, str | None, str, str, bool, int]]:
        """(kind, path, hash, project, whether a run of ours made it, mtime) for each row id, in their order, without reading any text; of no
        kind if the row has gone since the shelf was filled."""
        ours, mtime, join = "0", "0", ""
        if "fx_vec_detail" in self.tables:
            ours, mtime, join = "d.chunk_id IS NOT NULL", _time("d.mtime"), "LEFT JOIN fx_vec_detail d ON d.chunk_id=c.id"
        found = {row[0]: row[1:] for row in self.db.execute(
            f"SELECT c.id, CAST(c.kind AS TEXT), CAST(c.path AS TEXT), CAST(c.hash AS TEXT), coalesce(CAST(c.project AS TEXT), ''), {ours}, {mtime}"
            f" FROM fx_vec_chunk c {join} WHERE c.id IN (SELECT value FROM json_each(?))", (json.dumps([i for i in ids if i > 0]),))}
        if any(i < 0 for i in ids):
            found |= {row[0]: row[1:] for row in self.db.execute(
                "SELECT -id, CAST(kind AS TEXT), CAST(path AS TEXT), CAST(hash AS TEXT), CAST(project AS TEXT), 1,"
                f" {_time('mtime')} FROM fx_vec_source WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps([-i for i in ids if i < 0]),))}
        return [found.get(i, ("", None, "", "", False, 0)) for i in ids]

    def other_paths(self, ids: Sequence[int]) -> dict[int, list[str]]:
        """row id -> further paths of its artifact, for those that have any."""
        found: dict[int, list[str]] = {}
        if "fx_vec_alias" in self.tables and "fx_vec_detail" in self.tables:
            for i, path in self.db.execute(
                    "SELECT j.value, CAST(a.path AS TEXT) FROM json_each(?) j LEFT JOIN fx_vec_detail d ON d.chunk_id=j.value"
                    " JOIN fx_vec_alias a ON a.source_id=coalesce(d.source_id, -j.value)", (json.dumps(list(ids)),)):
                found.setdefault(i, []).append(path)
        return found

    def vectors_by_digest(self, digests: Sequence[bytes], model: str) -> dict[bytes, bytes]:
        """digest -> stored vector, for texts that were embedded by this model before."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(digests), 500):
            some = digests[start : start + 500]
            found.update(
                self.db.execute(
                    "SELECT d.digest, e.v FROM fx_vec_detail d JOIN fx_vec_embedding e ON e.chunk_id=d.chunk_id"
                    f" WHERE e.model=? AND d.digest IN ({_marks(some)})",
                    (model, *some),
                )
            )
        return found


def _marks(values: Sequence) -> str:
    """Placeholders for an IN list."""
    return ",".join("?" * len(values))
