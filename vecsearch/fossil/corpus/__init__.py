"""What of a repository belongs into the index now, and its text: one module per kind of content.

Each has `sources(db, settings, kind)`, a few set-based queries, and `document(db, settings, source)`.
Never a source: what is private, shunned, a phantom, hidden, waiting for a moderator, or deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from types import ModuleType

from ...config import Settings
from ...types import KINDS, Document, Source
from ..repository import HIDDEN, has_table, withheld
from . import checkin, files, forum, media, pages, ticket

_MODULES: dict[str, ModuleType] = {
    "instruction": files, "media": media, "doc": files, "code": files, "wiki": pages, "technote": pages,
    "ticket": ticket, "forum": forum, "checkin": checkin,
}


def sources(db: sqlite3.Connection, settings: Settings, kind: str) -> Iterator[Source]:
    """What of that kind belongs into the index now, in a fixed order. `api` is not in a repository."""
    if kind in _MODULES:
        yield from _MODULES[kind].sources(db, settings, kind)


def all_sources(db: sqlite3.Connection, settings: Settings) -> Iterator[Source]:
    """Every kind's sources; an artifact that could be several is claimed by the first of KINDS."""
    found = files.found(db, settings)
    seen: set[str] = set()
    for kind in KINDS:
        if kind in files.KINDS:
            some = _MODULES[kind].sources_of(db, [file for file in found if file.kind == kind])
        else:
            some = sources(db, settings, kind)
        for source in some:
            if source.hash not in seen:
                seen.add(source.hash)
                yield source


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The text of a source. Raises ArtifactError if it cannot be read."""
    return _MODULES[source.kind].document(db, settings, source)


def visible(db: sqlite3.Connection, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the (kind, hash) pairs that may still be shown: an index is stale by nature. Cheap
    enough to ask before each page of hits. What was imported (`api`) is in no repository and stays."""
    artifacts = {hash_ for kind, hash_ in keys if kind not in ("ticket", "api")}
    tickets = {hash_ for kind, hash_ in keys if kind == "ticket"}
    here = _visible_artifacts(db, artifacts) if artifacts else set()
    manifests = media.without_withheld_transcripts(db, {hash_ for kind, hash_ in keys if kind == "media"} & here)
    shown = {"ticket": _visible_tickets(db, tickets) if tickets else set(), "media": manifests}
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
