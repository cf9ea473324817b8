"""Other repositories whose index is searched along with this one.

Who sees a peer's hits (docs/decisions.md): what is taken in is only what anyone may read there, unless
the operator trusts the peer's readers to be ours; and here a visitor needs the same right as for our
own content of that kind. So neither repository's openness leaks the other's content.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from . import publish
from .errors import BlobError, StoreError, UsageError, VecsearchError
from .fossil.repository import open_readonly
from .incoming import entry_of
from .peer_http import without_login
from .peer_offer import Offer, is_url, open_offer
from .store import connection, peer_list
from .store.catalog import Catalog
from .store.exchange import Artifact
from .store.peer_list import Peer
from .store.reader import Reader
from .store.writer import Entry, Writer
from .types import KINDS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass
class PeerReport:
    """What an update of one peer did; `faults` name what could not be taken and was left as it was."""

    name: str
    taken: int = 0
    moved: int = 0
    removed: int = 0
    faults: list[str] = field(default_factory=list)

    def as_text(self) -> str:
        """One line for a person."""
        return f"{self.name}: took {self.taken} artifacts, moved {self.moved}, removed {self.removed}"


def add(path: Path, name: str, location: str, *, base_url: str = "", trusted: bool = False) -> PeerReport:
    """Take in the index of the repository file or site at `location` under the project `name`."""
    if not _NAME.fullmatch(name):
        raise UsageError(f'a peer\'s name has letters, digits, ".", "_", "-", not "{name}"')
    if base_url and urlsplit(base_url).scheme not in ("http", "https"):
        raise UsageError(f"--base-url must start with http:// or https://, not {base_url}")
    with _writable(path) as db:
        taken = {peer.name for peer in peer_list.peers(db)} | set(Reader(db).projects(KINDS))
        if name in taken:
            raise UsageError(f"there is a project {name} already; see: vecsearch peer list")
        if not is_url(location) and Path(location).exists() and Path(location).samefile(path):
            raise UsageError(f"{location} is this repository itself; a peer is another one")
        number = 1 + max((peer.number for peer in peer_list.peers(db)), default=0)
        place = location if is_url(location) else str(Path(location).resolve())
        base = base_url or (without_login(location) if is_url(location) else "")
        return _update(db, Peer(number, name, place, base.rstrip("/"), trusted, "", {}))


def update(path: Path, names: Iterable[str] = ()) -> list[PeerReport]:
    """Bring the named peers, or all, up to date. One that cannot be read keeps what was taken before."""
    wanted = set(names)
    with _writable(path) as db:
        known = peer_list.peers(db)
        if unknown := wanted - {peer.name for peer in known}:
            raise UsageError(f"there is no peer {', '.join(sorted(unknown))}; see: vecsearch peer list")
        return [_update_or_say_why(db, peer) for peer in known if not wanted or peer.name in wanted]


def _update_or_say_why(db: sqlite3.Connection, peer: Peer) -> PeerReport:
    try:
        return _update(db, peer)
    except (VecsearchError, sqlite3.Error) as error:
        return PeerReport(peer.name, faults=[f"{peer.name}: {error}; what was taken before stays"])


def remove(path: Path, name: str) -> int:
    """Forget a peer and all that came from it; how many artifacts that were."""
    with _writable(path) as db:
        if name not in {peer.name for peer in peer_list.peers(db)}:
            raise UsageError(f"there is no peer {name}; see: vecsearch peer list")
        rows = peer_list.sources(db, name)
        with connection.transaction(db):
            writer = Writer(db)
            writer.remove(facts[0] for facts in rows.values())
            writer.forget_words()
            peer_list.forget(db, name)
        connection.overwrite_log(db)
        return len(rows)


def listing(path: Path) -> list[tuple[Peer, int]]:
    """Each peer and how many artifacts came from it."""
    with closing(open_readonly(path)) as db:
        return [(peer, len(peer_list.sources(db, peer.name))) for peer in peer_list.peers(db)]


@contextmanager
def _writable(path: Path) -> Iterator[sqlite3.Connection]:
    open_readonly(path).close()
    db = connection.open_writable(path)
    try:
        yield db
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()


def _update(db: sqlite3.Connection, peer: Peer) -> PeerReport:
    """Read everything first, then write it in one transaction."""
    with open_offer(peer) as offer:
        _require_same_model(db, peer, offer.catalog)
        known = peer_list.sources(db, peer.name)
        report = PeerReport(peer.name)
        entries, moved = _changes(peer, offer, known, report)
    gone = [facts[0] for hash_, facts in known.items() if hash_ not in offer.catalog.artifacts]
    with connection.transaction(db):
        writer = Writer(db)
        for entry in entries:
            writer.put(entry, offer.catalog.model, peer.name)
        for artifact in moved:
            writer.relocate(known[artifact.hash][0], artifact.kind, artifact.path, artifact.branch, artifact.also)
        writer.remove(gone)
        if gone:
            writer.forget_words()  # a peer removes what may no longer be read there
        peer_list.save(db, replace(peer, checkin=offer.catalog.checkin, tips=dict(offer.catalog.tips)))
    if gone:
        connection.overwrite_log(db)
    report.taken, report.moved, report.removed = len(entries), len(moved), len(gone)
    return report


def _require_same_model(db: sqlite3.Connection, peer: Peer, theirs: Catalog) -> None:
    ours = Reader(db).state()
    if (ours.model, ours.dim) != (theirs.model, theirs.dim):
        raise StoreError(f"{peer.name} is indexed by {theirs.model} ({theirs.dim}), this repository by {ours.model} ({ours.dim}):"
                         " their scores cannot be compared; index both with the same model")


def _changes(peer: Peer, offer: Offer, known: dict, report: PeerReport) -> tuple[list[Entry], list[Artifact]]:
    entries, moved = [], []
    for hash_, artifact in offer.catalog.artifacts.items():
        if artifact.kind == "api":
            continue  # a library is taken in where it is wanted
        facts = known.get(hash_)
        fingerprint = _fingerprint(artifact, offer.catalog.digests[hash_])
        if facts and facts[2] == fingerprint:
            if (facts[1], *facts[3:]) != (artifact.kind, artifact.path, artifact.branch):
                moved.append(artifact)
            continue
        try:
            records = offer.records(hash_)
            if records is None:
                raise BlobError(f"{publish.blob_name(hash_)}: the catalog lists it, but it is not there or not the one meant")
            entries.append(entry_of(artifact, records, fingerprint, offer.catalog.dim, peer.number))
        except BlobError as error:
            report.faults.append(f"{peer.name}: {error}")
    return entries, moved


def _fingerprint(artifact: Artifact, digest: str) -> str:
    """Changes with whatever a hit shows, but not with where the artifact stands."""
    title = "" if artifact.title == artifact.path else artifact.title
    facts = repr((replace(artifact, kind="", path=None, title=title, branch=""), digest))
    return hashlib.sha3_256(facts.encode("utf-8", "surrogatepass")).hexdigest()
