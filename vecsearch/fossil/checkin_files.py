"""The files of a check-in, from its manifest (Fossil's src/manifest.c, manifest_file_next)."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from ..errors import ArtifactError
from . import artifact, manifest


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file's artifact, and `x` for a program or `l` for a symbolic link."""

    hash: str
    perm: str = ""


def files_of(db: sqlite3.Connection, rid: int) -> dict[str, FileEntry]:
    """Path to file of the check-in in row `rid`, by path. Raises ArtifactError.

    A delta manifest names its baseline (B card) and lists only what differs from it; an F card
    without a hash takes a file away.
    """
    own = _parsed(rid, artifact.read(db, rid))
    listed = [own]
    if own.baseline:
        listed.insert(0, _parsed(rid, artifact.read_hash(db, own.baseline)))
    files = {file.name: FileEntry(file.hash, file.perm) for part in listed for file in part.files}
    return {name: entry for name, entry in sorted(files.items()) if entry.hash}


def _parsed(rid: int, content: bytes) -> manifest.Manifest:
    try:
        return manifest.parse(content)
    except ValueError as error:
        raise ArtifactError(f"check-in {rid}: no manifest: {error}") from error
