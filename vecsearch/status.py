"""What `vecsearch status` knows: the four states of an index and what is in it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import embed, publish
from .errors import EmbedError, NoIndexError
from .fossil.repository import change_mark, open_readonly
from .store import peer_list
from .store.reader import Reader
from .types import KINDS


def collect(path: Path) -> dict[str, Any]:
    """Facts about the index of the repository at `path`. Raises StoreError for foreign tables."""
    db = open_readonly(path)
    try:
        return _collect(db, path)
    finally:
        db.close()


def _collect(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    reader = Reader(db)
    try:
        state = reader.state()
    except NoIndexError as error:
        return {"repository": str(path), "state": "no_index", "message": str(error)}
    word, message = _state(db, reader, state.model)
    return {
        "repository": str(path),
        "state": word,
        "message": message,
        "model": state.model,
        "dim": state.dim,
        "checkin": state.checkin,
        "indexed": _time(reader.mark("time")),
        "kinds": {kind: {"artifacts": a, "chunks": c} for kind, (a, c) in reader.counts(KINDS).items()},
        "lexical": reader.has_lexical(),
        "published": publish.facts(db, reader.settings()),
        "peers": {peer.name: peer.location for peer in peer_list.peers(db)},
        "skipped": [{"name": name, "kind": kind, "reason": reason} for name, kind, reason in reader.skipped()],
    }


def _state(db: sqlite3.Connection, reader: Reader, built: str) -> tuple[str, str]:
    """(state, what is wrong and what to do); of several the gravest, as a search would say."""
    try:
        configured = embed.get(reader.settings()).model
    except EmbedError as error:
        return "semantic_unavailable", str(error)
    if configured != built:
        return "model_mismatch", f"the index was built with {built}, configured is {configured}: searches answer by keywords only; run: vecsearch rebuild"
    if reader.mark("change") != change_mark(db):
        return "stale", "the repository has changed since it was indexed; run: vecsearch index"
    return "ok", ""


def as_text(facts: dict[str, Any], *, with_skipped: bool) -> str:
    """The facts for a person; names of skipped artifacts only when asked for."""
    if facts["state"] == "no_index":
        return f"repository  {facts['repository']}\nstate       no index: {facts['message']}\n"
    lines = [
        f"repository  {facts['repository']}",
        f"state       {facts['state']}" + (f": {facts['message']}" if facts["message"] else ""),
        f"model       {facts['model']}, {facts['dim']} numbers per vector",
        f"check-in    {facts['checkin'] or 'none'}",
        f"indexed     {facts['indexed'] or 'at a time unknown'}",
        f"keywords    {'full-text index' if facts['lexical'] else 'none: this SQLite has no FTS5'}",
        "",
        f"{'kind':12}{'artifacts':>10}{'chunks':>10}",
    ]
    lines += [f"{kind:12}{n['artifacts']:10}{n['chunks']:10}" for kind, n in sorted(facts["kinds"].items())]
    lines += ["", *_published(facts["published"])]
    lines += [f"peer        {name}: {location}" for name, location in facts["peers"].items()]
    if facts["skipped"]:
        lines += ["", f"{len(facts['skipped'])} artifacts skipped or noted" + ("" if with_skipped else "; see: vecsearch status --skipped")]
    if with_skipped:
        lines += [f"  {s['kind']:12}{s['name']}: {s['reason']}" for s in facts["skipped"]]
    return "\n".join(lines) + "\n"


def _time(mark: str) -> str:
    """When the last run that found something to do ended, in UTC."""
    return f"{datetime.fromtimestamp(int(mark), UTC):%Y-%m-%dT%H:%M:%SZ}" if mark.isdigit() else ""


def _published(reasons: dict[str, str]) -> list[str]:
    """One line for what is published, one for each reason why something is not."""
    by_reason: dict[str, list[str]] = {}
    for kind, reason in reasons.items():
        by_reason.setdefault(reason, []).append(kind)
    lines = [f"published   {', '.join(by_reason.pop('', [])) or 'nothing'}"]
    return lines + [f"not so      {', '.join(some)}: {reason}" for reason, some in by_reason.items()]
