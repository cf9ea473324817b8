"""One visit: the repository, read-only, and what this visitor may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import current_app, request

from ..fossil import access, repository


@contextmanager
def visit() -> Iterator[tuple[sqlite3.Connection, frozenset[str]]]:
    """(connection, kinds): nothing but these kinds is looked at, counted or named."""
    db = repository.open_readonly(Path(current_app.config["REPOSITORY"]))
    try:
        yield db, access.visible_kinds(db, request.environ)
    finally:
        db.close()
