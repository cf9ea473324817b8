"""Wiki pages and technotes: the current version of each, by its tag (wiki-NAME, event-ID).

The current version is the newest that may be shown; while an edit waits for a moderator, the one
before it. The value of the tag is the size of the text: 0 for a page that was deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from ...config import Settings
from ...types import Document, Source
from ..decode import decode
from ..repository import HIDDEN, withheld
from .facts import among, cards, fingerprint, markup, unix_seconds

_TAGS = {"wiki": "wiki-", "technote": "event-"}


def sources(db: sqlite3.Connection, settings: Settings, kind: str, only: Iterable[str] | None = None) -> Iterator[Source]:
    """Pages by name, technotes by id; or those that have a version with one of the hashes `only`."""
    prefix = _TAGS[kind]
    some, values = among("b.uuid", only)
    ours = f"AND t.tagid IN (SELECT x.tagid FROM tagxref x JOIN blob b USING (rid) WHERE 1 {some})" if some else ""
    rows = db.execute(
        f"""WITH current AS (
              SELECT substr(t.tagname, ?) AS name, b.rid AS rid, b.uuid AS uuid, max(x.mtime), x.value AS size
              FROM tag t JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid
              WHERE t.tagname GLOB ? AND x.tagtype>0 AND b.size>=0 AND NOT {withheld(db)} {ours} GROUP BY t.tagid)
            SELECT c.name, c.rid, c.uuid, coalesce(e.euser, e.user, ''), e.mtime
            FROM current c LEFT JOIN event e ON e.objid=c.rid
            WHERE CAST(c.size AS INTEGER)>0 AND c.rid NOT IN ({HIDDEN}) ORDER BY c.name""",
        (len(prefix) + 1, prefix + "*", *values))
    for name, rid, hash_, user, mtime in rows:
        seconds = unix_seconds(mtime)
        yield Source(kind, hash_, name, fingerprint(kind, user, seconds), rid, user=user, mtime=seconds)


def related(db: sqlite3.Connection, kind: str, rids: str) -> set[str]:
    """The hashes of all versions of the pages of which there is one in `rids`, a JSON list of rows of `blob`."""
    return {hash_ for (hash_,) in db.execute(
        """SELECT b.uuid FROM tagxref x JOIN blob b USING (rid) WHERE x.tagid IN
           (SELECT t.tagid FROM tagxref r JOIN tag t USING (tagid)
            WHERE r.rid IN (SELECT value FROM json_each(?)) AND t.tagname GLOB ?)""", (rids, _TAGS[kind] + "*"))}


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The text of a page; a technote's title is its one-line comment. Raises ArtifactError."""
    page = cards(db, source.rid)
    title = page.comment.strip() if source.kind == "technote" else page.page
    decoded = decode(page.text, settings["max-file-kb"] << 10)
    return Document(source, title or source.path or "", markup(page.mimetype), decoded.text,
                    skipped=decoded.skipped, notes=decoded.notes)
