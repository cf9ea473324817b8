"""What several kinds of content need: times, fingerprints, markup names, parsed artifacts."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable

from ...errors import ArtifactError
from .. import artifact, manifest

#: N cards and what they are to us; Fossil's default is its own wiki markup.
_MARKUP = {"text/x-markdown": "markdown", "text/markdown": "markdown", "text/plain": "plain",
           "text/x-fossil-plain": "plain", "text/html": "html"}


def unix_seconds(julian: float | None) -> int:
    """Fossil keeps times as Julian day numbers."""
    return 0 if julian is None else round((julian - 2440587.5) * 86400)


def fingerprint(*facts: object) -> str:
    """A short string that changes with any of the facts."""
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def among(column: str, only: Iterable[str] | None) -> tuple[str, tuple[str, ...]]:
    """(SQL condition, its values): that a column is one of `only`; no condition for None."""
    if only is None:
        return "", ()
    return f"AND {column} IN (SELECT value FROM json_each(?))", (json.dumps(sorted(only)),)


def markup(mimetype: str) -> str:
    """Our name for the markup of a wiki page, technote or post."""
    return _MARKUP.get(mimetype, "wiki")


def cards(db: sqlite3.Connection, rid: int) -> manifest.Manifest:
    """The structural artifact in row `rid`. Raises ArtifactError."""
    content = artifact.read(db, rid)
    try:
        return manifest.parse(content)
    except ValueError as error:
        raise ArtifactError(f"artifact in row {rid}: {error}") from error
