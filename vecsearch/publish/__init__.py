"""From the tables to the files that travel: vec/HASH.bin, packs of check-ins, vec/index.json.

    outgoing   the files of some kinds, made from the tables
    publisher  keeps the files in step with the tables

Unversioned files have no readers' list. Fossil hands one to whoever asks `/xfer` for it by name
(`uvgimme`), with no capability at all, on 2.21 and 2.28 alike. So by default only those kinds are
published that a visitor who is not logged in may read.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3

from ..config import Settings
from ..fossil import access
from ..store import unversioned
from ..types import KINDS

_BLOB = re.compile(r"vec/([0-9a-f]{40}|[0-9a-f]{64})\.bin")
_PACK = re.compile(r"vec/checkins-\d{4}-\d{2}\.pack")


def blob_name(hash_: str) -> str:
    """The unversioned file of an artifact."""
    return f"vec/{hash_}.bin"


def hash_of(name: str) -> str:
    """The artifact of an unversioned file, "" if it is no artifact's."""
    found = _BLOB.fullmatch(name)
    return found[1] if found else ""


def is_pack(name: str) -> bool:
    """Whether an unversioned file holds packed check-ins."""
    return _PACK.fullmatch(name) is not None


def is_meant(content: bytes, digest: str) -> bool:
    """Whether a file has the content that the catalog lists, by Fossil's own hash of it."""
    algorithm = hashlib.sha1 if len(digest) == 40 else hashlib.sha3_256
    return algorithm(content).hexdigest() == digest


def kinds(db: sqlite3.Connection, settings: Settings) -> frozenset[str]:
    """The kinds that this repository publishes."""
    if not reason_for_silence(db, settings):
        return frozenset(KINDS) if settings["publish"] == "all" else access.visible_kinds(db, {})
    return frozenset()


def reason_for_silence(db: sqlite3.Connection, settings: Settings) -> str:
    """Why nothing at all is published, "" if something may be."""
    if settings["publish"] == "none":
        return "the setting publish is none"
    if settings["publish"] == "auto" and unversioned.from_elsewhere(db):
        return "the files came from another repository, which publishes them; to publish here: vecsearch config publish public"
    return ""


def facts(db: sqlite3.Connection, settings: Settings) -> dict[str, str]:
    """kind -> "" if it is published, else why not."""
    silence, published = reason_for_silence(db, settings), kinds(db, settings)
    closed = "a visitor who is not logged in may not read it, and anyone can read unversioned files"
    return {kind: "" if kind in published else silence or closed for kind in KINDS}


def pack_name(month: str) -> str:
    """The unversioned file of the check-ins of a month, as 2026-11."""
    return f"vec/checkins-{month}.pack"


def month_of(name: str) -> str:
    """The month of a pack's name."""
    return name.removeprefix("vec/checkins-").removesuffix(".pack")
