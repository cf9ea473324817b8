"""Unversioned files can be read by anyone, whatever the kind they were made from: is nothing there that
a visitor could not read in Fossil itself?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

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
            return
        try:
            listed = catalog.decode(unversioned.read(db, catalog.NAME) or b"")
        except BlobError as error:
            yield broken("published", f"{catalog.NAME}: {error}", "run: vecsearch index" if not unversioned.from_elsewhere(db) else "sync again")
            return
        kinds = {artifact.kind for artifact in listed.artifacts.values()} | ({"checkin"} if listed.packs else set())
        exposed = sorted(kinds - access.visible_kinds(db, {}))
        if not exposed or unversioned.from_elsewhere(db):
            return
        says = f"vec/*.bin hold {', '.join(exposed)}, which a visitor who is not logged in may not read in Fossil, yet anyone can fetch these files"
        if settings["publish"] == "all":
            yield warning("published", says + " (publish is all)", "vecsearch config publish public && vecsearch index")
        else:
            yield broken("published", says, "run: vecsearch index, which withdraws them")
