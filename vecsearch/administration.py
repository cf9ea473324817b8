"""Settings and media as an administrator sees them."""

from __future__ import annotations

import difflib
import json
import sqlite3
from pathlib import Path

from .config import SETTINGS, parse
from .errors import UsageError, VecsearchError
from .fossil.corpus import media
from .fossil import repository
from .fossil.repository import open_readonly
from .store import connection, settings
from .store.reader import Reader


def show_settings(path: Path, name: str | None, *, as_json: bool) -> str:
    """One setting's value, or each with its value and help. Raises UsageError for an unknown name."""
    if name and name not in SETTINGS:
        parse(name, "")
    db = open_readonly(path)
    try:
        texts = {key: _text(value) for key, value in Reader(db).settings().items() if name in (None, key)}
    finally:
        db.close()
    if as_json:
        return json.dumps(texts, ensure_ascii=False)
    if name:
        return texts[name]
    return "\n".join(f"{key} = {text}\n    {SETTINGS[key].help}" for key, text in texts.items())


def change_setting(path: Path, name: str, text: str | None) -> str:
    """Store a setting's text, or unset it. Raises UsageError that says what is right."""
    # What only a newer version knows can at least be removed.
    value = parse(name, text) if text is not None else SETTINGS[name].default if name in SETTINGS else "removed"
    open_readonly(path).close()
    db = connection.open_writable(path)
    try:
        with connection.transaction(db):
            settings.store(db, name, text)
        hint = _no_such_branch(db, str(value)) if name == "branch" and value else ""
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()
    return f"{name} = {_text(value)}\n{hint}{_advice(name)}"


def _no_such_branch(db: sqlite3.Connection, name: str) -> str:
    """A branch may be set before it is made; but who mistyped wants to know."""
    if repository.has_branch(db, name):
        return ""
    near = difflib.get_close_matches(name, repository.branches(db), n=1, cutoff=0.5)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f'there is no branch "{name}" yet{hint}; until there is, files are read from trunk\n'


def _advice(name: str) -> str:
    if name.startswith("provider"):
        return "now run: vecsearch rebuild"
    if name.startswith("log"):
        return "takes effect at once"
    return "takes effect at the next: vecsearch index"


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def verify_media(download: Path, manifest: Path) -> str:
    """A sentence if the file is the manifest's asset. Raises VecsearchError that says what differs."""
    for path in (download, manifest):
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file")
    try:
        asset = media.parse(manifest.read_bytes())
    except ValueError as error:
        raise VecsearchError(f"{manifest}: broken manifest: {error}") from None
    media.verify(asset, download)
    return f"{download} is {asset.uri}: {asset.bytes} bytes, SHA3-256 {asset.sha3}"
