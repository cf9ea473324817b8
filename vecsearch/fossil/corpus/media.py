"""Manifests of remote media: a small JSON file under media/ stands for a bulky asset elsewhere.

    {"uri": ..., "sha3": 64 hex digits, "mime": "video/mp4", "bytes": 123, "transcript": path}

The transcript is a file of the same check-in; its text is found as the manifest.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ...config import Settings, default_settings
from ...errors import ArtifactError, VecsearchError
from ...types import Document, Source
from .. import artifact, repository
from ..checkin_files import FileEntry, files_of
from ..decode import decode
from . import files
from .facts import fingerprint

_SHA3 = re.compile(r"[0-9a-f]{64}")
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")


@dataclass(frozen=True, slots=True)
class Asset:
    """What a manifest says of its asset."""

    uri: str
    sha3: str
    mime: str
    bytes: int
    transcript: str
    title: str = ""


def parse(content: bytes) -> Asset:
    """The asset that a manifest describes. Raises ValueError that names what is wrong."""
    try:
        facts = json.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(facts, dict):
        raise ValueError("not a JSON object")
    for name, type_ in (("uri", str), ("sha3", str), ("mime", str), ("bytes", int), ("transcript", str)):
        if name not in facts:
            raise ValueError(f'no "{name}"')
        if not isinstance(facts[name], type_) or isinstance(facts[name], bool):
            raise ValueError(f'"{name}" is no {"number" if type_ is int else "string"}')
    title = facts.get("title")
    return _checked(Asset(*(facts[name] for name in ("uri", "sha3", "mime", "bytes", "transcript")),
                          title=title if isinstance(title, str) else ""))


def _checked(asset: Asset) -> Asset:
    for name, right in (("uri", bool(asset.uri.strip())), ("sha3", bool(_SHA3.fullmatch(asset.sha3.lower()))),
                        ("mime", bool(_MIME.fullmatch(asset.mime))), ("bytes", asset.bytes >= 0),
                        ("transcript", bool(asset.transcript.strip()) and len(asset.transcript) < 1000 and "\n" not in asset.transcript)):
        if not right:
            raise ValueError(f'"{name}" makes no sense')
    return replace(asset, sha3=asset.sha3.lower())


def verify(asset: Asset, download: Path) -> None:
    """Raises VecsearchError unless the file is the asset, by size and SHA3-256."""
    size = download.stat().st_size
    if size != asset.bytes:
        raise VecsearchError(f"{download}: has {size} bytes, the manifest says {asset.bytes}")
    with download.open("rb") as file:
        digest = hashlib.file_digest(file, "sha3_256").hexdigest()
    if digest != asset.sha3:
        raise VecsearchError(f"{download}: has the SHA3-256 {digest}, the manifest says {asset.sha3}")


def sources(db: sqlite3.Connection, settings: Settings, kind: str = "media") -> Iterator[Source]:
    """Every file that should be a manifest, by path."""
    yield from sources_of(db, [file for file in files.found(db, settings) if file.kind == kind])


def sources_of(db: sqlite3.Connection, found: list[files.Found]) -> Iterator[Source]:
    """As of these files. A new transcript makes an old manifest another source."""
    tips = {file.hash: file.tip.rid for file in reversed(found)}
    listed = {tip: files_of(db, tip) for tip in set(tips.values())}
    for source in files.sources_of(db, found):
        transcript, problem = _transcript(db, source.rid, listed[tips[source.hash]])
        yield replace(source, fingerprint=fingerprint(source.fingerprint, transcript, problem))


def _transcript(db: sqlite3.Connection, rid: int, listed: dict[str, FileEntry]) -> tuple[str, str]:
    """(hash of the transcript, why it cannot be had), one of them empty; `listed` are the files beside it."""
    try:
        asset = parse(artifact.read(db, rid))
    except (ValueError, ArtifactError) as error:
        return "", f"broken manifest: {error}"
    entry = listed.get(asset.transcript)
    if entry is None or not _may_be_shown(db, entry.hash):
        return "", f"broken manifest: no transcript {asset.transcript}"
    return entry.hash, ""


def without_withheld_transcripts(db: sqlite3.Connection, hashes: set[str]) -> set[str]:
    """Those manifests whose transcript, the text that a hit shows, was not withheld since it was read."""
    listed = [files_of(db, rid) for rid in _read_at(db)] if hashes else []
    return {hash_ for hash_ in hashes if not any(_is_withheld(db, hash_, files_) for files_ in listed)}


def _read_at(db: sqlite3.Connection) -> set[int]:
    """The check-ins at whose files an index run looked, or the next one will: the branch may be a setting, and
    the branch may have gone on."""
    rids = {tip.rid for tip in repository.tips(db, default_settings())}
    if repository.has_table(db, "fx_vec_tip"):
        rids |= {rid for (rid,) in db.execute("SELECT b.rid FROM fx_vec_tip t JOIN blob b ON b.uuid=t.ci WHERE b.size>=0")}
    return rids


def _is_withheld(db: sqlite3.Connection, hash_: str, listed: dict[str, FileEntry]) -> bool:
    try:
        entry = listed.get(parse(artifact.read_hash(db, hash_)).transcript)
    except (ValueError, ArtifactError):
        return True
    return entry is not None and not _may_be_shown(db, entry.hash)


def _may_be_shown(db: sqlite3.Connection, hash_: str) -> bool:
    query = f"SELECT 1 FROM blob b WHERE b.uuid=? AND b.size>=0 AND NOT {repository.withheld(db)}"
    return db.execute(query, (hash_,)).fetchone() is not None


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The transcript, under the manifest's name. Raises ArtifactError."""
    path = source.path or ""
    tip = next(tip for tip in repository.tips(db, settings) if tip.branch == source.branch)
    transcript, problem = _transcript(db, source.rid, files_of(db, tip.rid))
    if problem:
        return Document(source, path, "plain", skipped=problem)
    asset = parse(artifact.read(db, source.rid))
    decoded = decode(artifact.read_hash(db, transcript), settings["max-file-kb"] << 10)
    format = "markdown" if asset.transcript.lower().endswith((".md", ".markdown")) else "plain"
    skipped = f"{decoded.skipped} transcript" if decoded.skipped else ""
    return Document(source, asset.title or path, format, decoded.text, skipped=skipped, notes=decoded.notes)
