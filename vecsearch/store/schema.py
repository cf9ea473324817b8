"""The tables inside the repository; check.py tells whether those that are there are these.

The first three are a contract that other programs read (docs/index-format.md). All others are
derived: without one the next `vecsearch index` makes it again, or says that `vecsearch rebuild`
does; only settings and the lists of peers and libraries are nowhere else. Names start with `fx_` because `fossil rebuild` drops every other foreign table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing

from . import triggers

#: Raised when a derived table changes its columns or meaning; an older one is made anew.
SCHEMA_VERSION = 1

CONTRACT = {
    "fx_vec_chunk": """CREATE TABLE fx_vec_chunk(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  project TEXT DEFAULT '',
  UNIQUE(hash, seq)
)""",
    "fx_vec_embedding": """CREATE TABLE fx_vec_embedding(
  chunk_id INTEGER NOT NULL REFERENCES fx_vec_chunk(id),
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  v BLOB NOT NULL,
  PRIMARY KEY(chunk_id, model)
)""",
    "fx_vec_state": """CREATE TABLE fx_vec_state(
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  last_ckout TEXT
)""",
}

DERIVED = {
    # One row per artifact: what it was when it was indexed, or why it was not.
    "fx_vec_source": """CREATE TABLE fx_vec_source(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  project TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL,
  path TEXT,
  format TEXT NOT NULL,
  title TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  branch TEXT NOT NULL,
  user TEXT NOT NULL,
  mtime INTEGER NOT NULL,
  skipped TEXT NOT NULL,
  notes TEXT NOT NULL,
  UNIQUE(hash, project)
)""",
    # What a chunk knows beside its text. digest = first 16 bytes of BLAKE2b of what was embedded.
    "fx_vec_detail": """CREATE TABLE fx_vec_detail(
  chunk_id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  symbol TEXT NOT NULL,
  line_a INTEGER,
  line_b INTEGER,
  user TEXT NOT NULL,
  mtime INTEGER NOT NULL,
  digest BLOB NOT NULL
)""",
    # Further paths of an artifact: the same content may stand in several places.
    "fx_vec_alias": "CREATE TABLE fx_vec_alias(source_id INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY(source_id, path)) WITHOUT ROWID",
    # A chunk that begins with a contract, [DEF:id:type], and its tags: a JSON list of [name, value].
    "fx_vec_contract": """CREATE TABLE fx_vec_contract(
  chunk_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  tags TEXT NOT NULL
)""",
    # Another repository whose index was taken in; its artifacts have its name as project.
    "fx_vec_peer": """CREATE TABLE fx_vec_peer(
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  location TEXT NOT NULL,
  base_url TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  checkin TEXT NOT NULL,
  tips TEXT NOT NULL
)""",
    # An imported library: how the address of a definition is made from its name.
    "fx_vec_library": "CREATE TABLE fx_vec_library(project TEXT PRIMARY KEY, template TEXT NOT NULL) WITHOUT ROWID",
    # The vectors in blocks, see packed.py; none of the three is for other programs.
    "fx_vec_block": """CREATE TABLE fx_vec_block(
  number INTEGER PRIMARY KEY,
  dim INTEGER NOT NULL,
  used INTEGER NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  facts BLOB NOT NULL
)""",
    "fx_vec_matrix": "CREATE TABLE fx_vec_matrix(number INTEGER PRIMARY KEY, v BLOB NOT NULL)",
    "fx_vec_touched": "CREATE TABLE fx_vec_touched(chunk_id INTEGER PRIMARY KEY)",
    "fx_vec_tip": "CREATE TABLE fx_vec_tip(branch TEXT PRIMARY KEY, ci TEXT NOT NULL) WITHOUT ROWID",
    "fx_vec_config": "CREATE TABLE fx_vec_config(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "fx_vec_mark": "CREATE TABLE fx_vec_mark(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
}

INDEXES = {
    "fx_vec_detail_digest": "CREATE INDEX fx_vec_detail_digest ON fx_vec_detail(digest)",
    "fx_vec_detail_source": "CREATE INDEX fx_vec_detail_source ON fx_vec_detail(source_id)",
    # A month of check-ins, or a kind of few artifacts, is found without a look at all others.
    "fx_vec_source_time": "CREATE INDEX fx_vec_source_time ON fx_vec_source(kind, mtime)",
}

#: Contentless: the text stands in fx_vec_chunk already. Words keep `_` and `-` (user_id, INV-2024-001);
#: `parts` holds the pieces of such words, `named` those of the names in `symbol`: apart, so that
#: phrases keep their order and a name is told from its pieces.
FTS = """CREATE VIRTUAL TABLE fx_vec_fts USING fts5(
  title, path, symbol, body, parts, named,
  content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_-'"
)"""


#: The vectors once more, see packed.py.
PACKED = {"fx_vec_block", "fx_vec_matrix", "fx_vec_touched"}

#: Made when there is something to put in.
OTHERS = {
    "fx_vec_fts": FTS,
    # Where each chunk stands on the map, see plane.py.
    "fx_vec_map": "CREATE TABLE fx_vec_map(chunk_id INTEGER PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL)",
}


def table_names(db: sqlite3.Connection) -> set[str]:
    """Names of every table of ours that exists, and of what else has such a name."""
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name LIKE 'fx!_vec!_%' ESCAPE '!'")
    return {name for (name,) in rows}


def has_fts5(db: sqlite3.Connection) -> bool:
    """Whether the SQLite in use was built with FTS5."""
    return db.execute("SELECT 1 FROM pragma_module_list WHERE name='fts5'").fetchone() is not None


def lost(db: sqlite3.Connection) -> set[str]:
    """Tables that a run fills and that an index of ours lacks: of an older version, or without FTS5, or dropped."""
    present = table_names(db)
    filled = {"fx_vec_alias", "fx_vec_contract", "fx_vec_tip"} | ({"fx_vec_fts"} if has_fts5(db) else set())
    return filled - present if "fx_vec_mark" in present else set()


def create(db: sqlite3.Connection) -> None:
    """Create whatever is missing; the caller holds a transaction."""
    present = table_names(db)
    for name, ddl in {**CONTRACT, **DERIVED}.items():
        if name not in present:
            db.execute(ddl)
    for ddl in INDEXES.values():
        db.execute(ddl.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"))
    if "fx_vec_fts" not in present and has_fts5(db):
        db.execute(FTS)
    if triggers.make(db) or not PACKED <= present:  # whatever was written meanwhile is unknown: see packed.py
        db.execute("DELETE FROM fx_vec_mark WHERE name='packed'")
    db.execute("INSERT OR REPLACE INTO fx_vec_mark VALUES('schema', ?)", (str(SCHEMA_VERSION),))


def drop(db: sqlite3.Connection, keep: Collection[str] = ("fx_vec_config",)) -> None:
    """Drop every table of ours but these; the caller holds a transaction."""
    for name in sorted(table_names(db), key=lambda name: name != "fx_vec_fts"):  # which takes its shadow tables along
        if name not in keep:
            drop_one(db, name)


def drop_one(db: sqlite3.Connection, name: str) -> None:
    """Whatever has the name, table or view."""
    kind = db.execute("SELECT type FROM sqlite_schema WHERE name=? AND type IN ('table', 'view')", (name,)).fetchone()
    if kind:
        try:
            db.execute(f'DROP {kind[0]} "{name}"')
        except sqlite3.DatabaseError:
            if name != "fx_vec_fts":
                raise
            _empty_shadows(db)
            db.execute("DROP TABLE fx_vec_fts")


def _empty_shadows(db: sqlite3.Connection) -> None:
    """SQLite drops a full-text table only if it can open it: damaged shadow tables are made as those of an
    empty one are."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.execute(FTS)
        for name, ddl in fresh.execute("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'fx!_vec!_fts!_%' ESCAPE '!'").fetchall():
            db.execute(f'DROP TABLE IF EXISTS "{name}"')
            db.execute(ddl)
            for row in fresh.execute(f'SELECT * FROM "{name}"'):
                db.execute(f'INSERT INTO "{name}" VALUES({",".join("?" * len(row))})', row)
