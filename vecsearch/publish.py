"""From the tables to the files that travel: vec/HASH.bin, packs of check-ins, vec/index.json.

Unversioned files have no readers' list. Fossil hands one to whoever asks `/xfer` for it by name
(`uvgimme`), with no capability at all, on 2.21 and 2.28 alike. So by default only those kinds are
published that a visitor who is not logged in may read.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from .chunk import CHUNKER_VERSION
from .config import Settings
from .errors import BlobError
from .fossil import access
from .fossil.repository import project_name
from .store import catalog, exchange, pack, unversioned, ve01
from .store.exchange import Artifact
from .store.reader import Reader
from .types import KINDS, Embedder, Source

_BLOB = re.compile(r"vec/([0-9a-f]{40}|[0-9a-f]{64})\.bin")
_PACK = re.compile(r"vec/checkins-\d{4}-\d{2}\.pack")


def blob_name(hash_: str) -> str:
    """The unversioned file of an artifact."""
    return f"vec/{hash_}.bin"


def hash_of(name: str) -> str:
    """The artifact of an unversioned file, "" if it is no artifact's."""
    found = _BLOB.fullmatch(name)
    return found[1] if found else ""


def is_pack(name: str) -> bool:
    """Whether an unversioned file holds packed check-ins."""
    return _PACK.fullmatch(name) is not None


def is_meant(content: bytes, digest: str) -> bool:
    """Whether a file has the content that the catalog lists, by Fossil's own hash of it."""
    algorithm = hashlib.sha1 if len(digest) == 40 else hashlib.sha3_256
    return algorithm(content).hexdigest() == digest


def kinds(db: sqlite3.Connection, settings: Settings) -> frozenset[str]:
    """The kinds that this repository publishes."""
    if not reason_for_silence(db, settings):
        return frozenset(KINDS) if settings["publish"] == "all" else access.visible_kinds(db, {})
    return frozenset()


def reason_for_silence(db: sqlite3.Connection, settings: Settings) -> str:
    """Why nothing at all is published, "" if something may be."""
    if settings["publish"] == "none":
        return "the setting publish is none"
    if settings["publish"] == "auto" and unversioned.from_elsewhere(db):
        return "the files came from another repository, which publishes them; to publish here: vecsearch config publish public"
    return ""


def facts(db: sqlite3.Connection, settings: Settings) -> dict[str, str]:
    """kind -> "" if it is published, else why not."""
    silence, published = reason_for_silence(db, settings), kinds(db, settings)
    closed = "a visitor who is not logged in may not read it, and anyone can read unversioned files"
    return {kind: "" if kind in published else silence or closed for kind in KINDS}


class Outgoing:
    """The files of some kinds, made from the tables when asked for."""

    def __init__(self, db: sqlite3.Connection, model: str, wanted: Iterable[str]):
        self.db, self.model, self.kinds = db, model, frozenset(wanted)

    def blob(self, hash_: str) -> bytes:
        """The VE01 blob of one artifact, without a record if it has no vector of the model."""
        return ve01.encode(exchange.records(self.db, hash_, self.model))

    def artifacts(self) -> dict[str, Artifact]:
        """What has a blob of its own, by hash."""
        return {artifact.hash: artifact for artifact in self._stored(self.kinds - {"checkin"})}

    def _stored(self, kinds: frozenset[str]) -> Iterator[Artifact]:
        return exchange.artifacts(self.db, kinds, Reader(self.db).library_templates())

    def packs(self) -> dict[str, str]:
        """Pack name -> the month whose check-ins it holds."""
        return {f"vec/checkins-{month}.pack": month for month in exchange.checkin_months(self.db)} if "checkin" in self.kinds else {}

    def packed(self, months: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(pack name, content) of the check-ins of some months."""
        by_name: dict[str, list[Artifact]] = {}
        for artifact in exchange.artifacts(self.db, {"checkin"}, months=months):
            by_name.setdefault(_pack_name(artifact.mtime), []).append(artifact)
        for name, checkins in by_name.items():
            yield name, pack.encode((catalog.describe(a) | {"hash": a.hash}, self.blob(a.hash)) for a in checkins)

    def catalog(self, dim: int, listed: Mapping[str, Artifact], digests: Mapping[str, str], packs: Mapping[str, str],
                tips: Mapping[str, str], checkin: str) -> bytes:
        """vec/index.json over artifacts and packs, each with the hash of its file."""
        reader = Reader(self.db)
        floor = reader.mark("floor")
        about_files = {"checkin": checkin, "tips": tips, "settings": exchange.shaping_settings(self.db),
                       "libraries": reader.library_templates()} if "api" in self.kinds else {}
        return catalog.encode(catalog.Catalog(
            model=self.model, dim=dim, chunker=CHUNKER_VERSION, project=project_name(self.db), marks={"floor": floor} if floor else {},
            packs=packs, artifacts=listed, digests=digests, **about_files))


def _pack_name(mtime: int) -> str:
    return f"vec/checkins-{datetime.fromtimestamp(mtime, UTC):%Y-%m}.pack"


class Publisher:
    """Keeps the unversioned files in step with the tables. Each method is called inside the
    transaction that changes the tables."""

    def __init__(self, db: sqlite3.Connection, settings: Settings, embedder: Embedder, mute: bool = False):
        self.db, self.embedder, self.settings = db, embedder, settings
        self.silent = mute or (settings["publish"] == "auto" and unversioned.from_elsewhere(db))
        self.kinds = frozenset() if mute else kinds(db, settings)
        self.files = Outgoing(db, embedder.model, self.kinds)
        #: Artifacts and packs whose file is what the tables hold.
        self.exported: set[str] = set()
        self.packed: set[str] = set()

    def begin(self) -> None:
        """Go on from the last catalog. Blobs of another model must not stand beside a catalog that
        names it: such a catalog is emptied first."""
        present = unversioned.files(self.db)
        if catalog.NAME not in present or not self.kinds:
            return
        try:
            old = catalog.decode(unversioned.read(self.db, catalog.NAME) or b"")
        except BlobError:
            old = catalog.Catalog("", 0, 0)
        if (old.model, old.dim) == (self.embedder.model, self.embedder.dim):
            self.exported = {hash_ for hash_, was in old.digests.items() if present.get(blob_name(hash_)) == was}
            self.packed = {name for name, was in old.packs.items() if present.get(name) == was}
        else:
            unversioned.put(self.db, catalog.NAME, self.files.catalog(self.embedder.dim, {}, {}, {}, {}, ""))

    def put(self, sources: Iterable[Source]) -> None:
        """Export what was just stored; packs wait for `finish`."""
        for source in sources:
            if source.kind == "checkin":
                self.packed.discard(_pack_name(source.mtime))
            elif source.kind in self.kinds:
                self._export(source.hash)

    def _export(self, hash_: str) -> None:
        blob = self.files.blob(hash_)
        if len(blob) > len(ve01.MAGIC):
            unversioned.put(self.db, blob_name(hash_), blob)
            self.exported.add(hash_)

    def withdraw(self, artifacts: Iterable[tuple[str, str]]) -> None:
        """The (kind, hash) pairs are gone from the tables."""
        for kind, hash_ in artifacts:
            if kind == "checkin":
                self.packed.clear()  # nobody knows the month any more
            elif hash_ in self.exported:
                self.exported.remove(hash_)
                unversioned.remove(self.db, blob_name(hash_))

    def finish(self, tips: Mapping[str, str], checkin: str) -> None:
        """Export what is missing, prune what is stale, and write the catalog of what is there."""
        if self.silent:
            return
        wanted, months = self.files.artifacts(), self.files.packs()
        for hash_ in wanted.keys() - self.exported:
            self._export(hash_)
        missing = [month for name, month in months.items() if name not in self.packed]
        for name, content in self.files.packed(missing) if missing else ():
            unversioned.put(self.db, name, content)
        self.exported &= wanted.keys()
        self.packed = set(months)
        self._prune()
        if self.kinds:
            present = unversioned.files(self.db)
            digests = {hash_: present[blob_name(hash_)] for hash_ in self.exported}
            packs = {name: present[name] for name in self.packed}
            listed = {hash_: wanted[hash_] for hash_ in digests}
            unversioned.put(self.db, catalog.NAME, self.files.catalog(self.embedder.dim, listed, digests, packs, tips, checkin))

    def _prune(self) -> None:
        """Whoever publishes prunes every stale blob; whoever does not withdraws only what it wrote."""
        wanted = {blob_name(hash_) for hash_ in self.exported} | self.packed | ({catalog.NAME} if self.kinds else set())
        for name in unversioned.files(self.db, written_here=not self.kinds).keys() - wanted:
            if hash_of(name) or is_pack(name) or name == catalog.NAME:
                unversioned.remove(self.db, name)
