"""Writing the index. Each method is called inside a transaction that the caller holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Chunk, Document
from . import contracts, lexical, packed, schema
from .rows import lexical_fault


@dataclass(frozen=True, slots=True)
class Entry:
    """One document ready to be stored: its chunks, their digests and vectors (float32 [n, dim])."""

    document: Document
    chunks: Sequence[Chunk]
    digests: Sequence[bytes]
    vectors: np.ndarray


class Writer:
    """Keeps the chunks, their vectors and the full-text index in step."""

    def __init__(self, db: sqlite3.Connection):
        self.db = db
        schema.create(db)
        self.lexical = "fx_vec_fts" in schema.table_names(db)
        self.overtaken = packed.overtaken(db)
        self._read_again(self.overtaken)
        if self.lexical:
            self._refresh_lexical()

    def put(self, entry: Entry, model: str, project: str = "") -> None:
        """Store a document in place of whatever the index knew of the same artifact. Vectors of other
        models are kept for chunks that did not change, so that a rebuild never leaves a gap."""
        source = entry.document.source
        kept = self._other_vectors(source.hash, model, project)
        self.remove(self._ids_of(source.hash, project))
        self.db.execute("DELETE FROM fx_vec_embedding WHERE chunk_id IN"
                        " (SELECT id FROM fx_vec_chunk WHERE hash=? AND coalesce(project,'')=?)", (source.hash, project))
        self.db.execute("DELETE FROM fx_vec_chunk WHERE hash=? AND coalesce(project,'')=?", (source.hash, project))
        source_id = self._insert_source(entry.document, project)
        self._set_aliases(source_id, source.also)
        for chunk, digest, vector in zip(entry.chunks, entry.digests, entry.vectors, strict=True):
            chunk_id = self._insert_chunk(source_id, entry.document, chunk, digest, project)
            self._insert_vector(chunk_id, model, vector.astype("<f4").tobytes())
            for other, blob in kept.get(digest, {}).items():
                self._insert_vector(chunk_id, other, blob)
        if not entry.chunks and entry.document.format:
            self._lexical_source(source_id, entry.document.title, _paths(source.path, source.also))

    def _ids_of(self, hash_: str, project: str) -> list[int]:
        return [i for (i,) in self.db.execute("SELECT id FROM fx_vec_source WHERE hash=? AND project=?", (hash_, project))]

    def _other_vectors(self, hash_: str, model: str, project: str) -> dict[bytes, dict[str, bytes]]:
        """digest -> model -> vector; a document may say the same twice."""
        kept: dict[bytes, dict[str, bytes]] = {}
        rows = self.db.execute(
            "SELECT d.digest, e.model, e.v FROM fx_vec_source s JOIN fx_vec_detail d ON d.source_id=s.id"
            " JOIN fx_vec_embedding e ON e.chunk_id=d.chunk_id WHERE s.hash=? AND s.project=? AND e.model<>?",
            (hash_, project, model),
        )
        for digest, other, blob in rows:
            kept.setdefault(digest, {})[other] = blob
        return kept

    def _insert_source(self, document: Document, project: str) -> int:
        s = document.source
        return self.db.execute(
            "INSERT INTO fx_vec_source(hash, kind, path, format, title, fingerprint, branch, user, mtime, skipped, notes, project)"
            " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
            (s.hash, s.kind, s.path, document.format, document.title, s.fingerprint, s.branch, s.user, s.mtime,
             document.skipped, "; ".join(document.notes), project),
        ).lastrowid

    def _insert_chunk(self, source_id: int, document: Document, chunk: Chunk, digest: bytes, project: str) -> int:
        source = document.source
        chunk_id = self.db.execute(
            "INSERT INTO fx_vec_chunk(hash, kind, path, seq, text, project) VALUES(?,?,?,?,?,?)",
            (source.hash, source.kind, source.path, chunk.seq, chunk.text, project),
        ).lastrowid
        a, b = chunk.lines or (None, None)
        self.db.execute(
            "INSERT INTO fx_vec_detail VALUES(?,?,?,?,?,?,?,?,?)",
            (chunk_id, source_id, chunk.title, chunk.symbol, a, b, chunk.user or source.user, chunk.mtime or source.mtime, digest),
        )
        self._lexical("", chunk_id, lexical.row(chunk.title, _paths(source.path, source.also), chunk.symbol, document.format, chunk.text))
        contracts.put(self.db, chunk_id, chunk.text)
        return chunk_id

    def add_vectors(self, chunk_ids: Iterable[int], vectors: np.ndarray, model: str) -> None:
        """Another model's vectors for chunks that stay as they are."""
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            self._insert_vector(chunk_id, model, vector.astype("<f4").tobytes())

    def _insert_vector(self, chunk_id: int, model: str, blob: bytes) -> None:
        self.db.execute("INSERT INTO fx_vec_embedding(chunk_id, model, dim, v) VALUES(?,?,?,?)", (chunk_id, model, len(blob) // 4, blob))

    def remove(self, source_ids: Iterable[int]) -> None:
        """Forget artifacts: chunks, vectors, full-text rows."""
        for source_id in source_ids:
            self._unindex(source_id)
            for table, key in (("fx_vec_embedding", "chunk_id"), ("fx_vec_contract", "chunk_id"), ("fx_vec_chunk", "id")):
                self.db.execute(
                    f"DELETE FROM {table} WHERE {key} IN (SELECT chunk_id FROM fx_vec_detail WHERE source_id=?)", (source_id,)
                )
            self.db.execute("DELETE FROM fx_vec_detail WHERE source_id=?", (source_id,))
            self.db.execute("DELETE FROM fx_vec_alias WHERE source_id=?", (source_id,))
            self.db.execute("DELETE FROM fx_vec_source WHERE id=?", (source_id,))

    def remove_undescribed(self) -> None:
        """Forget chunks of which only the contract's tables know: another program made them."""
        self.db.execute("DELETE FROM fx_vec_embedding WHERE chunk_id NOT IN (SELECT chunk_id FROM fx_vec_detail)")
        self.db.execute("DELETE FROM fx_vec_chunk WHERE id NOT IN (SELECT chunk_id FROM fx_vec_detail)")

    def relocate(self, source_id: int, kind: str, path: str | None, branch: str, also: tuple[str, ...] = ()) -> None:
        """The same artifact under other names: rows and full-text entries move, vectors stay."""
        self._unindex(source_id)
        self.db.execute("UPDATE fx_vec_source SET title=coalesce(?, '') WHERE id=? AND title=path", (path, source_id))
        self.db.execute("UPDATE fx_vec_source SET kind=?, path=?, branch=? WHERE id=?", (kind, path, branch, source_id))
        self.db.execute(
            "UPDATE fx_vec_chunk SET kind=?, path=? WHERE id IN (SELECT chunk_id FROM fx_vec_detail WHERE source_id=?)",
            (kind, path, source_id),
        )
        self._set_aliases(source_id, also)
        self._index(source_id)

    def _set_aliases(self, source_id: int, paths: Iterable[str]) -> None:
        self.db.execute("DELETE FROM fx_vec_alias WHERE source_id=?", (source_id,))
        self.db.executemany("INSERT INTO fx_vec_alias VALUES(?,?)", [(source_id, path) for path in paths])

    def _unindex(self, source_id: int) -> None:
        try:
            self._lexical_rows(source_id, "delete")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
                raise
            self._remake_lexical()  # the rows say other words than went in
            self._lexical_rows(source_id, "delete")

    def _index(self, source_id: int) -> None:
        self._lexical_rows(source_id, "")

    def _lexical_rows(self, source_id: int, command: str) -> None:
        rows = self.db.execute(
            "SELECT c.id, CAST(d.title AS TEXT), CAST(c.path AS TEXT), CAST(d.symbol AS TEXT), CAST(s.format AS TEXT), CAST(c.text AS TEXT)"
            " FROM fx_vec_source s"
            " JOIN fx_vec_detail d ON d.source_id=s.id JOIN fx_vec_chunk c ON c.id=d.chunk_id WHERE s.id=?",
            (source_id,),
        ).fetchall()
        also = [path for (path,) in self.db.execute("SELECT path FROM fx_vec_alias WHERE source_id=? ORDER BY path", (source_id,))]
        for chunk_id, title, path, *fields in rows:
            self._lexical(command, chunk_id, lexical.row(title, _paths(path, also), *fields))
        if not rows:
            found = self.db.execute("SELECT CAST(title AS TEXT), CAST(path AS TEXT) FROM fx_vec_source WHERE id=? AND format<>''",
                                    (source_id,)).fetchone()
            if found:
                self._lexical_source(source_id, found[0], _paths(found[1], also), command=command)

    def _lexical_source(self, source_id: int, title: str, path: str | None, command: str = "") -> None:
        """A document without text is found by its title and path alone, under the row id -source_id."""
        self._lexical(command, -source_id, lexical.row(title, path, "", "plain", ""))

    def _lexical(self, command: str, rowid: int, columns: tuple[str, ...]) -> None:
        if not self.lexical:
            return
        names = ("rowid", *lexical.COLUMNS) if not command else ("fx_vec_fts", "rowid", *lexical.COLUMNS)
        values = (rowid, *columns) if not command else (command, rowid, *columns)
        self.db.execute(f"INSERT INTO fx_vec_fts({', '.join(names)}) VALUES({', '.join('?' * len(names))})", values)

    def _refresh_lexical(self) -> None:
        """Make the full-text index anew where it was made by another rule, or from texts that another program
        has changed since: their words cannot be taken out any more."""
        version = str(lexical.LEXICAL_VERSION)
        row = self.db.execute("SELECT value FROM fx_vec_mark WHERE name='lexical'").fetchone()
        if row and row[0] == version and not self.overtaken:
            return
        self._remake_lexical()
        self.set_mark("lexical", version)

    def _read_again(self, chunk_ids: list[int]) -> None:
        """What another program has changed is no longer what the artifact says."""
        for chunk_id in chunk_ids:
            self.db.execute("UPDATE fx_vec_source SET fingerprint='' WHERE id=(SELECT source_id FROM fx_vec_detail WHERE chunk_id=?)", (chunk_id,))
        if chunk_ids:
            self.set_mark("run", "")
            self.set_mark("moment", "")

    def mend_lexical(self) -> None:
        """Make the full-text index anew if it is damaged or holds other rows than it must."""
        if not self.lexical:
            return
        try:
            self.db.execute("INSERT INTO fx_vec_fts(fx_vec_fts) VALUES('integrity-check')")
            whole = not lexical_fault(self.db)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
                raise
            whole = False
        if not whole:
            self._remake_lexical()

    def _remake_lexical(self) -> None:
        self.db.execute("DROP TABLE fx_vec_fts")
        self.db.execute(schema.FTS)
        for (source_id,) in self.db.execute("SELECT id FROM fx_vec_source").fetchall():
            self._index(source_id)

    def forget_words(self) -> None:
        """Merge the full-text index so that no word of a removed text stays in its segments. It costs a
        pass over the index, so only what had to go for secrecy pays it."""
        if self.lexical:
            self.db.execute("INSERT INTO fx_vec_fts(fx_vec_fts) VALUES('optimize')")

    def set_state(self, model: str, dim: int, checkin: str) -> None:
        """The one row that says which vectors are searched."""
        self.db.execute("DELETE FROM fx_vec_state")
        self.db.execute("INSERT INTO fx_vec_state(model, dim, last_ckout) VALUES(?,?,?)", (model, dim, checkin))

    def drop_other_models(self, model: str) -> None:
        """Vectors of any other model go. It looks at every row."""
        self.db.execute("DELETE FROM fx_vec_embedding WHERE model<>?", (model,))

    def set_tips(self, tips: Mapping[str, str]) -> None:
        """branch -> check-in that files were read from."""
        self.db.execute("DELETE FROM fx_vec_tip")
        self.db.executemany("INSERT INTO fx_vec_tip VALUES(?,?)", sorted(tips.items()))

    def set_mark(self, name: str, value: str) -> None:
        """A bookkeeping value, see Reader.mark."""
        self.db.execute("INSERT OR REPLACE INTO fx_vec_mark VALUES(?,?)", (name, value))

    def set_library(self, project: str, template: str | None) -> None:
        """Remember how a library's addresses are made, or forget it."""
        self.db.execute("DELETE FROM fx_vec_library WHERE project=?", (project,))
        if template is not None:
            self.db.execute("INSERT INTO fx_vec_library VALUES(?,?)", (project, template))


def _paths(path: str | None, also: Iterable[str]) -> str | None:
    """All the names of an artifact, by each of which it is found."""
    return " ".join((path, *sorted(also))) if path else path
