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


def changed(db: sqlite3.Connection, before: int, rid: int) -> set[str]:
    """The contents whose places differ between two check-ins, by hash. Raises ArtifactError.

    Most of two neighbouring manifests is equal line by line, and is not taken apart.
    """
    old, new = (_lines(row, artifact.read(db, row)) for row in (before, rid))
    if old is None or new is None:
        return {entry.hash for _, entry in files_of(db, before).items() ^ files_of(db, rid).items()}
    return {file.hash for file in map(manifest.file_of, set(old) ^ set(new))}


def files_holding(db: sqlite3.Connection, rid: int, hashes: set[str]) -> dict[str, FileEntry]:
    """`files_of`, but only the files that have one of these contents."""
    lines = _lines(rid, artifact.read(db, rid))
    if lines is None:
        return {name: entry for name, entry in files_of(db, rid).items() if entry.hash in hashes}
    wanted = {hash_.encode() for hash_ in hashes}
    found = [manifest.file_of(line) for line in lines if line.split(b" ", 3)[2] in wanted]
    return {file.name: FileEntry(file.hash, file.perm) for file in sorted(found, key=lambda file: file.name)}


def _lines(rid: int, content: bytes) -> list[bytes] | None:
    """The F cards as they stand; None if these alone do not make the list of files."""
    try:
        return manifest.file_lines(content)
    except ValueError as error:
        raise ArtifactError(f"check-in {rid}: no manifest: {error}") from error


def _parsed(rid: int, content: bytes) -> manifest.Manifest:
    try:
        return manifest.parse(content)
    except ValueError as error:
        raise ArtifactError(f"check-in {rid}: no manifest: {error}") from error
