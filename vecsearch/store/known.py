"""What the index knows of this repository's own artifacts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """An artifact as it was indexed; `id` is its row of fx_vec_source."""

    id: int
    kind: str
    fingerprint: str
    path: str | None
    branch: str
    mtime: int
    also: tuple[str, ...] = ()


_ROWS = """SELECT CAST(hash AS TEXT), id, CAST(kind AS TEXT), CAST(fingerprint AS TEXT), CAST(path AS TEXT), CAST(branch AS TEXT),
 CAST(mtime AS INTEGER), (SELECT group_concat(path, char(10)) FROM (SELECT path FROM fx_vec_alias a WHERE a.source_id=s.id ORDER BY path))
 FROM fx_vec_source s WHERE project='' AND kind<>'api'"""


def sources(db: sqlite3.Connection, hashes: Iterable[str] | None = None) -> dict[str, Known]:
    """By hash; of these hashes only, if any are given."""
    if hashes is None:
        rows = db.execute(_ROWS)
    else:
        rows = db.execute(f"{_ROWS} AND hash IN (SELECT value FROM json_each(?))", (json.dumps(sorted(hashes)),))
    return {hash_: Known(*facts, tuple(also.split("\n")) if also else ()) for hash_, *facts, also in rows}


def hashes_of(db: sqlite3.Connection, kind: str) -> set[str]:
    """The artifacts of a kind."""
    return {hash_ for (hash_,) in db.execute("SELECT hash FROM fx_vec_source WHERE project='' AND kind=?", (kind,))}
