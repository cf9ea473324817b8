"""What can have changed since a remembered moment, without looking at what cannot.

Fossil only ever adds: an artifact is a new row of `blob`, a tag, an amendment or an edit a new row of
`tagxref`. So the rows above the highest of then tell what was touched. What is deleted, replaced or
changed in place, and what decides who sees what, is held in sums over the older rows: if one differs,
nothing is told apart and everything must be listed.

Sources: src/tag.c (tag_insert, tag_propagate), src/manifest.c (manifest_crosslink, manifest_crosslink_end),
src/rebuild.c, src/moderate.c, src/purge.c, src/shun.c.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from .repository import CONFIG_THAT_MATTERS, columns, config_value, has_table, secrecy_mark, tips

#: Beyond so many touched rows, or phantoms to remember, it is simpler to list everything.
MOST_TOUCHED = 20_000
MOST_PHANTOMS = 500


def remember(db: sqlite3.Connection, settings: Mapping[str, Any]) -> str:
    """This moment, to be given to `touched` later; "" if it cannot be remembered."""
    phantoms = [rid for (rid,) in db.execute("SELECT rid FROM phantom ORDER BY rid LIMIT ?", (MOST_PHANTOMS + 1,))]
    if len(phantoms) > MOST_PHANTOMS:
        return ""
    newest = db.execute("SELECT rid, uuid FROM blob ORDER BY rid DESC LIMIT 1").fetchone() or (0, "")
    tag = db.execute("SELECT coalesce(max(rowid), 0) FROM tagxref").fetchone()[0]
    return json.dumps({
        "newest": list(newest), "tag": tag, "tags": _tags(db, tag), "events": _events(db), "phantoms": phantoms,
        "state": _state(db), "tips": [[tip.branch, tip.hash, sorted(tip.kinds)] for tip in tips(db, settings)],
    })


def touched(db: sqlite3.Connection, moment: str) -> set[int] | None:
    """Rows of `blob` that came since, were filled in, tagged or untagged, or whose time a younger
    check-in has moved. None: more than that has changed."""
    then = json.loads(moment) if moment else {}
    if not then or then["state"] != _state(db) or then["tags"] != _tags(db, then["tag"]):
        return None
    newest, hash_ = then["newest"]
    if newest and db.execute("SELECT uuid FROM blob WHERE rid=?", (newest,)).fetchone() != (hash_,):
        return None
    filled = set(then["phantoms"]) - {rid for (rid,) in db.execute("SELECT rid FROM phantom")}
    came = _rids(db, "SELECT rid FROM blob WHERE rid>? LIMIT ?", newest, MOST_TOUCHED) | filled
    tagged = _rids(db, "SELECT rid FROM tagxref WHERE rowid>? LIMIT ?", then["tag"], MOST_TOUCHED)
    if max(len(came), len(tagged)) >= MOST_TOUCHED:
        return None
    new = db.execute(f"{_SUMS} FROM event WHERE objid IN (SELECT value FROM json_each(?))", (_json(came),)).fetchone()
    if [old + more for old, more in zip(then["events"], new, strict=True)] != _events(db):
        return None
    # A check-in that is not older than its child is dated back (the time fudge of manifest_crosslink_end).
    parents = _rids(db, "SELECT pid FROM plink WHERE cid IN (SELECT value FROM json_each(?))", _json(came))
    return came | tagged | parents


def tips_of(moment: str) -> list[tuple[str, str, frozenset[str]]]:
    """(branch, check-in, kinds) of the tips at that moment."""
    return [(branch, hash_, frozenset(kinds)) for branch, hash_, kinds in json.loads(moment)["tips"]]


_SUMS = "SELECT count(*), coalesce(sum(objid), 0), coalesce(sum(objid*objid), 0)"


def _events(db: sqlite3.Connection) -> list[int]:
    return list(db.execute(f"{_SUMS} FROM event").fetchone())


def _tags(db: sqlite3.Connection, newest: int) -> list[int]:
    """Sums over the tags up to this one; the plus sign keeps SQLite on its index of (rid, tagid)."""
    return list(db.execute("SELECT count(*), coalesce(sum(rid), 0), coalesce(sum(rid*tagid), 0) FROM tagxref WHERE +rowid<=?",
                           (newest,)).fetchone())


def _state(db: sqlite3.Connection) -> str:
    """What touches artifacts without a trace of its own: secrecy, purges, rebuilds, settings of the site."""
    facts: list[Any] = [
        secrecy_mark(db),
        db.execute("SELECT mtime, value FROM config WHERE name='rebuilt'").fetchone(),
        [config_value(db, name) for name in CONFIG_THAT_MATTERS],
        [columns(db, table) for table in ("ticket", "ticketchng")],
    ]
    if has_table(db, "purgeevent"):
        facts.append(db.execute("SELECT max(peid) FROM purgeevent").fetchone())
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _rids(db: sqlite3.Connection, query: str, *values: object) -> set[int]:
    return {rid for (rid,) in db.execute(query, values)}


def _json(rids: set[int]) -> str:
    return json.dumps(sorted(rids))
