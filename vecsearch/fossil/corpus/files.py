"""Files at the tips: documentation, code, instructions for agents, manifests of media."""

from __future__ import annotations

import fnmatch
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...config import SETTINGS, Settings
from ...errors import ArtifactError
from ...types import Document, Source
from .. import artifact, repository
from ..checkin_files import changed, files_holding, files_of
from ..decode import NUL_WINDOW, decode, is_prose
from . import languages, second_hand
from .facts import fingerprint, unix_seconds

KINDS = ("instruction", "media", "doc", "code")

#: A file whose name says nothing is opened to see what it is, unless it is longer than this.
_LONGEST_UNNAMED = 4 << 20
#: Of the places in which the same content stands so many are remembered.
MOST_PATHS = 100
#: `mlink.mperm` of a symbolic link (PERM_LNK in src/manifest.c).
_PERM_LINK = 2

_MARKUP = {"md": "markdown", "markdown": "markdown", "mdc": "markdown", "wiki": "wiki", "rst": "rst", "adoc": "asciidoc",
           "asciidoc": "asciidoc", "html": "html", "htm": "html", **{str(n): "man" for n in range(1, 10)}}


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be shown, and what it is."""

    kind: str
    format: str
    path: str
    hash: str
    rid: int
    tip: repository.Tip


def sources(db: sqlite3.Connection, settings: Settings, kind: str) -> Iterator[Source]:
    """Doc, code or instruction files, by path; each artifact once."""
    yield from sources_of(db, [file for file in found(db, settings) if file.kind == kind])


def related(db: sqlite3.Connection, settings: Settings, before: list[tuple[str, str, frozenset[str]]], rids: str) -> set[str] | None:
    """The hashes of contents whose places, or whose first check-in, may be others than they were when these
    (branch, check-in, kinds) were the tips; `rids` are the rows of `blob` touched since, as a JSON list.
    None: that cannot be told."""
    now = repository.tips(db, settings)
    if [(tip.branch, tip.kinds) for tip in now] != [(branch, kinds) for branch, _, kinds in before]:
        return None
    hashes = {hash_ for (hash_,) in db.execute(
        "SELECT b.uuid FROM mlink m JOIN blob b ON b.rid=m.fid WHERE m.mid IN (SELECT value FROM json_each(?))", (rids,))}
    for tip, (_, was, _) in zip(now, before, strict=True):
        if tip.hash != was:
            row = db.execute("SELECT rid FROM blob WHERE uuid=?", (was,)).fetchone()
            try:
                if row is None:
                    return None
                hashes |= changed(db, row[0], tip.rid)
            except ArtifactError:
                return None  # the run lists everything, and names what is wrong
    return hashes


def sources_of(db: sqlite3.Connection, files: list[Found]) -> Iterator[Source]:
    """The sources of these files, each artifact once, under its smallest path."""
    origin = introduced(db, [file.rid for file in files])
    seen: set[str] = set()
    for file in files:
        if file.hash not in seen:
            seen.add(file.hash)
            user, mtime = origin.get(file.rid, ("", 0))
            mark = fingerprint(file.kind, file.format, user, mtime)
            yield Source(file.kind, file.hash, file.path, mark, file.rid, file.tip.branch, user, mtime)


def found(db: sqlite3.Connection, settings: Settings, only: set[str] | None = None) -> list[Found]:
    """Every file at the tips that is of some kind, by path, or those whose content is one of the hashes
    `only`. Raises ArtifactError if the manifest of a tip cannot be read: nothing can be said about its
    files then."""
    kind_of = classifier(settings)
    files = []
    for tip in repository.tips(db, settings):
        listed = files_of(db, tip.rid) if only is None else files_holding(db, tip.rid, only)
        rows = _public(db, {entry.hash for entry in listed.values()})
        for path, entry in listed.items():
            if entry.hash in rows:
                rid, size = rows[entry.hash]
                kind, format = kind_of(path)
                if not kind and "code" in tip.kinds:
                    kind, format = _by_content(db, rid, size)
                if kind in tip.kinds:
                    files.append(Found(kind, format, path, entry.hash, rid, tip))
    return sorted(files, key=lambda file: file.path)


def introduced(db: sqlite3.Connection, rids: list[int]) -> dict[int, tuple[str, int]]:
    """(user, time) of the first public check-in that brought each of these artifacts."""
    rows = db.execute(
        """SELECT m.fid, coalesce(e.euser, e.user, ''), min(e.mtime)
           FROM json_each(?) j JOIN mlink m ON m.fid=j.value JOIN event e ON e.objid=m.mid
           WHERE m.mid NOT IN (SELECT rid FROM private) GROUP BY m.fid""", (json.dumps(rids),))
    return {rid: (user, unix_seconds(mtime)) for rid, user, mtime in rows}


def _public(db: sqlite3.Connection, hashes: set[str]) -> dict[str, tuple[int, int]]:
    """(rid, size) of those that are here and that everybody may find."""
    rows = db.execute(
        f"""SELECT b.uuid, b.rid, b.size FROM json_each(?) j JOIN blob b ON b.uuid=j.value
            WHERE b.size>=0 AND NOT {repository.withheld(db)} AND b.rid NOT IN ({repository.HIDDEN})""",
        (json.dumps(sorted(hashes)),))
    return {hash_: (rid, size) for hash_, rid, size in rows}


def paths(files: list[Found]) -> dict[str, set[str]]:
    """Hash -> paths, of every content that stands in several places."""
    by_hash: dict[str, set[str]] = {}
    for file in files:
        by_hash.setdefault(file.hash, set()).add(file.path)
    return {hash_: places for hash_, places in by_hash.items() if len(places) > 1}


def _by_content(db: sqlite3.Connection, rid: int, size: int) -> tuple[str, str]:
    """What a file is whose name does not say: a script, prose, other text; of no format if it is no text."""
    if size > _LONGEST_UNNAMED:
        return "code", ""
    try:
        head = artifact.head(db, rid, NUL_WINDOW)
    except ArtifactError:  # kept, so that the run names it when it is read for its text
        return "code", "text"
    if language := languages.shebang_language(head):
        return "code", language
    decoded = decode(head, NUL_WINDOW)
    if decoded.skipped:
        return "code", ""
    return ("doc", "plain") if is_prose(decoded.text) else ("code", "text")


def classifier(settings: Settings) -> Callable[[str], tuple[str, str]]:
    """path -> (kind, format), both "" for a file whose name does not say; kind "none" is not to be indexed.

    A pattern with a slash is held against the whole path, one without against the name in any
    folder; `*` also crosses slashes, as in Fossil's own globs; case makes no difference, but for
    instructions: agents read AGENTS.md, and docs/agents.md is a page about them.
    """
    ignored, media, doc, code = (matcher(settings[f"{name}-glob"]) for name in ("ignore", "media", "doc", "code"))
    instruction, usual = matcher(settings["instruction-glob"], re.NOFLAG), matcher(SETTINGS["doc-glob"].default)

    def kind_of(path: str) -> tuple[str, str]:
        language = languages.language(path)
        if ignored(path):
            return "none", ""
        if instruction(path):
            return "instruction", _markup(path) or language or "markdown"
        if media(path):
            return "media", "json"
        if second_hand.is_lock_file(path):
            return "code", "text"
        named = path.rpartition("/")[2].lower() in languages.BY_NAME
        if doc(path) and not named:
            # Texts below media/ are transcripts: they are found as their manifests.
            return ("none", "") if path.startswith("media/") else ("doc", _markup(path) or "plain")
        if language or code(path):
            return "code", language or "text"
        # Who took a pattern out of doc-glob does not want these files.
        return ("none" if path.startswith("media/") or usual(path) else ""), ""

    return kind_of


def matcher(globs: tuple[str, ...], case: re.RegexFlag = re.I) -> Callable[[str], bool]:
    """Whether a path matches any of the patterns."""
    whole = _regex([glob for glob in globs if "/" in glob], case)
    names = _regex([glob for glob in globs if "/" not in glob], case)
    return lambda path: bool(whole.fullmatch(path) or names.fullmatch(path.rpartition("/")[2]))


def _regex(globs: list[str], case: re.RegexFlag) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs) or r"(?!)", case)


def _markup(path: str) -> str:
    return _MARKUP.get(path.rpartition("/")[2].lower().rpartition(".")[2], "")


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The text of a file, or why it has none. Raises ArtifactError."""
    path = source.path or ""
    kind, format = classifier(settings)(path)
    if not kind:
        size = db.execute("SELECT size FROM blob WHERE rid=?", (source.rid,)).fetchone()[0]
        _, format = _by_content(db, source.rid, size)
        if size > _LONGEST_UNNAMED:
            return Document(source, path, "", skipped=f"{size / 1e6:.1f} MB of an unknown kind")
    if second_hand.is_lock_file(path):
        return Document(source, path, format, skipped="lock file")
    if _is_link(db, source.rid):
        return Document(source, path, format, skipped="symbolic link")
    content = artifact.read(db, source.rid)
    decoded = decode(content, settings["max-file-kb"] << 10)
    if not kind and not decoded.text:
        return Document(source, path, "", skipped=decoded.skipped)
    if not format or format == "text":
        format = languages.shebang_language(content) or "text"
    elif format == "man" and not decoded.text.lstrip("\n").startswith((".", "'")):
        format = "plain"
    notes = decoded.notes + second_hand.notes(path, decoded.text, source.kind == "code")
    return Document(source, path, format, decoded.text, skipped=decoded.skipped, notes=notes)


def _is_link(db: sqlite3.Connection, rid: int) -> bool:
    """Its content is then the name of another file, which may even lie outside."""
    row = db.execute("SELECT min(mperm) FROM mlink WHERE fid=?", (rid,)).fetchone()
    return row[0] == _PERM_LINK
