"""What is known of the artifacts on a shelf beside their text: name, age, standing, whether they may be shown."""

from __future__ import annotations

import sqlite3

import numpy as np

from ..fossil import standing
from ..fossil.visible import visible
from ..store.reader import Reader
from ..store.shelf import Shelf
from .memory import Memory


class Known:
    """Columns over the artifacts of a shelf, filled when they are asked for and remembered.

    path object [n]: None where it has none; mtime int64 [n]: Unix time; closed bool [n]: a ticket that is done with;
    links int32 [n]: how many others refer to it; visible bool [n]: whether Fossil would show it now. What became
    private, shunned or hidden after the index run is not; what a peer shows is the peer's affair. `in_step`: nothing has changed
    since that run, which removed what Fossil would not show; then only the rest is asked about (hits.py asks about each hit all the same).
    """

    def __init__(self, db: sqlite3.Connection, reader: Reader, shelf: Shelf, memory: Memory, *, in_step: bool):
        self.db, self.reader, self.shelf, self.in_step = db, reader, shelf, in_step
        columns = memory.fact("known", lambda: _Columns(len(shelf.starts) - 1))
        self.read, self.path, self.mtime, self.closed, self.links, self.visible = (
            columns.read, columns.path, columns.mtime, columns.closed, columns.links, columns.visible)

    def ask(self, artifacts: np.ndarray) -> None:
        """Fill the columns for these artifacts, in one go."""
        missing = artifacts[~self.read[artifacts]]
        if not len(missing):
            return
        facts = self.reader.artifact_facts([int(i) for i in self.shelf.ids[self.shelf.starts[missing]]])
        own = [(kind, hash_) for kind, _, hash_, project, *_ in facts if not project]
        closed, links = standing.closed_tickets(self.db, own), standing.links_to(self.db, own)
        sure = {(kind, hash_) for kind, _, hash_, project, ours, _ in facts if ours and not project and self._left_by_a_run(kind)}
        shown = sure | visible(self.db, [key for key in own if key not in sure])
        self.path[missing] = [path for _, path, *_ in facts]
        self.mtime[missing] = [mtime for *_, mtime in facts]
        self.closed[missing] = [not project and hash_ in closed for _, _, hash_, project, *_ in facts]
        self.links[missing] = [0 if project else links.get(hash_, 0) for _, _, hash_, project, *_ in facts]
        self.visible[missing] = [bool(project) or (kind, hash_) in shown for kind, _, hash_, project, *_ in facts]
        self.read[missing] = True  # last: another thread may look

    def _left_by_a_run(self, kind: str) -> bool:
        """Whether the last run would have removed it if Fossil did not show it now. Of a ticket and of media it looks at less than `visible`."""
        return self.in_step and kind not in ("", "ticket", "media")


class _Columns:
    """About 30 bytes an artifact, and its path."""

    def __init__(self, count: int):
        self.read, self.closed, self.visible = (np.zeros(count, bool) for _ in range(3))
        self.path, self.mtime, self.links = np.full(count, None, object), np.zeros(count, np.int64), np.zeros(count, np.int32)
