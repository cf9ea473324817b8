"""The index itself: is it there, of this format, whole, and current."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from ..config import Settings
from ..errors import NoIndexError, StoreError
from ..fossil import corpus
from ..fossil.repository import change_mark, open_readonly
from ..store import known, packed, rows, schema
from ..store.reader import Reader, State
from .finding import Finding, Setup, broken, warning

#: float32 arithmetic leaves a unit vector this near to 1.
NORM_TOLERANCE = 1e-3
REBUILD = "run: vecsearch rebuild"


def check(setup: Setup) -> Iterator[Finding]:
    with closing(open_readonly(setup.repository)) as db:
        reader = Reader(db)
        try:
            settings = reader.settings()
        except StoreError as error:
            yield broken("settings", error, "run: vecsearch config NAME VALUE, or --unset, for the setting that is named")
            return
        try:
            state = reader.state()
        except NoIndexError as error:
            yield broken("index", error, "run: vecsearch index")
            return
        except StoreError as error:
            yield broken("index", error, "do what it says; searches answer with this message until then")
            return
        try:
            yield from _whole(db, reader, state)
            yield from _current(db, reader, settings)
        except sqlite3.DatabaseError as error:
            yield broken("damaged", f"the index cannot be read: {error}",
                         f"{REBUILD}; if that fails too, the file is damaged: fossil test-integrity")


def _whole(db: sqlite3.Connection, reader: Reader, state: State) -> Iterator[Finding]:
    if not schema.DERIVED.keys() <= reader.tables:
        lacking = sorted(schema.DERIVED.keys() - reader.tables - schema.PACKED - {"fx_vec_config"})
        if lacking:
            yield broken("index", f"tables are missing: {', '.join(lacking)}", REBUILD)
            return
    if (states := db.execute("SELECT count(*) FROM fx_vec_state").fetchone()[0]) != 1:
        yield broken("consistent", f"fx_vec_state has {states} rows in place of one", REBUILD)
    if state.checkin and not reader.tips():
        yield broken("consistent", "no branch has a check-in to link to", REBUILD)
    for stray in rows.strays(db):
        yield broken("consistent", stray, REBUILD)
    yield from _vectors(db, state)
    yield from _packed(db)
    if reader.has_lexical():
        if fault := rows.lexical_fault(db):
            yield broken("keywords", fault, REBUILD)
    elif schema.has_fts5(db):
        yield broken("keywords", "there is no full-text index, so searches do without keywords", REBUILD)


def _vectors(db: sqlite3.Connection, state: State) -> Iterator[Finding]:
    """Read one by one: a repository may hold a million."""
    wrong_size = not_unit = 0
    for (blob,) in db.execute("SELECT v FROM fx_vec_embedding WHERE model=?", (state.model,)):
        if not isinstance(blob, bytes) or len(blob) != 4 * state.dim:
            wrong_size += 1
            continue
        vector = np.frombuffer(blob, "<f4")
        not_unit += not abs(float(vector @ vector) - 1) < NORM_TOLERANCE  # so is NaN
    if wrong_size:
        yield broken("vectors", f"{wrong_size} vectors are not of {state.dim} numbers", REBUILD)
    if not_unit:
        yield broken("vectors", f"{not_unit} vectors are not of unit length, so scores are wrong", "run: vecsearch normalize, or: vecsearch rebuild")


def _packed(db: sqlite3.Connection) -> Iterator[Finding]:
    """The blocks that searches read instead of the rows."""
    if not packed.in_step(db):
        yield warning("packed", "the vectors in blocks are behind on the rows, so searches are slower", "run: vecsearch index")
        return
    held = sorted(int(i) for block in packed.blocks(db) for i in block.facts["id"] if i > 0)
    if held != [i for (i,) in db.execute("SELECT id FROM fx_vec_chunk ORDER BY id")]:
        yield broken("packed", "the vectors in blocks are not those of the chunks", REBUILD)


def _current(db: sqlite3.Connection, reader: Reader, settings: Settings) -> Iterator[Finding]:
    if reader.mark("change") != change_mark(db):
        yield warning("current", "the repository has changed since it was indexed",
                      "run: vecsearch index; to keep it so: vecsearch hook install, or vecsearch watch")
    elif not reader.mark("run"):
        yield warning("complete", "the last run could not read every artifact, or did not end", "run: vecsearch index, and see what it names")
    else:
        yield from _complete(db, settings)
    if settings["log"].startswith("/") and (fault := _log_fault(settings["log"])):
        yield warning("log", fault, "make the folder, or: vecsearch config log syslog")


def _complete(db: sqlite3.Connection, settings: Settings) -> Iterator[Finding]:
    """An index that says that it is current holds what a run from nothing would."""
    wanted = {source.hash for source in corpus.all_sources(db, settings)}
    held = known.sources(db).keys()
    if wanted != held:
        yield broken("complete", f"{len(wanted - held)} artifacts are not in the index, and {len(held - wanted)} in it are not to be found,"
                                 " although it says that it is current", REBUILD)


def _log_fault(name: str) -> str:
    folder = os.path.dirname(name)
    if not os.path.isdir(folder):
        return f"the log {name} cannot be written: there is no folder {folder}"
    if not os.access(name if os.path.exists(name) else folder, os.W_OK):
        return f"the log {name} cannot be written by this user"
    return ""
