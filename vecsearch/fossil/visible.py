"""Whether what was found may still be shown. Each search asks, so this loads nothing of what reads artifacts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from .repository import HIDDEN, has_table, withheld


def visible(db: sqlite3.Connection, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the (kind, hash) pairs that may still be shown: an index is stale by nature. Cheap
    enough to ask before each page of hits. What was imported (`api`) is in no repository and stays."""
    artifacts = {hash_ for kind, hash_ in keys if kind not in ("ticket", "api")}
    tickets = {hash_ for kind, hash_ in keys if kind == "ticket"}
    here = _visible_artifacts(db, artifacts) if artifacts else set()
    shown = {"ticket": _visible_tickets(db, tickets) if tickets else set()}
    if manifests := {hash_ for kind, hash_ in keys if kind == "media"} & here:
        from .corpus import media  # and with it all that reads artifacts

        shown["media"] = media.without_withheld_transcripts(db, manifests)
    return {(kind, hash_) for kind, hash_ in keys if kind == "api" or hash_ in shown.get(kind, here)}


def _visible_artifacts(db: sqlite3.Connection, hashes: set[str]) -> set[str]:
    rows = db.execute(
        f"""SELECT b.uuid FROM json_each(?) j JOIN blob b ON b.uuid=j.value
            WHERE b.size>=0 AND NOT {withheld(db)} AND b.rid NOT IN ({HIDDEN})""", (json.dumps(sorted(hashes)),))
    return {row[0] for row in rows}


def _visible_tickets(db: sqlite3.Connection, uuids: set[str]) -> set[str]:
    """Tickets that still exist and none of whose changes was shunned: nobody remembers which passage
    came from which change. A change that waits for a moderator never was in the index."""
    if not has_table(db, "ticket"):
        return set()
    rows = db.execute(
        f"""SELECT k.tkt_uuid FROM json_each(?) j JOIN ticket k ON k.tkt_uuid=j.value
            JOIN tag t ON t.tagname='tkt-'||k.tkt_uuid JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid
            GROUP BY k.tkt_uuid HAVING sum(b.uuid IN (SELECT uuid FROM shun) OR b.size<0)=0 AND sum(NOT {withheld(db)})>0""",
        (json.dumps(sorted(uuids)),))
    return {row[0] for row in rows}
