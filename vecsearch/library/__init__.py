"""Kind `api`: an external library's public definitions, taken in by command.

Its project is the library's name, an artifact is one definition, and its hash is that of its text and
name, so that a new version re-embeds only what changed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..config import Settings
from ..errors import UsageError
from ..fossil.repository import open_readonly
from ..index import Run
from ..store import connection, peer_list
from ..store.reader import Reader
from ..store.writer import Writer
from ..types import Chunk, Document, Embedder, Source
from . import directory, fossil_help

#: Embedded and stored in one transaction.
BATCH = 256

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Definition:
    """One public definition or section: its qualified name, a title, its text (signature first)."""

    name: str
    title: str
    text: str
    format: str
    lines: tuple[int, int] | None = None


def import_library(path: Path, project: str, source: str, template: str, embedder: Callable[[Settings], Embedder]) -> tuple[int, int]:
    """Take a library in; returns (definitions, how many of them were embedded).

    `source` is a directory, the name of an installed Python distribution, or `fossil` for the built-in
    help of the `fossil` on the PATH. `template` makes a definition's address from `{name}`. Raises
    UsageError for a source that is none of these, NoIndexError where there is no index to add to.
    """
    _require_name(path, project)
    if template and not template.startswith(("/", "https://", "http://")):
        raise UsageError(f'--url-template must start with "https://", "http://" or "/", not "{template[:40]}"')
    definitions = list(_definitions(project, source))
    if not definitions:
        raise UsageError(f"{source}: there is no public definition in it")
    db = connection.open_writable(path)
    try:
        Reader(db).state()
        return _store(db, project, definitions, template or (fossil_help.TEMPLATE if source == "fossil" else ""), embedder)
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()


def _require_name(path: Path, project: str) -> None:
    """A library is a project of its own: not this repository's, and no peer's."""
    if not _NAME.fullmatch(project):
        raise UsageError(f'a library\'s name has 1 to 64 letters, digits, ".", "_", "-", not "{project[:80]}"')
    db = open_readonly(path)
    try:
        if project in {peer.name for peer in peer_list.peers(db)}:
            raise UsageError(f"there is a peer {project} already; see: vecsearch peer list")
    finally:
        db.close()


def _definitions(project: str, source: str) -> Iterator[Definition]:
    if source == "fossil" and project == "fossil":
        found: Iterable = fossil_help.topics()
    elif Path(source).is_dir():
        found = directory.definitions(Path(source))
    else:
        found = directory.definitions_of_distribution(_distribution(source))
    seen: set[str] = set()
    for name, title, text, format, lines in found:
        if name not in seen and text.strip():
            seen.add(name)
            yield Definition(name, title, text, format, lines)


def _distribution(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        raise UsageError(f"{name} is neither a directory nor an installed Python distribution") from None


def _store(db: sqlite3.Connection, project: str, definitions: list[Definition], template: str,
           embedder: Callable[[Settings], Embedder]) -> tuple[int, int]:
    run = Run(db, embedder, False, lambda done, expected: None)
    run.require_model()
    documents = [_document(project, definition) for definition in definitions]
    known = Reader(db).library(project)
    wanted = {document.source.hash for document, _ in documents}
    fresh = [pair for pair in documents if pair[0].source.hash not in known]
    entries = [entry for start in range(0, len(fresh), BATCH) for entry in run.embedding.entries(fresh[start : start + BATCH])]
    with connection.transaction(db):
        writer = Writer(db)
        writer.set_library(project, template)
        writer.set_mark("run", "")  # the next index run publishes it
        writer.remove(source_id for hash_, source_id in known.items() if hash_ not in wanted)
        for entry in entries:
            writer.put(entry, run.embedder.model, project)
    return len(documents), run.embedding.embedded


def _document(project: str, definition: Definition) -> tuple[Document, list[Chunk]]:
    hash_ = hashlib.sha3_256(f"{project}\0{definition.name}\0{definition.text}".encode("utf-8", "surrogatepass")).hexdigest()
    source = Source("api", hash_, definition.name, hash_)
    chunk = Chunk(0, definition.text, definition.title, definition.name, definition.lines)
    return Document(source, definition.title, definition.format, definition.text), [chunk]


def forget_library(path: Path, project: str) -> int:
    """Remove a library; returns how many definitions it had. Raises UsageError if there is none."""
    db = connection.open_writable(path)
    try:
        known = Reader(db).library(project)
        if not known:
            raise UsageError(f"there is no library {project} in {path}")
        with connection.transaction(db):
            writer = Writer(db)
            writer.set_library(project, None)
            writer.set_mark("run", "")
            writer.remove(known.values())
        return len(known)
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()
