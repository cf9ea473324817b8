"""Check-ins: the comment as last amended, user, branch and the files touched. One passage each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ...config import Settings
from ...types import Document, Passage, Source
from ..decode import tidy
from ..repository import HIDDEN, withheld
from .facts import fingerprint, unix_seconds

#: An import touches thousands of files; their names say nothing about it.
MOST_FILES = 40

# Later amendments are in the e... columns (manifest_crosslink in src/manifest.c).
_COMMENT = "coalesce(e.ecomment, e.comment, '')"
_BRANCH = """coalesce((SELECT x.value FROM tagxref x WHERE x.rid=e.objid AND x.tagtype>0
                       AND x.tagid=(SELECT tagid FROM tag WHERE tagname='branch')), '')"""


def sources(db: sqlite3.Connection, settings: Settings, kind: str = "checkin") -> Iterator[Source]:
    """Every public check-in, the oldest first: one query."""
    rows = db.execute(
        f"""SELECT b.uuid, b.rid, coalesce(e.euser, e.user, ''), e.mtime, {_COMMENT}, {_BRANCH}
            FROM event e JOIN blob b ON b.rid=e.objid
            WHERE e.type='ci' AND b.size>=0 AND NOT {withheld(db)} AND b.rid NOT IN ({HIDDEN}) ORDER BY e.mtime, b.rid""")
    for hash_, rid, user, mtime, comment, branch in rows:
        seconds = unix_seconds(mtime)
        yield Source("checkin", hash_, None, fingerprint(user, seconds, comment, branch), rid, user=user, mtime=seconds)


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
