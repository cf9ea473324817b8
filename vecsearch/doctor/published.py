"""Unversioned files can be read by anyone, whatever the kind they were made from: is nothing there that
a visitor could not read in Fossil itself?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing

from .. import publish
from ..errors import BlobError, StoreError
from ..fossil import access
from ..fossil.repository import open_readonly
from ..store import catalog, unversioned
from ..store.reader import Reader
from .finding import Finding, Setup, broken, warning


def check(setup: Setup) -> Iterator[Finding]:
    with closing(open_readonly(setup.repository)) as db:
        try:
            settings = Reader(db).settings()
        except StoreError:  # content.check tells
            return
        names = unversioned.files(db)
        if catalog.NAME not in names:
            if publish.kinds(db, settings) and _has_run(db):
                yield broken("published", f"{catalog.NAME} is gone, so clones and peers get no index", "run: vecsearch rebuild")
            return
        try:
            listed = catalog.decode(unversioned.read(db, catalog.NAME) or b"")
        except BlobError as error:
            yield broken("published", f"{catalog.NAME}: {error}", "run: vecsearch index" if not unversioned.from_elsewhere(db) else "sync again")
            return
        yield from _whole(db, names, listed)
        kinds = {artifact.kind for artifact in listed.artifacts.values()} | ({"checkin"} if listed.packs else set())
        exposed = sorted(kinds - access.visible_kinds(db, {}))
        if not exposed or unversioned.from_elsewhere(db):
            return
        says = f"vec/*.bin hold {', '.join(exposed)}, which a visitor who is not logged in may not read in Fossil, yet anyone can fetch these files"
        if settings["publish"] == "all":
            yield warning("published", says + " (publish is all)", "vecsearch config publish public && vecsearch index")
        else:
            yield broken("published", says, "run: vecsearch index, which withdraws them")


def _has_run(db: sqlite3.Connection) -> bool:
    try:
        return bool(Reader(db).state().model)
    except StoreError:  # content.check tells
        return False


def _whole(db: sqlite3.Connection, names: Mapping[str, str], listed: catalog.Catalog) -> Iterator[Finding]:
    """Each file that the catalog lists is there, with the content that was meant."""
    meant = {publish.blob_name(hash_): digest for hash_, digest in listed.digests.items()} | dict(listed.packs)
    missing = [name for name, digest in meant.items() if names.get(name) != digest]
    damaged = [name for name in meant.keys() - set(missing) if not _is_sound(db, name, meant[name])]
    elsewhere = unversioned.from_elsewhere(db)
    if missing:
        yield broken("published", f"{len(missing)} files that {catalog.NAME} lists are gone or of another moment, such as {min(missing)}",
                     "run: fossil uv sync" if elsewhere else "run: vecsearch rebuild")
    if damaged:
        yield broken("published", f"{len(damaged)} unversioned files are damaged, such as {min(damaged)}",
                     f"remove them (fossil uv rm {min(damaged)}), then run: " + ("fossil uv sync" if elsewhere else "vecsearch rebuild"))


def _is_sound(db: sqlite3.Connection, name: str, digest: str) -> bool:
    try:
        return publish.is_meant(unversioned.read(db, name) or b"", digest)
    except BlobError:
        return False
