"""Keeping indexes current: look at repositories, and run `vecsearch index` where one has changed.

A look is a `stat`; only a file that was written to is opened, and only a new change mark starts a run.
A run is a process of its own: it gives back its memory, and neither its crash nor ours takes the other
along. Nothing is remembered on disk. A watcher that starts lets every repository be looked at by one
run, which ends at once where there is nothing to do; so a killed watcher loses nothing.
"""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from . import lock
from .errors import RepositoryError, VecsearchError
from .fossil.repository import change_mark, open_readonly
from .store import marks

#: What is pushed, typed or synced must be found within 5 seconds: POLL + AT_MOST + a run of 1.5 s.
POLL = 0.5
#: A run waits for so long a silence, since a push brings many artifacts,
QUIET = 0.7
#: but not for ever, since a storm has no silence.
AT_MOST = 2.5
#: After a failed run the next try waits, twice as long each time.
FIRST_RETRY, LAST_RETRY = 5.0, 600.0
#: How often a folder is searched for repositories that came or went.
RESCAN = 5.0


@dataclass
class Watched:
    """One repository. `changed` and `last` are when its first and its last unseen change were noticed."""

    path: Path
    stamp: tuple = ()
    mark: str = ""
    changed: float | None = 0.0
    last: float = 0.0
    retry_at: float = 0.0
    retry_after: float = FIRST_RETRY
    process: subprocess.Popen | None = None

    def look(self, now: float) -> None:
        """Notice a change. A repository that is gone or locked is looked at again next time."""
        try:
            stamp = _stamp(self.path)
            if stamp != self.stamp:
                mark = _mark(self.path)
                if mark != self.mark and self.mark:
                    self.last = now
                    self.changed = now if self.changed is None else self.changed
                self.stamp, self.mark = stamp, mark
        except (OSError, RepositoryError, sqlite3.Error):
            self.stamp = ()

    def due(self, now: float) -> bool:
        """Whether a run is to be started now."""
        if self.changed is None or self.process or now < self.retry_at:
            return False
        return now - self.last >= QUIET or now - self.changed >= AT_MOST

    def start(self) -> None:
        """What changes from here on is for the next run."""
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "vecsearch", "index", "-R", str(self.path)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.changed = None

    def reap(self, now: float) -> str:
        """Note how a run ended: "" if well or not yet, else why not."""
        if self.process is None or self.process.poll() is None:
            return ""
        process, self.process = self.process, None
        with process.stderr:
            said = process.stderr.read().decode("utf-8", "replace").strip()
        if process.returncode == 0:
            self.retry_after, self.retry_at = FIRST_RETRY, 0.0
            return ""
        self.changed, self.retry_at = now, now + self.retry_after
        wait, self.retry_after = self.retry_after, min(2 * self.retry_after, LAST_RETRY)
        reason = said.splitlines()[-1].removeprefix("vecsearch: ") if said else f"the run ended with {process.returncode}"
        where = "" if str(self.path) in reason else f"{self.path}: "
        return f"{where}{reason}; next try in {wait:.0f} s"


def _stamp(path: Path) -> tuple:
    """Changes with every write, in either journal mode."""
    facts = []
    for name in (path, Path(f"{path}-wal")):
        try:
            found = name.stat()
        except FileNotFoundError:
            if name == path:
                raise
            continue
        facts.append((found.st_ino, found.st_mtime_ns, found.st_size))
    return tuple(facts)


def _mark(path: Path) -> str:
    """Changes with whatever a run could find to do: content, and our settings."""
    with closing(open_readonly(path)) as db:
        return f"{change_mark(db)} {marks.setting_rows(db)!r}"


def _is_stale(path: Path) -> bool:
    """Whether the index does not know all that the repository holds."""
    try:
        with closing(open_readonly(path)) as db:
            return marks.mark(db, "change") != change_mark(db)
    except (RepositoryError, sqlite3.Error):
        return True


@dataclass
class Watcher:
    """Looks after the repositories that `find` names, with at most `jobs` runs at once.

    `say` prints a line. With `only_stale`, the first run waits for a change that the index does not know:
    a check-in that is being made must not meet it. With `linger`, it ends after so many seconds without a
    change, or when nothing is left to look after.
    """

    find: Callable[[], Iterable[Path]]
    say: Callable[[str], None]
    jobs: int = 2
    linger: float = 0.0
    only_stale: bool = False
    stop: bool = False
    watched: dict[Path, Watched] = field(default_factory=dict)
    fault: str = ""

    def go(self) -> None:
        """Until SIGTERM or SIGINT; then no run is started any more, and those at work are waited for."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, lambda *_: self._retry_now())
        rescan, idle_since = 0.0, time.monotonic()
        while not self.stop:
            now = time.monotonic()
            if now >= rescan:
                self._rescan()
                rescan = now + RESCAN
            if self._step(now):
                idle_since = now
            if self.linger and (not self.watched or now - idle_since >= self.linger):
                break
            time.sleep(POLL)
        self._drain()

    def _rescan(self) -> None:
        try:
            found = set(self.find())
        except (VecsearchError, OSError) as error:  # a folder that is mounted anew comes back
            self._say_once(f"{error}; looking again every {RESCAN:.0f} s")
            return
        self.fault = ""
        for path in found - self.watched.keys():
            one = self.watched[path] = Watched(path, last=time.monotonic())
            one.look(one.last)
            if self.only_stale and not _is_stale(path):  # asked after the look, so that nothing is missed between
                one.changed = None
        for path in [path for path, one in self.watched.items() if path not in found and one.process is None]:
            del self.watched[path]

    def _say_once(self, fault: str) -> None:
        if fault != self.fault:
            self.say(fault)
        self.fault = fault

    def _step(self, now: float) -> bool:
        """Whether there was anything to do. Who waits longest comes first."""
        for one in self.watched.values():
            if said := one.reap(now):
                self.say(said)
            one.look(now)
        due = sorted((one for one in self.watched.values() if one.due(now)), key=lambda one: one.changed)
        busy = sum(one.process is not None for one in self.watched.values())
        if due and busy < self.jobs:
            self._rescan()  # what went meanwhile is not to be indexed any more
        for one in due[: max(0, self.jobs - busy)]:
            if one.path in self.watched and lock.is_free(one.path, "run"):
                one.start()
        return bool(due or busy)

    def _stop(self, *_: object) -> None:
        """Takes no lock: the thread that is interrupted may hold it. That of a threading.Event it held in every tenth try."""
        self.stop = True

    def _retry_now(self) -> None:
        """SIGHUP: the administrator has mended something."""
        for one in self.watched.values():
            one.retry_at, one.retry_after = 0.0, FIRST_RETRY

    def _drain(self) -> None:
        for one in self.watched.values():
            if one.process:
                one.process.wait()
                if said := one.reap(time.monotonic()):
                    self.say(said)
