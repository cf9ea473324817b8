"""The peers: other repositories whose indexes were taken in."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """Another repository whose index was taken in. `tips` maps its branches to check-ins."""

    number: int
    name: str
    location: str
    base_url: str
    trusted: bool
    checkin: str
    tips: dict[str, str]


def peers(db: sqlite3.Connection) -> list[Peer]:
    """The peers by name; none where the table is missing."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name='fx_vec_peer'").fetchone() is None:
        return []
    rows = db.execute("SELECT number, name, location, base_url, trusted, checkin, tips FROM fx_vec_peer ORDER BY name")
    return [Peer(number, name, location, base, bool(trusted), checkin, json.loads(tips))
            for number, name, location, base, trusted, checkin, tips in rows]


def save(db: sqlite3.Connection, peer: Peer) -> None:
    """Add a peer or replace what is known of it."""
    db.execute("INSERT OR REPLACE INTO fx_vec_peer VALUES(?,?,?,?,?,?,?)",
               (peer.number, peer.name, peer.location, peer.base_url, peer.trusted, peer.checkin, json.dumps(peer.tips)))


def forget(db: sqlite3.Connection, name: str) -> None:
    """Remove the peer itself; its artifacts are the writer's to remove."""
    db.execute("DELETE FROM fx_vec_peer WHERE name=?", (name,))


def sources(db: sqlite3.Connection, name: str) -> dict[str, tuple[int, str, str, str | None, str]]:
    """hash -> (id, kind, fingerprint, path, branch) of what was taken in from a peer."""
    rows = db.execute("SELECT hash, id, kind, fingerprint, path, branch FROM fx_vec_source WHERE project=?", (name,))
    return {row[0]: row[1:] for row in rows}
