"""How an artifact stands among the others: whether a ticket is settled, how often others refer to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from .repository import has_table

#: What Fossil's default ticket set-up, and most others, call a ticket that is done with.
_SETTLED = ("closed", "fixed", "resolved", "rejected", "deferred", "verified", "review", "tested")

#: As few letters of a hash as Fossil takes for a reference.
_PREFIX = 4


def closed_tickets(db: sqlite3.Connection, artifacts: Iterable[tuple[str, str]]) -> set[str]:
    """Which of the (kind, hash) are tickets that are done with. A site may have no status at all."""
    tickets = [hash_ for kind, hash_ in artifacts if kind == "ticket"]
    if not tickets or not has_table(db, "ticket"):
        return set()
    columns = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('ticket')")}
    if "status" not in columns:
        return set()
    rows = db.execute("SELECT tkt_uuid, status FROM ticket WHERE tkt_uuid IN (SELECT value FROM json_each(?))", (json.dumps(tickets),))
    return {uuid for uuid, status in rows if str(status or "").strip().lower() in _SETTLED}


def links_to(db: sqlite3.Connection, artifacts: Iterable[tuple[str, str]]) -> dict[str, int]:
    """hash -> how many artifacts refer to it by (a prefix of) its hash in what people write: Fossil's
    `backlink` table, which check-in comments, wiki pages, technotes, tickets and posts fill."""
    hashes = [hash_ for kind, hash_ in artifacts if kind in ("checkin", "ticket", "doc", "code", "technote", "forum")]
    if not hashes or not has_table(db, "backlink"):
        return {}
    rows = db.execute(
        "SELECT j.value, count(DISTINCT l.srctype || ':' || l.srcid) FROM json_each(?) j JOIN backlink l"
        " ON l.target >= substr(j.value, 1, ?) AND l.target <= j.value AND j.value LIKE l.target || '%'"
        " GROUP BY j.value", (json.dumps(hashes), _PREFIX))
    return dict(rows)
