"""Keeps the unversioned files in step with the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..config import Settings
from ..errors import BlobError
from ..store import catalog, pack, unversioned, ve01
from ..store.known import Known
from ..types import Embedder, Source
from . import blob_name, hash_of, is_pack, kinds, month_of, pack_name
from .outgoing import Outgoing


class Publisher:
    """Each method is called inside the transaction that changes the tables."""

    def __init__(self, db: sqlite3.Connection, settings: Settings, embedder: Embedder, mute: bool = False):
        self.db, self.embedder, self.settings = db, embedder, settings
        self.silent = mute or (settings["publish"] == "auto" and unversioned.from_elsewhere(db))
        self.kinds = frozenset() if mute else kinds(db, settings)
        self.files = Outgoing(db, embedder.model, self.kinds)
        #: What the last catalog says of each artifact, as JSON has it, and the months of its packs.
        self.listed: dict[str, dict[str, Any]] = {}
        self.months: set[str] = set()
        #: Artifacts whose file, and months whose pack, is what the tables hold.
        self.exported: set[str] = set()
        self.packed: set[str] = set()
        #: Artifacts of which the catalog must speak anew, or no more.
        self.changed: set[str] = set()
        self.withdrawn: set[str] = set()

    @property
    def mark(self) -> str:
        """Changes whenever other artifacts are to be published than before."""
        return repr((sorted(self.kinds), self.silent))

    def begin(self) -> None:
        """Go on from the last catalog. Blobs of another model must not stand beside a catalog that
        names it: such a catalog is emptied first."""
        present = unversioned.files(self.db)
        if catalog.NAME not in present or not self.kinds:
            return
        try:
            old, listed = catalog.split(unversioned.read(self.db, catalog.NAME) or b"")
        except BlobError:
            old, listed = catalog.Catalog("", 0, 0), {}
        if (old.model, old.dim) == (self.embedder.model, self.embedder.dim):
            self.listed, self.months = listed, {month_of(name) for name in old.packs}
            self.exported = {hash_ for hash_, entry in listed.items() if present.get(blob_name(hash_)) == entry.get("blob")}
            self.packed = {month_of(name) for name, was in old.packs.items() if present.get(name) == was}
        else:
            unversioned.put(self.db, catalog.NAME, catalog.encode(self.files.head(self.embedder.dim, {}, "", {})))

    def put(self, stored: Iterable[tuple[Source, Known | None]]) -> None:
        """Export what was just stored, in place of what was known of it; packs wait for `finish`."""
        for source, before in stored:
            if source.kind == "checkin":
                self._repack(source.mtime, before.mtime if before else source.mtime)
            elif source.kind in self.kinds:
                self._export(source.hash)
            else:
                self.withdraw([(source.kind, source.hash, source.mtime)])

    def moved(self, sources: Iterable[Source]) -> None:
        """They stand elsewhere; their blobs do not say where."""
        self.changed.update(source.hash for source in sources)

    def withdraw(self, artifacts: Iterable[tuple[str, str, int]]) -> None:
        """What these (kind, hash, time) were is gone from the tables."""
        for kind, hash_, mtime in artifacts:
            if kind == "checkin":
                self._repack(mtime)
            elif hash_ in self.exported or hash_ in self.listed:
                self.exported.discard(hash_)
                self.withdrawn.add(hash_)
                unversioned.remove(self.db, blob_name(hash_))

    def finish(self, tips: Mapping[str, str], checkin: str, whole: bool) -> None:
        """Export what is missing, prune what is stale, and write the catalog of what is there. Unless `whole`,
        what this object was not told of is as the last catalog has it."""
        if self.silent:
            return
        whole = whole or not self.listed
        if whole:
            wanted, self.months = self.files.hashes(), self.files.months()
        else:
            wanted = self.exported | (self.listed.keys() - self.withdrawn)
        for hash_ in wanted - self.exported:
            self._export(hash_)
        self.exported &= wanted
        self._write_packs()
        present = self._prune()
        if self.kinds:
            packs = {pack_name(month): present[pack_name(month)] for month in self.packed}
            entries = self._entries(whole, present)
            unversioned.put(self.db, catalog.NAME, catalog.write(self.files.head(self.embedder.dim, tips, checkin, packs), entries))

    def _export(self, hash_: str) -> None:
        blob = self.files.blob(hash_)
        if len(blob) > len(ve01.MAGIC):
            unversioned.put(self.db, blob_name(hash_), blob)
            self.exported.add(hash_)
            self.changed.add(hash_)
            self.withdrawn.discard(hash_)
        else:
            self.withdraw([("", hash_, 0)])

    def _repack(self, *mtimes: int) -> None:
        months = {f"{datetime.fromtimestamp(mtime, UTC):%Y-%m}" for mtime in mtimes}
        self.months |= months
        self.packed -= months

    def _write_packs(self) -> None:
        if "checkin" not in self.kinds:
            self.months, self.packed = set(), set()  # those of an earlier run are pruned
            return
        for month in sorted(self.months - self.packed):
            content = self.files.pack(month)
            if len(content) > len(pack.MAGIC):
                unversioned.put(self.db, pack_name(month), content)
                self.packed.add(month)
        self.months &= self.packed

    def _prune(self) -> dict[str, str]:
        """name -> hash of the files that stay. Whoever publishes prunes every stale blob; whoever does not
        withdraws only what it wrote."""
        wanted = {blob_name(hash_) for hash_ in self.exported} | {pack_name(month) for month in self.packed}
        present = unversioned.files(self.db, written_here=not self.kinds)
        for name in present.keys() - wanted - ({catalog.NAME} if self.kinds else set()):
            if hash_of(name) or is_pack(name) or name == catalog.NAME:
                unversioned.remove(self.db, name)
        return present

    def _entries(self, whole: bool, present: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the catalog says of each exported artifact, by hash."""
        if whole:
            found: Iterable[tuple[str, dict]] = self.files.entries()
        else:
            found = sorted(((self.listed | dict(self.files.entries(self.changed))).items()))
        return ((hash_, entry | {"blob": present[blob_name(hash_)]}) for hash_, entry in found if hash_ in self.exported)
