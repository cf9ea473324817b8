"""What of a repository belongs into the index now, and its text: one module per kind of content.

Each has `sources(db, settings, kind)`, a few set-based queries, and `document(db, settings, source)`.
Never a source: what is private, shunned, a phantom, hidden, waiting for a moderator, or deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from ...config import Settings
from ...types import KINDS, Document, Source
from .. import since
from ..repository import HIDDEN, has_table, withheld
from . import checkin, files, forum, media, pages, ticket

#: Raised whenever the same repository would be listed otherwise: an index of before is then looked through.
LISTING_VERSION = 2

_MODULES: dict[str, ModuleType] = {
    "instruction": files, "media": media, "doc": files, "code": files, "wiki": pages, "technote": pages,
    "ticket": ticket, "forum": forum, "checkin": checkin,
}


def sources(db: sqlite3.Connection, settings: Settings, kind: str) -> Iterator[Source]:
    """What of that kind belongs into the index now, in a fixed order. `api` is not in a repository."""
    if kind in _MODULES:
        yield from _MODULES[kind].sources(db, settings, kind)


@dataclass(frozen=True, slots=True)
class Listing:
    """What belongs into the index; with a `scope`, of the artifacts with these hashes only: all others
    are as they were. The `sources` come once, about `expected` of them, without a query being held open."""

    sources: Iterable[Source]
    expected: int
    scope: frozenset[str] | None


def listing(db: sqlite3.Connection, settings: Settings, moment: str = "", always: Collection[str] = ()) -> Listing:
    """What may have changed since a moment that `since.remember` gave, and the artifacts `always`; everything,
    where that cannot be told or no moment is given."""
    rids = since.touched(db, moment)
    scope = _scope(db, settings, moment, rids) if rids is not None else None
    if scope is not None:
        found = list(all_sources(db, settings, scope.union(always)))
        return Listing(found, len(found), frozenset(scope.union(always)))
    found = files.found(db, settings)
    return Listing(_claimed(db, settings, found, None), len(found) + checkin.count(db), None)


def _scope(db: sqlite3.Connection, settings: Settings, moment: str, rids: set[int]) -> set[str] | None:
    """The hashes of all that the touched rows of `blob` have to do with."""
    hashes = files.related(db, settings, since.tips_of(moment), json.dumps(sorted(rids)))
    if hashes is None:
        return None
    rows = json.dumps(sorted(rids | {rid for (rid,) in db.execute(
        "SELECT b.rid FROM json_each(?) j JOIN blob b ON b.uuid=j.value", (json.dumps(sorted(hashes)),))}))
    hashes |= {hash_ for (hash_,) in db.execute("SELECT b.uuid FROM json_each(?) j JOIN blob b ON b.rid=j.value", (rows,))}
    for kind, module in _MODULES.items():
        if module in (pages, ticket, forum):
            hashes |= module.related(db, kind, rows)
    return hashes


def all_sources(db: sqlite3.Connection, settings: Settings, only: set[str] | None = None) -> Iterator[Source]:
    """Every kind's sources, or those of the hashes `only`; an artifact that could be several is claimed by
    the first of KINDS. No query is open between two of them."""
    return _claimed(db, settings, files.found(db, settings, only), only)


def _claimed(db: sqlite3.Connection, settings: Settings, found: list[files.Found], only: set[str] | None) -> Iterator[Source]:
    seen: set[str] = set()
    paths = files.paths(found)
    for kind in KINDS:
        for source in _of_kind(db, settings, kind, found, only):
            if source.hash not in seen:
                if kind != "checkin":  # none of these comes twice, and there may be many
                    seen.add(source.hash)
                also = paths.get(source.hash, frozenset()) - {source.path}
                yield replace(source, also=tuple(sorted(also)[:files.MOST_PATHS])) if also else source


def _of_kind(db: sqlite3.Connection, settings: Settings, kind: str, found: list[files.Found], only: set[str] | None) -> Iterable[Source]:
    module = _MODULES.get(kind)
    if module is None:
        return ()  # `api` is not in a repository
    if kind in files.KINDS:
        return list(module.sources_of(db, [file for file in found if file.kind == kind]))
    listed = module.sources(db, settings, kind, only)
    return listed if kind == "checkin" else list(listed)


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
