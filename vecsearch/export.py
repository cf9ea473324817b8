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
    for table, columns in TABLES.items():
        duck.execute(f"CREATE OR REPLACE TABLE {table}({', '.join(f'{name} {type_}' for name, type_ in columns.items())})")
    duck.execute(f"ALTER TABLE chunks ADD COLUMN vector FLOAT[{state.dim}]")
    owners = _owners(found)
    rows = Reader(db).vectors(state)
    count = 0
    while batch := list(islice(rows, BATCH)):
        vectors = [vector_to_json(vector) for _, vector in batch]
        _insert(duck, "embeddings", [(_owner(c, owners), state.model, vector, c.text) for (c, _), vector in zip(batch, vectors, strict=True)])
        _insert(duck, "chunks", [_chunk(c, state.model) for c, _ in batch], vectors, state.dim)
        count += len(batch)
    _insert(duck, "contracts", [(c.header.id, c.header.type, c.hash, c.seq, c.path) for c in found])
    _insert(duck, "edges", [(e.source, e.predicate, e.target, e.resolved) for e in contracts.edges(found)])
    duck.execute("COMMIT")
    return count


#: table -> column -> type; `chunks` has the vectors besides.
TABLES = {
    "embeddings": {"contract_id": "TEXT PRIMARY KEY", "provider_id": "TEXT", "vector_json": "TEXT NOT NULL", "source_text": "TEXT"},
    "chunks": {"hash": "TEXT", "seq": "INTEGER", "kind": "TEXT", "project": "TEXT", "path": "TEXT", "title": "TEXT", "symbol": "TEXT",
               "line_a": "INTEGER", "line_b": "INTEGER", "text": "TEXT", "model": "TEXT"},
    "contracts": {"id": "TEXT", "type": "TEXT", "hash": "TEXT", "seq": "INTEGER", "path": "TEXT"},
    "edges": {"source": "TEXT", "predicate": "TEXT", "target": "TEXT", "resolved": "BOOLEAN"},
}


def _owners(found: Sequence[stored_contracts.Contract]) -> dict[int, str]:
    """chunk id -> contract id; of contracts with the same id only the first has it."""
    owners: dict[str, int] = {}
    for contract in found:
        owners.setdefault(contract.header.id, contract.chunk_id)
    return {chunk_id: id_ for id_, chunk_id in owners.items()}


def _owner(chunk: StoredChunk, owners: dict[int, str]) -> str:
    return owners.get(chunk.id, f"{chunk.project}/{chunk.hash}/{chunk.seq}".lstrip("/"))


def _chunk(c: StoredChunk, model: str) -> tuple:
    a, b = c.lines or (None, None)
    return c.hash, c.seq, c.kind, c.project, c.path, c.title, c.symbol, a, b, c.text, model


def _insert(duck, table: str, rows: Sequence[tuple], vectors: Sequence[str] = (), dim: int = 0) -> None:
    """By whole columns: row by row takes ten times as long. DuckDB reads a vector from its JSON, exactly."""
    if rows:
        columns = [f"unnest(?::{type_.split()[0]}[])" for type_ in TABLES[table].values()]
        values = [list(column) for column in zip(*rows, strict=True)]
        if vectors:
            columns.append(f"unnest(?::TEXT[])::FLOAT[{dim}]")
            values.append(list(vectors))
        duck.execute(f"INSERT INTO {table} SELECT {', '.join(columns)}", values)
