"""An index run as an administrator has it: one at a time per repository, with a line in the log; and one
over every repository of a folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from . import embed, lock, peers
from .errors import UsageError, VecsearchError
from .folder import repositories
from .fossil.repository import open_readonly
from .index import Progress, Report, index
from .log import Log
from .store.reader import Reader


def run(path: Path, *, rebuild: bool, progress: Progress, waiting: Callable[[], None]) -> Report:
    """`index`, once no other run is at work there; `waiting` is called if one is."""
    started = time.monotonic()
    verb = "rebuild" if rebuild else "index"
    try:
        with lock.exclusive(path, "run", waiting=waiting):
            report = index(path, embed.get, rebuild=rebuild, progress=progress)
    except VecsearchError as error:
        Log.of(path).run(verb, time.monotonic() - started, {"failed": error})
        raise
    Log.of(path).run(verb, time.monotonic() - started, _facts(report))
    return report


def to_take_in_again(path: Path) -> list[str]:
    """A rebuild over tables of another format, or damaged ones, keeps of peers and libraries that they were
    there: what they hold is not in this repository."""
    with closing(open_readonly(path)) as db:
        reader = Reader(db)
        libraries = [name for name in reader.library_templates() if not reader.library(name)]
    said = [f"nothing is here of the peer {peer.name}; run: vecsearch peer update" for peer, artifacts in peers.listing(path) if not artifacts]
    return said + [f"nothing is here of the library {name}; take it in again: vecsearch import-api" for name in libraries]


def _facts(report: Report) -> dict[str, object]:
    if report.unchanged:
        return {"unchanged": "yes"}
    return {"artifacts": report.artifacts, "chunks": report.chunks, "embedded": report.embedded, "moved": report.moved,
            "removed": report.removed, "failed": len(report.failed), "checkin": report.checkin[:16] or "none"}


def all_below(folder: Path, one: Callable[[Path], None]) -> list[VecsearchError]:
    """Do `one` to each repository; a fault in one does not stop the others. Returns the faults."""
    paths, faults = repositories(folder), []
    if not paths:
        raise UsageError(f"{folder}: there is no *.fossil file below it")
    for path in paths:
        try:
            one(path)
        except VecsearchError as error:
            faults.append(error)
    return faults
