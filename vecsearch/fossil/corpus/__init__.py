"""What of a repository belongs into the index now, and its text: one module per kind of content.

Each has `sources(db, settings, kind)`, a few set-based queries, and `document(db, settings, source)`.
Never a source: what is private, shunned, a phantom, hidden, waiting for a moderator, or deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from ...config import Settings
from ...types import KINDS, Document, Source
from .. import since
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
