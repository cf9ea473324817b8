"""Whether the tables that are there are the ones this version knows; and room for a rebuild where not."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

from ..errors import NoIndexError, StoreError
from . import rows, schema
from .schema import CONTRACT, DERIVED, OTHERS, drop, drop_one, table_names


#: Tables whose rows name each other by ids: without one the others are worth nothing.
LINKED = {"fx_vec_source", "fx_vec_detail"}


def require(db: sqlite3.Connection) -> None:
    """Raise NoIndexError if there is no index, StoreError if its tables are not as they must be."""
    present = table_names(db)
    if not present & (CONTRACT.keys() | {"fx_vec_mark"}):
        raise NoIndexError("there is no index in this repository yet; run: vecsearch index")
    refuse_newer(db)
    if wrong := faults(db):
        raise _fault(db, wrong)
    if "fx_vec_mark" in present and (found := _version(db)) != str(schema.SCHEMA_VERSION):
        raise damaged(db, f"the index has format {found}, this vecsearch reads {schema.SCHEMA_VERSION}")


def require_table(db: sqlite3.Connection, name: str) -> bool:
    """Whether the table is there. Raises StoreError if it is not as it must be."""
    if name in (wrong := faults(db)):
        raise _fault(db, {name: wrong[name]})
    return name in table_names(db)


def faults(db: sqlite3.Connection) -> dict[str, str]:
    """What is wrong with the tables, by name. Of the contract's tables another program may have made its own,
    with more columns; ours are all as made here."""
    wanted = CONTRACT | DERIVED | OTHERS
    found = db.execute("SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name LIKE 'fx!_vec!_%' ESCAPE '!'").fetchall()
    wrong = {name: f"table {name} is missing" for name in _missing({name for name, _, _ in found})}
    for name, kind, sql in found:
        if name not in wanted or (kind, sql) == ("table", wanted[name]):
            continue
        if kind == "view" or name == "fx_vec_fts":
            wrong[name] = f"{name} is not a table of ours"
            continue
        there, ours = _columns(db, name), _columns_of(wanted[name])
        if missing := [column for column in ours if column not in there]:
            wrong[name] = f"table {name} lacks {', '.join(missing)}"
        elif name not in CONTRACT and there != ours:
            wrong[name] = f"table {name} has other columns than ours"
    return wrong


def _missing(present: set[str]) -> set[str]:
    """Tables without which those that are there are worth nothing."""
    if "fx_vec_mark" in present:
        return (CONTRACT.keys() | LINKED) - present
    return CONTRACT.keys() - present if present & CONTRACT.keys() else set()


def is_ours(db: sqlite3.Connection) -> bool:
    """Whether a vecsearch made the tables, and not another program the contract's alone."""
    return "fx_vec_mark" in table_names(db) and "fx_vec_mark" not in faults(db) and _version(db) != "?"


def _fault(db: sqlite3.Connection, wrong: dict[str, str]) -> StoreError:
    """The contract's tables first: of those that another program made it is not for us to dispose."""
    name = min(wrong, key=lambda name: (name not in CONTRACT, name))
    if name in CONTRACT and not is_ours(db):
        return StoreError(f"{wrong[name]}: another program made the index, so it is not touched; if nobody needs it, "
                          "run: vecsearch uninstall --purge, then: vecsearch index", file=file_of(db))
    return damaged(db, wrong[name])


def damaged(db: sqlite3.Connection, what: str) -> StoreError:
    """The error for what a rebuild mends."""
    return StoreError(f"{what}; run: vecsearch rebuild", file=file_of(db))


def file_of(db: sqlite3.Connection) -> str:
    """The file of an open database."""
    return next((file for _, name, file in db.execute("PRAGMA database_list") if name == "main"), "")


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _columns_of(ddl: str) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as scratch:
        scratch.execute(ddl)
        [name] = scratch.execute("SELECT name FROM sqlite_schema WHERE type='table' AND name LIKE 'fx%'").fetchone()
        return _columns(scratch, name)


def _version(db: sqlite3.Connection) -> str:
    row = db.execute("SELECT value FROM fx_vec_mark WHERE name='schema'").fetchone()
    return str(row[0]) if row else "?"


def refuse_newer(db: sqlite3.Connection) -> None:
    """Raise StoreError if a newer vecsearch made the tables: not even a rebuild may replace them, since
    another program on this machine reads them."""
    if "fx_vec_mark" not in table_names(db) or not {"name", "value"} <= set(_columns(db, "fx_vec_mark")):
        return
    if re.fullmatch("[0-9]{1,9}", found := _version(db)) and int(found) > schema.SCHEMA_VERSION:
        raise StoreError(f"the index has format {found}, this vecsearch reads {schema.SCHEMA_VERSION}; install a newer vecsearch", file=file_of(db))


def mend_settings(db: sqlite3.Connection) -> None:
    """Drop the settings if they are not a table of ours: a rebuild reads them before anything else."""
    if "fx_vec_config" in faults(db):
        drop_one(db, "fx_vec_config")


def mend(db: sqlite3.Connection) -> None:
    """Make room for a rebuild: drop what is not as it must be, and all of an older format. The caller holds a
    transaction. Raises StoreError for a newer format, and for a table of the contract that is not ours."""
    refuse_newer(db)
    wrong = faults(db)
    if wrong.keys() & CONTRACT.keys() and not is_ours(db):
        raise _fault(db, wrong)
    another = "fx_vec_mark" in table_names(db) and "fx_vec_mark" not in wrong and _version(db) != str(schema.SCHEMA_VERSION)
    if another or wrong.keys() & (CONTRACT.keys() | LINKED) or (is_ours(db) and not rows.are_sound(db)):
        drop(db, keep={"fx_vec_config", "fx_vec_peer", "fx_vec_library"} - wrong.keys())
    for name in faults(db):
        drop_one(db, name)
