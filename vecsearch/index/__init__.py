"""Bringing the index up to the repository: find what changed, chunk it, embed the unseen, store it.

    run        one run: what is new, moved, gone, in batches
    embedding  vectors for a batch of documents, while the next is cut
    survey     what looks at all vectors: the floor and the map
    marks      by which a run knows that there is nothing to do

One transaction per batch; between batches the index is consistent and a killed run is completed by
the next one. An unchanged repository costs one look at its change mark and writes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from ..config import Settings
from ..fossil.repository import lenient_text, open_readonly
from ..report import Report
from ..store import connection
from ..types import Embedder
from .run import Progress, Run

__all__ = ["Progress", "Report", "Run", "index"]


def index(path: Path, embedder: Callable[[Settings], Embedder], *, rebuild: bool = False,
          progress: Progress = lambda done, expected: None) -> Report:
    """Index the repository at `path`. With `rebuild` everything is read and embedded anew, while the
    old vectors keep answering until the end. Raises RepositoryError, StoreError or EmbedError; what
    was stored before the fault stays."""
    open_readonly(path).close()
    db = connection.open_writable(path)
    db.text_factory = lenient_text
    try:
        return Run(db, embedder, rebuild, progress).go()
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()
