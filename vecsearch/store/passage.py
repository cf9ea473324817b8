"""A passage by the name that addresses give it: its artifact and its place therein."""

from __future__ import annotations

from .reader import Reader, StoredChunk


def find(reader: Reader, hash_: str, seq: int) -> StoredChunk | None:
    """The chunk, None if the index has no such."""
    row = reader.db.execute("SELECT id FROM fx_vec_chunk WHERE hash=? AND seq=?", (hash_, seq)).fetchone()
    return reader.chunks([row[0]])[row[0]] if row else None
