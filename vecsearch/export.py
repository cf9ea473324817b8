"""The index as a DuckDB database, for questions that SQL over vectors answers better than a search.

    embeddings  contract_id, provider_id, vector_json, source_text: seed 2's table; the owner of a vector is
                the contract that its chunk begins with, or HASH/SEQ of the chunk
    chunks      one row per chunk, its vector as a native FLOAT[dim]
    contracts, edges   the contracts and their relations

Other tables of the database stay; these four are made anew in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from . import contracts
from .embed.hashing import vector_to_json
from .errors import StoreError, UsageError
from .fossil.repository import open_readonly
from .store import contracts as stored_contracts
from .store.reader import Reader, State, StoredChunk

#: Rows handed over at once.
BATCH = 2000


def export(path: Path, target: Path) -> str:
    """Write the index of the repository at `path`; a sentence says what. Raises StoreError, UsageError."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("this needs DuckDB; run: pip install 'fossil-vecsearch[duckdb]'") from None
    with closing(open_readonly(path)) as db:
        state = Reader(db).state()
        try:
            with closing(duckdb.connect(str(target))) as duck:
                count = _write(duck, db, state)
        except duckdb.Error as error:
            raise StoreError(f"{target}: {str(error).splitlines()[0]}; name a DuckDB database or a new file") from error
    return f"{target}: {count} chunks with vectors of {state.model} ({state.dim})"


def _write(duck, db: sqlite3.Connection, state: State) -> int:
    found = stored_contracts.load(db)
    duck.execute("BEGIN")
    for table, columns in _tables(state.dim).items():
        duck.execute(f"CREATE OR REPLACE TABLE {table}({columns})")
    owners = _owners(found)
    rows = Reader(db).vectors(state)
    count = 0
    while batch := list(islice(rows, BATCH)):
        _insert(duck, "embeddings", [_seed_row(chunk, vector, owners, state.model) for chunk, vector in batch])
        _insert(duck, "chunks", [_own_row(chunk, vector, state.model) for chunk, vector in batch])
        count += len(batch)
    _insert(duck, "contracts", [(c.header.id, c.header.type, c.hash, c.seq, c.path) for c in found])
    _insert(duck, "edges", [(e.source, e.predicate, e.target, e.resolved) for e in contracts.edges(found)])
    duck.execute("COMMIT")
    return count


def _tables(dim: int) -> dict[str, str]:
    return {
        "embeddings": "contract_id TEXT PRIMARY KEY, provider_id TEXT, vector_json TEXT NOT NULL, source_text TEXT",
        "chunks": "hash TEXT, seq INTEGER, kind TEXT, project TEXT, path TEXT, title TEXT, symbol TEXT, line_a INTEGER,"
                  f" line_b INTEGER, text TEXT, model TEXT, vector FLOAT[{dim}]",
        "contracts": "id TEXT, type TEXT, hash TEXT, seq INTEGER, path TEXT",
        "edges": "source TEXT, predicate TEXT, target TEXT, resolved BOOLEAN",
    }


def _owners(found: Sequence[stored_contracts.Contract]) -> dict[int, str]:
    """chunk id -> contract id; of contracts with the same id only the first has it."""
    owners: dict[str, int] = {}
    for contract in found:
        owners.setdefault(contract.header.id, contract.chunk_id)
    return {chunk_id: id_ for id_, chunk_id in owners.items()}


def _seed_row(chunk: StoredChunk, vector: np.ndarray, owners: dict[int, str], model: str) -> tuple:
    name = f"{chunk.project}/{chunk.hash}/{chunk.seq}".lstrip("/")
    return owners.get(chunk.id, name), model, vector_to_json(vector), chunk.text


def _own_row(c: StoredChunk, vector: np.ndarray, model: str) -> tuple:
    a, b = c.lines or (None, None)
    return c.hash, c.seq, c.kind, c.project, c.path, c.title, c.symbol, a, b, c.text, model, vector.tolist()


def _insert(duck, table: str, rows: list[tuple]) -> None:
    if rows:
        marks = ",".join("?" * len(rows[0]))
        duck.executemany(f"INSERT INTO {table} VALUES({marks})", rows)
