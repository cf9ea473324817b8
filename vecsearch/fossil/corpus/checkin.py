"""Check-ins: the comment as last amended, user, branch and the files touched. One passage each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from ...config import Settings
from ...types import Document, Passage, Source
from ..decode import tidy
from ..repository import HIDDEN, withheld
from .facts import among, fingerprint, unix_seconds

#: An import touches thousands of files; their names say nothing about it.
MOST_FILES = 40

#: Check-ins listed at a time: there may be hundreds of thousands.
PAGE = 2000

# Later amendments are in the e... columns (manifest_crosslink in src/manifest.c).
_COMMENT = "coalesce(e.ecomment, e.comment, '')"
_BRANCH = """coalesce((SELECT x.value FROM tagxref x WHERE x.rid=e.objid AND x.tagtype>0
                       AND x.tagid=(SELECT tagid FROM tag WHERE tagname='branch')), '')"""


def sources(db: sqlite3.Connection, settings: Settings, kind: str = "checkin", only: Iterable[str] | None = None) -> Iterator[Source]:
    """Every public check-in, the oldest first, or those of the hashes `only`. They are read a page at a time:
    between two sources no query is open, and the caller may write."""
    some, values = among("b.uuid", only)
    query = f"""SELECT b.uuid, b.rid, coalesce(e.euser, e.user, ''), e.mtime, {_COMMENT}, {_BRANCH}
                FROM event e JOIN blob b ON b.rid=e.objid
                WHERE e.type='ci' AND b.size>=0 AND NOT {withheld(db)} AND b.rid NOT IN ({HIDDEN}) {some}
                  AND (e.mtime, b.rid)>(?, ?) ORDER BY e.mtime, b.rid LIMIT {PAGE}"""
    last = (-1e9, 0)
    while rows := db.execute(query, (*values, *last)).fetchall():
        for hash_, rid, user, mtime, comment, branch in rows:
            seconds = unix_seconds(mtime)
            yield Source("checkin", hash_, None, fingerprint(user, seconds, comment, branch), rid, user=user, mtime=seconds)
        last = (rows[-1][3], rows[-1][1])


def count(db: sqlite3.Connection) -> int:
    """How many check-ins there are at most."""
    return db.execute("SELECT count(*) FROM event WHERE type='ci'").fetchone()[0]


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The comment, then branch and files. A check-in without a comment still has these."""
    comment, branch = db.execute(f"SELECT {_COMMENT}, {_BRANCH} FROM event e WHERE e.objid=?", (source.rid,)).fetchone()
    comment = tidy(comment).strip()
    title = comment.split("\n", 1)[0][:120] or f"check-in {source.hash[:10]}"
    text = "\n\n".join(filter(None, (comment, f"branch: {branch}" if branch else "", _files(db, source.rid))))
    return Document(source, title, "passages", passages=(Passage(text, title, source.user, source.mtime),))


def _files(db: sqlite3.Connection, rid: int) -> str:
    """What it added, changed or deleted; not what a merge carried over (`isaux`)."""
    names = [row[0] for row in db.execute(
        "SELECT DISTINCT f.name FROM mlink m JOIN filename f USING (fnid) WHERE m.mid=? AND NOT m.isaux ORDER BY f.name", (rid,))]
    more = [f"and {len(names) - MOST_FILES} more files"] if len(names) > MOST_FILES else []
    return "\n".join(names[:MOST_FILES] + more)
