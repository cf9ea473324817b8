"""The contracts that chunks begin with, as rows of fx_vec_contract; all of it is read from the text."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from ..chunk.contracts import Header, header
from . import schema


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract and the chunk that begins with it."""

    header: Header
    chunk_id: int
    kind: str
    project: str
    path: str | None
    hash: str
    seq: int
    lines: tuple[int, int] | None


def put(db: sqlite3.Connection, chunk_id: int, text: str) -> None:
    """Remember the contract of a chunk, if its text begins with one."""
    if "[DEF:" in text and (found := header(text)):
        db.execute("INSERT INTO fx_vec_contract VALUES(?,?,?,?)",
                   (chunk_id, found.id, found.type, json.dumps(found.tags, ensure_ascii=False)))


def load(db: sqlite3.Connection) -> list[Contract]:
    """Every contract of the index, by id and then by place."""
    if "fx_vec_contract" not in schema.table_names(db):
        return []
    rows = db.execute(
        "SELECT x.id, x.type, x.tags, c.id, c.kind, coalesce(c.project, ''), c.path, c.hash, c.seq, d.line_a, d.line_b"
        " FROM fx_vec_contract x JOIN fx_vec_chunk c ON c.id=x.chunk_id LEFT JOIN fx_vec_detail d ON d.chunk_id=c.id"
        " ORDER BY x.id, 6, c.path, c.hash, c.seq")
    return [Contract(Header(id_, type_, tuple((name, value) for name, value in json.loads(tags))), *place,
                     seq & 0xFFFF, (a, b) if a else None)
            for id_, type_, tags, *place, seq, a, b in rows]


def text_of(db: sqlite3.Connection, contract: Contract) -> str:
    """The whole text of a contract: a long one is cut into several chunks, under one title."""
    rows = db.execute(
        "SELECT c.text FROM fx_vec_chunk c JOIN fx_vec_detail d ON d.chunk_id=c.id JOIN fx_vec_detail own ON own.chunk_id=?"
        " WHERE d.source_id=own.source_id AND d.title=own.title AND c.seq>="
        " (SELECT seq FROM fx_vec_chunk WHERE id=own.chunk_id) ORDER BY c.seq", (contract.chunk_id,))
    return "\n\n".join(text for (text,) in rows)
