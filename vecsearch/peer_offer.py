"""What a peer has to give: read from its tables, from the files it publishes, or over HTTP."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from . import publish
from .errors import BlobError, StoreError
from .fossil import access
from .fossil.repository import open_readonly
from .fossil.visible import visible
from .peer_http import fetcher
from .publish.outgoing import Outgoing
from .store import catalog, exchange, pack, unversioned, ve01
from .store.catalog import Catalog
from .store.exchange import Artifact
from .store.peer_list import Peer
from .store.reader import Reader
from .store.ve01 import Record
from .types import KINDS


@dataclass
class Offer:
    """What a peer has to give. `records` raises BlobError, or gives None for a blob that is not there."""

    catalog: Catalog
    records: Callable[[str], list[Record] | None]


def is_url(location: str) -> bool:
    """Whether a peer's location is a site, not a file."""
    return location.startswith(("http://", "https://"))


@contextmanager
def open_offer(peer: Peer) -> Iterator[Offer]:
    """What the peer has to give now. Raises StoreError, RepositoryError or BlobError."""
    if is_url(peer.location):
        yield _from_files(fetcher(peer.location))
        return
    with closing(open_readonly(Path(peer.location))) as theirs:
        theirs.execute("BEGIN")  # one moment of the peer, whatever writes to it meanwhile
        if "fx_vec_state" in Reader(theirs).tables:
            yield _from_tables(theirs, peer.trusted)
        else:
            yield _from_files(lambda name: unversioned.read(theirs, name))


def _from_tables(theirs: sqlite3.Connection, trusted: bool) -> Offer:
    """Only what may still be shown there, and unless trusted only what everybody may read there."""
    reader = Reader(theirs)
    state = reader.state()
    kinds = frozenset(KINDS) if trusted else access.visible_kinds(theirs, {})
    found = {artifact.hash: artifact for artifact in exchange.artifacts(theirs, kinds)}
    shown = visible(theirs, [(artifact.kind, hash_) for hash_, artifact in found.items()])
    found = {hash_: artifact for hash_, artifact in found.items() if (artifact.kind, hash_) in shown}
    files = Outgoing(theirs, state.model, kinds)
    digests = {hash_: _sha3(files.blob(hash_)) for hash_ in found}
    offered = Catalog(state.model, state.dim, 0, checkin=state.checkin, tips=reader.tips(), artifacts=found, digests=digests)
    return Offer(offered, lambda hash_: exchange.records(theirs, hash_, state.model))


def _from_files(read: Callable[[str], bytes | None]) -> Offer:
    """From vec/index.json and what it lists."""
    content = read(catalog.NAME)
    if content is None:
        raise StoreError(f"it publishes no {catalog.NAME}; run there: vecsearch index")
    listed = catalog.decode(content)
    packed = {name: _unpacked(read, name, digest) for name, digest in listed.packs.items() if publish.is_pack(name)}
    entries = {hash_: entry for some in packed.values() for hash_, entry in some.items()}
    checkins = {hash_: _described(hash_, meta) for hash_, (meta, _) in entries.items()}
    digests = {hash_: _sha3(blob) for hash_, (_, blob) in entries.items()}
    offered = replace(listed, artifacts={**listed.artifacts, **checkins}, digests={**listed.digests, **digests})

    def records(hash_: str) -> list[Record] | None:
        name = publish.blob_name(hash_)
        if not publish.hash_of(name):
            raise BlobError(f"{catalog.NAME}: {hash_[:80]!r} is no artifact's hash")
        blob = entries[hash_][1] if hash_ in entries else read(name)
        if blob is None or not publish.is_meant(blob, offered.digests[hash_]):
            return None
        return sorted(ve01.decode(blob, listed.dim, name), key=lambda record: record.seq)

    return Offer(offered, records)


def _unpacked(read: Callable[[str], bytes | None], name: str, digest: str) -> dict:
    content = read(name)
    if content is None or not publish.is_meant(content, digest):
        raise StoreError(f"{name} is not the one that the catalog lists; the peer is being written or synced, try again")
    return pack.decode(content, name)


def _described(hash_: str, meta: dict) -> Artifact:
    try:
        return catalog.described(hash_, meta)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise BlobError(f"{hash_[:80]}: not described as it must be: {type(error).__name__} {error}") from None


def _sha3(data: bytes) -> str:
    return hashlib.sha3_256(data).hexdigest()
