"""A Fossil repository as a database that is only read: opening it, its settings, its branches' tips.

Table definitions: Fossil's src/schema.c.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import RepositoryError

#: How long a read waits for a writer; Fossil's own commits take milliseconds.
BUSY_MS = 5000
#: Pages are read through the page cache of the system, not copied one by one.
MMAP_BYTES = 1 << 30

#: SQLite's names for a file that must be mended before it can be read.
CUT_SHORT = ("SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_RECOVERY")

#: What a check-out database is called (db_open_local_v2 in src/db.c), in Fossil's order.
CHECKOUT_NAMES = ("_FOSSIL_", ".fslckout", ".fos")

#: Kinds that are read at the tips of `doc-branch`; all other files come from `main-branch`.
DOC_KINDS = frozenset({"doc", "instruction"})
MAIN_KINDS = frozenset({"code", "media"})

#: Rows of `config` that decide what is read; the index is stale when one changes.
CONFIG_THAT_MATTERS = ("doc-branch", "main-branch", "project-name", "ticket-table", "aux-schema", "ticket-title-expr", "ticket-status-column")


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest public check-in of a branch, and the kinds of files that are read from it."""

    branch: str
    rid: int
    hash: str
    kinds: frozenset[str]


def open_readonly(path: Path | str) -> sqlite3.Connection:
    """A connection that cannot write. Raises RepositoryError if `path` is no readable repository."""
    path = Path(path)
    _require_readable(path)
    try:
        return _connect(path)
    except RepositoryError as error:
        if getattr(error.__cause__, "sqlite_errorname", "") not in CUT_SHORT:
            raise
        _undo_cut_write(path)
    return _connect(path)


def _undo_cut_write(path: Path) -> None:
    """What a killed writer left half done is undone by the next who may write, as Fossil does on every command;
    only a connection that could write can. Where this one may not, connecting once more says so."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=rw", uri=True, timeout=BUSY_MS / 1000)) as db:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def _connect(path: Path) -> sqlite3.Connection:
    try:
        # Used by one thread at a time, but in a worker not always by the same.
        db = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True, timeout=BUSY_MS / 1000, isolation_level=None,
                             check_same_thread=False)
    except sqlite3.Error as error:
        raise _explain(path, error) from error
    try:
        _prepare(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _require_readable(path: Path) -> None:
    """Looked at from outside: to open and close the file here would drop the locks that SQLite holds on it
    for other connections of this process, and a pipe would be waited for."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise RepositoryError(f"{path}: there is no such file; name a Fossil repository with -R FILE") from None
    except PermissionError:
        raise RepositoryError(f"{path}: you may not enter its folder") from None
    except (OSError, ValueError) as error:
        raise RepositoryError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(mode):
        raise RepositoryError(f"{path}: this is a directory; name a repository file")
    if not stat.S_ISREG(mode):
        raise RepositoryError(f"{path}: this is no regular file, so no Fossil repository")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise RepositoryError(f"{path}: you may not read this file")


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    # A site may hold text that is not UTF-8 in any column; one such row must not stop a run.
    db.text_factory = lenient_text
    try:
        for pragma in (f"busy_timeout={BUSY_MS}", "query_only=ON", f"mmap_size={MMAP_BYTES}"):
            db.execute(f"PRAGMA {pragma}")
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    except sqlite3.Error as error:
        raise _explain(path, error) from error
    if not tables >= {"blob", "delta", "rcvfrom", "config", "user"}:
        raise RepositoryError(f"{path}: this SQLite file is no Fossil repository")
    if not tables >= {"event", "tag", "tagxref", "mlink"}:
        raise RepositoryError(f"{path}: this repository was never built to the end; run: fossil rebuild")


def lenient_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _explain(path: Path, error: sqlite3.Error) -> RepositoryError:
    """SQLite's reason as one line that says what to do."""
    text, kind = str(error), getattr(error, "sqlite_errorname", "")
    if kind == "SQLITE_READONLY_DIRECTORY":
        return RepositoryError(f"{path}: its journal mode is WAL, in which readers write beside the file too, and you may not write to its folder;"
                               " run this as its owner, or let the owner set the journal mode to delete")
    if kind in CUT_SHORT:
        return RepositoryError(f"{path}: a write was cut short here, and to undo it one must be able to write; run any fossil command on it as its owner")
    if "not a database" in text:
        return RepositoryError(f"{path}: this is no SQLite database, so no Fossil repository")
    if "locked" in text or "busy" in text:
        return RepositoryError(f"{path}: locked by another process; try again when it is done")
    if "malformed" in text or "disk I/O" in text:
        return RepositoryError(f"{path}: the file is damaged ({text}); run: fossil test-integrity")
    return RepositoryError(f"{path}: cannot be opened: {text}; check the permissions of the file and of its folder")


def find_repository(start_dir: Path | str) -> Path:
    """The repository of the check-out around `start_dir`, found as `fossil` finds it. Raises
    RepositoryError if there is none."""
    start = Path(start_dir).resolve()
    for folder in (start, *start.parents):
        for name in CHECKOUT_NAMES:
            if (checkout := folder / name).is_file() and (found := _repository_of(checkout)):
                # A relative name is relative to the root of the check-out (db_repository_filename).
                return folder / found
    raise RepositoryError(f"{start}: not within a check-out; name a repository with -R FILE")


def _repository_of(checkout: Path) -> str:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(checkout))}?mode=ro", uri=True)) as db:
            row = db.execute("SELECT value FROM vvar WHERE name='repository'").fetchone()
    except sqlite3.Error:  # some other file of that name: Fossil looks further up, too
        return ""
    return row[0] if row and row[0] else ""


def config_value(db: sqlite3.Connection, name: str, default: str = "") -> str:
    """A setting of the repository itself."""
    row = db.execute("SELECT value FROM config WHERE name=?", (name,)).fetchone()
    return default if row is None or row[0] is None else str(row[0])


def project_name(db: sqlite3.Connection) -> str:
    """What the site calls itself."""
    return config_value(db, "project-name") or "Unnamed Fossil Project"


def has_table(db: sqlite3.Connection, name: str) -> bool:
    """Some tables exist only once their feature was used: forumpost, modreq, unversioned, ticketchng."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?", (name,)).fetchone() is not None


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table, in order; none if there is no such table."""
    return [row[0] for row in db.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]


def withheld(db: sqlite3.Connection, rid: str = "b.rid", hash_: str = "b.uuid") -> str:
    """An SQL condition: true for artifacts that nobody may find. `rid` and `hash_` are column names.

    Private, shunned, or waiting for moderation (until then also private; `modreq` exists only once
    moderation was on). A row of `blob` with size -1 is a phantom and is to be tested besides.
    """
    tests = [f"{rid} IN (SELECT rid FROM private)", f"{hash_} IN (SELECT uuid FROM shun)"]
    if has_table(db, "modreq"):
        tests.append(f"{rid} IN (SELECT objid FROM modreq)")
    return f"({' OR '.join(tests)})"


#: An SQL query: artifacts that carry the tag by which Fossil's timeline leaves them out.
HIDDEN = "SELECT x.rid FROM tag t JOIN tagxref x USING (tagid) WHERE t.tagname='hidden' AND x.tagtype>0"


def tips(db: sqlite3.Connection, settings: Mapping[str, Any]) -> list[Tip]:
    """The check-ins whose files are indexed, the main branch's first; none in an empty repository.

    `doc-branch` may list several branches, as Fossil's own search has it since 2.24 (src/search.c).
    """
    main = settings["branch"] or config_value(db, "main-branch", "trunk")
    docs = settings["branch"] or config_value(db, "doc-branch") or main
    found: dict[int, Tip] = {}
    for kinds, names in ((MAIN_KINDS, [main]), (DOC_KINDS, re.split(r"[,\s]+", docs.strip()))):
        for tip in _tips_named(db, names, kinds):
            held = found.get(tip.rid)
            found[tip.rid] = Tip(held.branch, tip.rid, tip.hash, held.kinds | kinds) if held else tip
    return list(found.values())


def _tips_named(db: sqlite3.Connection, names: list[str], kinds: frozenset[str]) -> Iterator[Tip]:
    """The tips of these branches; if none exists, trunk's; failing that, the newest check-in."""
    rows = [row for name in names if name and (row := _newest(db, name))]
    for branch, rid, hash_ in rows or filter(None, [_newest(db, "trunk") or _newest(db, None)]):
        yield Tip(branch, rid, hash_, kinds)


def _newest(db: sqlite3.Connection, name: str | None) -> tuple[str, int, str] | None:
    """(name, rid, hash) of the newest public check-in of a branch or tag, or of all."""
    tagged = """AND EXISTS (SELECT 1 FROM tagxref x WHERE x.rid=e.objid AND x.tagtype>0
                             AND x.tagid=(SELECT tagid FROM tag WHERE tagname='sym-'||?))"""
    row = db.execute(
        f"""SELECT b.rid, b.uuid FROM event e JOIN blob b ON b.rid=e.objid
            WHERE e.type='ci' AND b.size>=0 AND NOT {withheld(db)} {tagged if name else ''}
            ORDER BY e.mtime DESC LIMIT 1""", (name,) if name else ()).fetchone()
    return (name or "", *row) if row else None


def has_branch(db: sqlite3.Connection, name: str) -> bool:
    """Whether files can be read from a branch, or tag, of this name."""
    return _newest(db, name) is not None


def branches(db: sqlite3.Connection) -> list[str]:
    """The names of all public branches."""
    return [name for (name,) in db.execute(
        """SELECT DISTINCT x.value FROM tag t JOIN tagxref x USING (tagid) WHERE t.tagname='branch' AND x.tagtype>0
           AND x.value IS NOT NULL AND x.rid NOT IN (SELECT rid FROM private) ORDER BY 1""")]


def change_mark(db: sqlite3.Connection) -> str:
    """A string that changes whenever anything changed that the index could show: artifacts come,
    go or get filled in, tags, events, what is private, shunned or pending, settings that matter. A
    `fossil rebuild` alone changes nothing of it, although it numbers tags anew.

    A count of `blob` itself would take 14 ms at 100,000 artifacts.
    """
    scanned = [
        "SELECT (SELECT max(rid) FROM blob), (SELECT count(*) FROM delta)",
        "SELECT max(rcvid), count(*) FROM rcvfrom",
        "SELECT count(*) FROM phantom",
        "SELECT count(*), total(rid) FROM tagxref",
        "SELECT (SELECT max(mtime) FROM event), (SELECT count(*) FROM event)",
    ]
    facts = [*(db.execute(query).fetchone() for query in scanned), *_secrets_and_settings(db)]
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def change_hint(db: sqlite3.Connection) -> str:
    """While it is the same, so is `change_mark` of the same file, unless somebody has removed rows by hand: what Fossil adds or replaces in
    a table gets a new rowid; what it removes (src/shun.c, bundle.c, purge.c, moderate.c) leaves fewer events or tickets, or goes with a rebuild. An
    eighth of the time: tags and deltas are not counted."""
    newest = [db.execute(f"SELECT max({rowid}) FROM {table}").fetchone()
              for table, rowid in (("blob", "rid"), ("delta", "rid"), ("rcvfrom", "rcvid"), ("phantom", "rid"), ("tagxref", "rowid"), ("event", "objid"), ("event", "mtime"))]
    counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("phantom", "event", *(["ticket"] if has_table(db, "ticket") else []))]
    rebuilt = db.execute("SELECT mtime FROM config WHERE name='rebuilt'").fetchone()
    return repr([newest, counts, rebuilt, *_secrets_and_settings(db)])


def _secrets_and_settings(db: sqlite3.Connection) -> list[Any]:
    """Of change_mark, what small tables say."""
    queries = [
        "SELECT count(*), total(rid), total(rid*rid) FROM private",
        "SELECT count(*), max(mtime), group_concat(uuid) FROM shun",
    ]
    if has_table(db, "modreq"):
        queries.append("SELECT count(*), total(objid), total(objid*objid) FROM modreq")
    if has_table(db, "purgeevent"):
        queries.append("SELECT max(peid) FROM purgeevent")
    facts: list[Any] = [db.execute(query).fetchone() for query in queries]
    facts.append([config_value(db, name) for name in CONFIG_THAT_MATTERS])
    facts.append([columns(db, table) for table in ("ticket", "ticketchng")])
    return facts


def secrecy_mark(db: sqlite3.Connection) -> str:
    """Changes whenever something was hidden that could be found before: shunned, private, pending."""
    queries = ["SELECT count(*), group_concat(uuid) FROM (SELECT uuid FROM shun ORDER BY uuid)",
               "SELECT count(*), total(rid), total(rid*rid) FROM private"]
    if has_table(db, "modreq"):
        queries.append("SELECT count(*), total(objid), total(objid*objid) FROM modreq")
    facts = [db.execute(query).fetchone() for query in queries]
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
