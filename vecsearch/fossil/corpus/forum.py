"""Forum posts: the current version of each, under the title of its thread.

Versions of a post are chained by `forumpost.fprev`; `froot` is the first version of the thread's
first post, `firt` is NULL for all its versions. An edit with an empty text deletes (src/forum.c). As on
Fossil's pages a chain stays within its thread: an edit that names none (no G card) begins one of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...config import Settings
from ...types import Document, Passage, Source
from ..decode import decode
from ..repository import HIDDEN, has_table, withheld
from .facts import among, cards, fingerprint, unix_seconds


@dataclass(frozen=True, slots=True)
class _Version:
    """A row of `forumpost`; `shown` is false while it waits for a moderator or is withheld."""

    rid: int
    root: int
    previous: int | None
    opens: bool
    mtime: float
    hash: str
    user: str
    label: str
    shown: bool
    hidden: bool


def sources(db: sqlite3.Connection, settings: Settings, kind: str = "forum", only: Iterable[str] | None = None) -> Iterator[Source]:
    """The posts that stand now, thread by thread; or those of the threads that hold one of the hashes `only`."""
    if not has_table(db, "forumpost"):
        return
    some, values = among("b2.uuid", only)
    ours = f"WHERE f.froot IN (SELECT f2.froot FROM forumpost f2 JOIN blob b2 ON b2.rid=f2.fpid {some.replace('AND', 'WHERE', 1)})" if some else ""
    versions_of_all = list(_versions(db, ours, values))
    posts, openings = _posts(versions_of_all), _openings(versions_of_all)
    for first, versions in sorted(posts.items()):
        now = _current(versions)
        if now is None or any(v.hidden for v in versions) or _is_deleted(db, now):
            continue
        opening = _current(openings.get(now.root, []))
        user, seconds = _author(versions, first) or now.user, unix_seconds(now.mtime)
        mark = fingerprint(user, seconds, opening.hash if opening else "")
        yield Source("forum", now.hash, None, mark, now.rid, user=user, mtime=seconds)


def related(db: sqlite3.Connection, kind: str, rids: str) -> set[str]:
    """The hashes of all versions in the threads of which there is a post in `rids`, a JSON list of rows of `blob`."""
    if not has_table(db, "forumpost"):
        return set()
    return {hash_ for (hash_,) in db.execute(
        """SELECT b.uuid FROM forumpost f JOIN blob b ON b.rid=f.fpid WHERE f.froot IN
           (SELECT froot FROM forumpost WHERE fpid IN (SELECT value FROM json_each(?)))""", (rids,))}


def _versions(db: sqlite3.Connection, where: str = "", values: tuple = ()) -> Iterator[_Version]:
    """All versions of all posts, or of those for which an SQL condition holds."""
    rows = db.execute(
        f"""SELECT f.fpid, f.froot, f.fprev, f.firt IS NULL, f.fmtime, b.uuid, coalesce(e.euser, e.user, ''), coalesce(e.comment, ''),
                   b.size>=0 AND NOT {withheld(db)}, b.rid IN ({HIDDEN})
            FROM forumpost f JOIN blob b ON b.rid=f.fpid LEFT JOIN event e ON e.objid=f.fpid {where}
            ORDER BY f.fmtime, f.fpid""", values)
    return (_Version(*row) for row in rows)


def _posts(versions: Iterable[_Version]) -> dict[int, list[_Version]]:
    """First version's rid -> all versions, the oldest first."""
    by_rid = {version.rid: version for version in versions}
    posts: dict[int, list[_Version]] = {}
    for version in by_rid.values():
        first, steps = version, 0
        while (before := by_rid.get(first.previous)) and before.root == first.root and steps < len(by_rid):
            first, steps = before, steps + 1
        posts.setdefault(first.rid, []).append(version)
    return posts


def _openings(versions: Iterable[_Version]) -> dict[int, list[_Version]]:
    """`froot` of a thread -> all versions of its opening post, the oldest first."""
    openings: dict[int, list[_Version]] = {}
    for version in versions:
        if version.opens:
            openings.setdefault(version.root, []).append(version)
    return openings


def _current(versions: list[_Version]) -> _Version | None:
    return next((version for version in reversed(versions) if version.shown), None)


def _author(versions: list[_Version], first: int) -> str:
    """Who wrote the post, whoever edited it last."""
    return next((version.user for version in versions if version.rid == first), "")


def _is_deleted(db: sqlite3.Connection, version: _Version) -> bool:
    """The label of the event says so, or may say it for another version's sake: then the text decides."""
    if version.label.startswith("Delete reply:") or version.label.endswith("(Deleted)"):
        return not cards(db, version.rid).text.strip()
    return False


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """One passage: the post. Raises ArtifactError."""
    post = cards(db, source.rid)
    title = _thread_title(db, source.rid) or post.title or "(no title)"
    decoded = decode(post.text, settings["max-file-kb"] << 10)
    passages = (Passage(decoded.text, title, source.user, source.mtime),) if decoded.text else ()
    return Document(source, title, "passages", passages=passages, skipped=decoded.skipped, notes=decoded.notes)


def _thread_title(db: sqlite3.Connection, rid: int) -> str:
    """From the thread's opening post as it stands; the events' labels already show pending edits."""
    row = db.execute("SELECT froot FROM forumpost WHERE fpid=?", (rid,)).fetchone()
    opening = _current(_openings(_versions(db, "WHERE f.froot=? AND f.firt IS NULL", row)).get(row[0], [])) if row else None
    return cards(db, opening.rid).title.strip() if opening else ""
