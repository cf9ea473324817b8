"""vec/index.json: what the blobs themselves do not say. Pure.

Beside the contract's format, model, dim, chunker, and kind, path, project of each HASH, it holds what
a reader without the repository needs to show a hit: `docs/index-format.md` has every field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import BlobError
from ..types import KINDS, Chunk
from .exchange import Artifact

FORMAT = 1
NAME = "vec/index.json"


@dataclass(frozen=True)
class Catalog:
    """What one repository publishes. `digests` says which blob or pack was meant: one that differs
    belongs to another moment."""

    model: str
    dim: int
    chunker: int
    project: str = ""
    checkin: str = ""
    tips: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    packs: Mapping[str, str] = field(default_factory=dict)
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def encode(catalog: Catalog) -> bytes:
    """The same catalog always gives the same bytes."""
    return write(catalog, ((hash_, describe(artifact) | {"blob": catalog.digests[hash_]})
                           for hash_, artifact in sorted(catalog.artifacts.items())))


def write(head: Catalog, entries: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
    """The catalog whose artifacts are these (hash, entry), by hash: never are all of them in memory but as text."""
    facts = {"format": FORMAT, "model": head.model, "dim": head.dim, "chunker": head.chunker, "project": head.project,
             "checkin": head.checkin, "tips": dict(head.tips), "settings": dict(head.settings),
             "marks": dict(head.marks), "libraries": dict(head.libraries), "packs": dict(head.packs)}
    made = bytearray(b'{"artifacts":{')
    for number, (hash_, entry) in enumerate(entries):
        made += f"{',' if number else ''}{_json(hash_)}:{_json(entry)}".encode()
    made += f"}},{_json(facts)[1:]}".encode()
    return bytes(made)


def describe(artifact: Artifact) -> dict[str, Any]:
    """An artifact's entry. Text fields that are empty are left out."""
    optional = {"title": artifact.title, "branch": artifact.branch, "user": artifact.user, "mtime": artifact.mtime,
                "also": list(artifact.also)}
    return {"kind": artifact.kind, "path": artifact.path, "project": artifact.project, "format": artifact.format,
            "chunks": _chunk_rows(artifact), **{name: value for name, value in optional.items() if value}}


def _chunk_rows(artifact: Artifact) -> list[list]:
    """[title, symbol, first line, last line, user, mtime] of each chunk, cut after the last that says
    something. null: the title of the chunk before; user and time are the artifact's unless given."""
    rows, last = [], None
    for chunk in artifact.chunks:
        a, b = chunk.lines or (0, 0)
        own = (chunk.user if chunk.user != artifact.user else "", chunk.mtime if chunk.mtime != artifact.mtime else 0)
        row = [None if chunk.title == last else chunk.title, chunk.symbol, a, b, *own]
        while row and row[-1] in ("", 0):
            row.pop()
        rows.append(row)
        last = chunk.title
    return rows


def decode(data: bytes, name: str = NAME) -> Catalog:
    """Raises BlobError, which names the file, for anything that is not as described."""
    head, entries = split(data, name)
    with _named(name):
        artifacts = {hash_: described(hash_, entry) for hash_, entry in entries.items()}
        digests = {hash_: _string(entry.get("blob", "")) for hash_, entry in entries.items()}
    return replace(head, artifacts=artifacts, digests=digests)


def split(data: bytes, name: str = NAME) -> tuple[Catalog, dict[str, dict[str, Any]]]:
    """The catalog without its artifacts, and hash -> entry of these as JSON has it. Raises BlobError."""
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BlobError(f"{name}: not JSON: {error}") from None
    with _named(name):
        head, entries = _head(facts, name), facts["artifacts"]
        if not all(isinstance(entry, dict) for entry in entries.values()):
            raise TypeError("an artifact is no object")
        return head, dict(entries)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BlobError(f"{name}: not as it must be: {type(error).__name__} {error}") from None


def _head(facts: Mapping[str, Any], name: str) -> Catalog:
    if facts["format"] != FORMAT:
        raise BlobError(f"{name}: has format {facts['format']}, this vecsearch reads {FORMAT}; install a newer vecsearch")
    dim = facts["dim"]
    if type(dim) is not int or not 0 < dim <= 1 << 16:
        raise ValueError(f"dim {dim}")
    return Catalog(
        _string(facts["model"]), dim, int(facts.get("chunker", 0)), _string(facts.get("project", "")), _string(facts.get("checkin", "")),
        _strings(facts.get("tips", {})), _strings(facts.get("settings", {})), _strings(facts.get("marks", {})),
        _strings(facts.get("libraries", {})), _strings(facts.get("packs", {})),
    )


def described(hash_: str, entry: Mapping[str, Any]) -> Artifact:
    """The artifact of an entry. Raises KeyError, TypeError or ValueError where it makes no sense."""
    if entry["kind"] not in KINDS:
        raise ValueError(f"kind {entry['kind']}")
    path = entry["path"]
    user, mtime = _string(entry.get("user", "")), int(entry.get("mtime", 0))
    chunks, title = [], ""
    for seq, row in enumerate(entry.get("chunks", ())):
        given, symbol, a, b, own, time = (list(row) + ["", "", 0, 0, "", 0][len(row) :])[:6]
        title = title if given is None else _string(given)
        lines = (int(a), int(b)) if a else None
        chunks.append(Chunk(seq, "", title, _string(symbol), lines, _string(own) or user, int(time) or mtime))
    return Artifact(hash_, entry["kind"], path if path is None else _string(path), _string(entry.get("title", "")),
                    _string(entry.get("format", "plain")), _string(entry.get("branch", "")), user, mtime, tuple(chunks),
                    _string(entry.get("project", "")), tuple(map(_string, entry.get("also", ()))))


def _string(value: Any) -> str:
    """Text that SQLite can hold."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()
    return value


def _strings(value: Mapping[str, Any]) -> dict[str, str]:
    return {_string(key): _string(text) for key, text in value.items()}
