"""A passage by the name that addresses give it: its artifact and its place therein."""

from __future__ import annotations

from .reader import Reader, StoredChunk


def find(reader: Reader, hash_: str, seq: int) -> StoredChunk | None:
    """The chunk, None if the index has no such."""
    row = reader.db.execute("SELECT id FROM fx_vec_chunk WHERE hash=? AND seq=?", (hash_, seq)).fetchone()
    return reader.chunks([row[0]])[row[0]] if row else None


def starting(reader: Reader, digits: str, seq: int) -> list[StoredChunk]:
    """The chunks with this place in artifacts whose hash begins with the digits; a few at most."""
    rows = reader.db.execute("SELECT id FROM fx_vec_chunk WHERE hash>=? AND hash<? AND seq & 65535=? LIMIT 20", (digits, digits + "g", seq))
    return list(reader.chunks([i for (i,) in rows]).values())


def between(reader: Reader, chunk: StoredChunk, first: int, last: int) -> list[StoredChunk]:
    """The chunks of the same artifact with places first..last."""
    rows = reader.db.execute("SELECT id FROM fx_vec_chunk WHERE hash=? AND coalesce(project, '')=? AND seq & 65535 BETWEEN ? AND ?",
                             (chunk.hash, chunk.project, first, last))
    return list(reader.chunks([i for (i,) in rows]).values())
