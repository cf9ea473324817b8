"""Where a hit opens: in this repository, in a peer's, or in a library's own documentation."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ..fossil import links
from ..store import peer_list
from ..store.reader import Reader, StoredChunk


class Addresses:
    """Addresses of hits, for pages that stand below `base_url`."""

    def __init__(self, reader: Reader, base_url: str):
        self.base_url, self.libraries = base_url, reader.library_templates()
        self.peers = {peer.name: peer for peer in peer_list.peers(reader.db)}

    def checkin(self, chunk: StoredChunk, tips: Mapping[str, str], newest: str) -> str:
        """The check-in at which the hit's artifact was read, the peer's for a peer's."""
        if peer := self.peers.get(chunk.project):
            return peer.tips.get(chunk.branch, peer.checkin)
        return tips.get(chunk.branch, newest)

    def of(self, chunk: StoredChunk, ci: str, fragment: str = "") -> str:
        """The address, "" for a library that has none; `fragment` as landing.py makes it."""
        if chunk.kind == "api" and chunk.project:
            return self._in_library(self.libraries.get(chunk.project, ""), chunk.path or "")
        if peer := self.peers.get(chunk.project):
            return links.url(chunk.kind, chunk.path, chunk.hash, ci, chunk.lines, peer.base_url, fragment) if peer.base_url else ""
        return links.url(chunk.kind, chunk.path, chunk.hash, ci, chunk.lines, self.base_url, fragment)

    def _in_library(self, template: str, name: str) -> str:
        address = template.replace("{name}", quote(name, safe=""))
        return self.base_url + address if address.startswith("/") else address
