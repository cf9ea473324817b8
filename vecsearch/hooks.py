"""Fossil's hooks that keep an index current, and what they run.

What Fossil does (src/hook.c, src/backoffice.c; 2.21 and 2.28 alike):

1. `after-receive` is run by the backoffice, a process that follows a web request or a sync. A command
   on the server's own file alone, such as `fossil commit`, starts none; the next page view does.
2. The backoffice holds a write transaction on the repository while it starts its hooks and writes the
   list of what came to their standard input. A hook that indexed there would wait for a lock that is
   only released when the hook has read its input: ours reads, forks and ends.
3. Two backoffice runs are at least 60 seconds apart. So our process stays a little longer than that and
   looks for changes itself; that is how the second push within a minute is found, too.
4. `before-commit` is run by `fossil commit` in a check-out before the check-in exists. Ours comes back at
   once with success, and stays to look for the check-in. There is no hook after a commit.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from . import fossil_program, lock
from .errors import RepositoryError, UsageError
from .fossil.repository import config_value, open_readonly
from .watch import Watcher

TYPES = ("after-receive", "before-commit")
#: The backoffice's lease is 60 seconds; a push that is part of a longer talk may put it off a little.
LINGER = 70.0
#: By this a command is known to be ours, whichever interpreter it names.
_OURS = "vecsearch hook run"


@dataclass(frozen=True, slots=True)
class Hook:
    """One of the repository's hooks; `number` is what `fossil hook delete` is given."""

    number: int
    type: str
    command: str

    @property
    def ours(self) -> bool:
        return _OURS in self.command


def listing(path: Path) -> list[Hook]:
    """Every hook of the repository, whoever made it."""
    with closing(open_readonly(path)) as db:
        text = config_value(db, "hooks", "[]")
    try:
        items = json.loads(text)
    except ValueError:
        return []
    return [Hook(number, str(item.get("type", "")), str(item.get("cmd", ""))) for number, item in enumerate(items)]


def command(type_: str) -> str:
    """What Fossil hands to a shell. %R is the repository's name, which need not be absolute."""
    option = " --commit" if type_ == "before-commit" else ""
    return f'{shlex.quote(sys.executable)} -I -m {_OURS}{option} -R "%R"'


def install(path: Path, types: Iterable[str] = TYPES) -> str:
    """Add our hooks, in place of older ones of ours."""
    if set(str(path.resolve())) & set('"$`\\%'):
        raise UsageError(f"{path}: Fossil hands this name to a shell; a name with a quote, $, ` or % is not safe there")
    removed = uninstall(path)
    for type_ in types:
        fossil_program.run("hook", "add", "--command", command(type_), "--type", type_, "--sequence", "50", "-R", path)
    return "\n".join([*removed.splitlines(), *(f"added the {type_} hook" for type_ in types)])


def uninstall(path: Path) -> str:
    """Take away our hooks and leave all others."""
    gone = [hook for hook in listing(path) if hook.ours]
    for hook in reversed(gone):  # numbers are places in a list
        fossil_program.run("hook", "delete", str(hook.number), "-R", path)
    return "\n".join(f"removed the {hook.type} hook" for hook in gone)


def run(path: Path, *, commit: bool, say: Callable[[str], None]) -> None:
    """What a hook does: let Fossil go on at once, then watch the repository for a while."""
    path = path.resolve()
    if not commit:
        _read_all(sys.stdin.fileno())
    if _detach():
        return
    # One process watches, one waits to take over; what a third would find, the second will.
    with ExitStack() as waiting_room, ExitStack() as watch_room:
        if not waiting_room.enter_context(lock.exclusive(path, "next")):
            return
        watch_room.enter_context(lock.exclusive(path, "watch", waiting=lambda: None))
        waiting_room.close()
        Watcher(lambda: _still_wanted(path), say, jobs=1, linger=LINGER, only_stale=commit).go()


def _still_wanted(path: Path) -> list[Path]:
    """Nothing once our hooks are gone: what was purged must not be indexed anew."""
    try:
        return [path] if any(hook.ours for hook in listing(path)) else []
    except RepositoryError:
        return [path] if path.exists() else []


def _read_all(file: int) -> None:
    """Fossil writes while it holds its lock, and a pipe that nobody reads ends it by a signal."""
    while os.read(file, 1 << 16):
        pass


def _detach() -> bool:
    """Go on in a process without parent, terminal or open files; True in the one that Fossil waits for."""
    if os.fork():
        return True
    os.setsid()
    if os.fork():
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        os.dup2(nothing, file)
    return False
