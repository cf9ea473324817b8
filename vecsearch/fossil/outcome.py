"""What became of things in a project: how tickets were settled, which tags artifacts carry, which files
there are and how often they changed since. What `vecsearch context` judges a decision by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from .repository import HIDDEN, columns, has_table, withheld


def settlements(db: sqlite3.Connection, tickets: Iterable[str]) -> dict[str, str]:
    """ticket -> its status and resolution, in lower case; a site may have neither column."""
    wanted = [name for name in ("status", "resolution") if has_table(db, "ticket") and name in columns(db, "ticket")]
    if not wanted:
        return {}
    fields = " || ' ' || ".join(f"coalesce({name}, '')" for name in wanted)
    rows = db.execute(f"SELECT tkt_uuid, lower({fields}) FROM ticket WHERE tkt_uuid IN (SELECT value FROM json_each(?))",
                      (json.dumps(list(tickets)),))
    return dict(rows)


def tags(db: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, set[str]]:
    """artifact -> the names of its tags, in lower case: those of a technote or check-in."""
    found: dict[str, set[str]] = {}
    rows = db.execute(
        """SELECT b.uuid, lower(substr(t.tagname, 5)) FROM json_each(?) j JOIN blob b ON b.uuid=j.value
           JOIN tagxref x ON x.rid=b.rid JOIN tag t USING (tagid) WHERE t.tagname GLOB 'sym-*' AND x.tagtype>0""",
        (json.dumps(list(hashes)),))
    for hash_, name in rows:
        found.setdefault(hash_, set()).add(name)
    return found


def known_files(db: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Which of the names are files of some check-in that a reader may see."""
    rows = db.execute(
        f"""SELECT f.name FROM json_each(?) j JOIN filename f ON f.name=j.value WHERE EXISTS
            (SELECT 1 FROM mlink m JOIN blob b ON b.rid=m.mid WHERE m.fnid=f.fnid AND NOT {withheld(db)})""", (json.dumps(list(names)),))
    return {name for (name,) in rows}


def changes_since(db: sqlite3.Connection, files: Iterable[str], since: int) -> int:
    """How many check-ins changed any of the files after this Unix time."""
    row = db.execute(
        f"""SELECT count(DISTINCT m.mid) FROM json_each(?) j JOIN filename f ON f.name=j.value JOIN mlink m ON m.fnid=f.fnid
            JOIN event e ON e.objid=m.mid JOIN blob b ON b.rid=m.mid
            WHERE e.mtime > 2440587.5 + ? / 86400.0 AND NOT {withheld(db)} AND b.rid NOT IN ({HIDDEN})""",
        (json.dumps(list(files)), since + 1)).fetchone()
    return row[0]
