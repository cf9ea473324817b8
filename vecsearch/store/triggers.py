"""Which rows the packed form (packed.py) is behind on: triggers note them, whoever writes.

Another program that writes the contract's tables, an older vecsearch, `fossil sql`: each leaves the row
ids in fx_vec_touched (minus the id for a row of fx_vec_source). So a search knows what to read from the
rows, and the next run what to pack. Who drops the tables drops the triggers along, and that is seen too.
"""

from __future__ import annotations

import sqlite3

TABLE = "fx_vec_touched"
_NOTE = "INSERT INTO fx_vec_touched SELECT {id} WHERE NOT EXISTS (SELECT 1 FROM fx_vec_touched WHERE chunk_id={id});"


def _trigger(table: str, event: str, *ids: str, when: str = "AFTER") -> tuple[str, str]:
    name = f"{table}_{event.split()[0].lower()}" + ("_over" if when == "BEFORE" else "")
    body = " ".join(_NOTE.format(id=i) for i in ids)
    return name, f"CREATE TRIGGER {name} {when} {event} ON {table} BEGIN {body} END"


#: name -> DDL. The one that fires before is for INSERT OR REPLACE, which deletes without a delete trigger.
TRIGGERS = dict([
    _trigger("fx_vec_embedding", "INSERT", "NEW.chunk_id"),
    _trigger("fx_vec_embedding", "UPDATE", "OLD.chunk_id", "NEW.chunk_id"),
    _trigger("fx_vec_embedding", "DELETE", "OLD.chunk_id"),
    _trigger("fx_vec_chunk", "INSERT", "NEW.id"),
    _trigger("fx_vec_chunk", "UPDATE", "OLD.id", "NEW.id"),
    _trigger("fx_vec_chunk", "DELETE", "OLD.id"),
    ("fx_vec_chunk_insert_over",
     "CREATE TRIGGER fx_vec_chunk_insert_over BEFORE INSERT ON fx_vec_chunk BEGIN INSERT INTO fx_vec_touched SELECT id FROM fx_vec_chunk"
     " WHERE hash=NEW.hash AND seq=NEW.seq AND id NOT IN (SELECT chunk_id FROM fx_vec_touched); END"),
    _trigger("fx_vec_source", "INSERT", "-NEW.id"),
    _trigger("fx_vec_source", "UPDATE", "-OLD.id", "-NEW.id"),
    _trigger("fx_vec_source", "DELETE", "-OLD.id"),
])


def intact(db: sqlite3.Connection) -> bool:
    """Whether every trigger is there as made here."""
    found = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type='trigger' AND tbl_name LIKE 'fx!_vec!_%' ESCAPE '!'"))
    return all(found.get(name) == ddl for name, ddl in TRIGGERS.items())


def make(db: sqlite3.Connection) -> bool:
    """Make those that are missing or other; whether there were any, so that nobody knows what was written."""
    if intact(db):
        return False
    for name, ddl in TRIGGERS.items():
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
        db.execute(ddl)
    return True
