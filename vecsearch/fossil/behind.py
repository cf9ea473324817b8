"""How far an index is behind the repository, in check-ins."""

from __future__ import annotations

import sqlite3

from .repository import HIDDEN, withheld


def checkins_since(db: sqlite3.Connection, checkin: str) -> int:
    """The number of check-ins, on any branch, that came in after this one and that a reader may see."""
    row = db.execute(
        f"""SELECT count(*) FROM event e JOIN blob b ON b.rid=e.objid
            WHERE e.type='ci' AND b.size>=0 AND NOT {withheld(db)} AND b.rid NOT IN ({HIDDEN})
              AND e.mtime > (SELECT e2.mtime FROM event e2 JOIN blob b2 ON b2.rid=e2.objid WHERE b2.uuid=?)""",
        (checkin,)).fetchone()
    return row[0]
