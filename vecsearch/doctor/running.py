"""Fossil servers at work on this machine for this repository, as /proc shows them (Linux): how they were
started says whether they lock themselves into a jail, and where they look for extensions.

What inetd or a web server starts lives for one request only, and is not seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .finding import Finding, Setup, broken, warning


@dataclass(frozen=True, slots=True)
class Server:
    """`jail` is the folder that it, or each process that answers for it, locks itself into, if any."""

    pid: int
    jail: Path | None
    options: tuple[str, ...]

    @property
    def extroot(self) -> str:
        """As it was given; "" if it was not."""
        for at, word in enumerate(self.options):
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name == "extroot":
                return value or "".join(self.options[at + 1 : at + 2])
        return ""


def servers(repository: Path) -> Iterator[Server]:
    """Each once: a server's children, one for each request, look like it."""
    repository, seen = repository.resolve(), set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
            if len(words) < 3 or Path(words[0]).name != "fossil" or words[1] != "server" or words[-1].startswith("-"):
                continue
            target = ((process / "cwd").resolve() / words[-1]).resolve()
            root, by_root = Path(os.readlink(process / "root")), process.stat().st_uid == 0
        except (OSError, RuntimeError):  # gone meanwhile, or another user's
            continue
        if target in (repository, *repository.parents):
            options = tuple(words[2:-1])
            server = Server(int(process.name), _jail(target, options, root, by_root), options)
            if (key := (target, server.jail, options)) not in seen:
                seen.add(key)
                yield server


def _jail(target: Path, options: tuple[str, ...], root: Path, by_root: bool) -> Path | None:
    """enter_chroot_jail in src/main.c: the processes that root's server starts for requests go into the folder
    of what is served, and give up root there."""
    if root != Path("/"):
        return root
    if not by_root or any(word.startswith("-") and word.lstrip("-") == "nojail" for word in options):
        return None
    return target if target.is_dir() else target.parent


def jail(repository: Path) -> Path | None:
    """The folder that a server at work has locked itself into."""
    return next((server.jail for server in servers(repository) if server.jail), None)


def check(setup: Setup) -> Iterator[Finding]:
    for server in servers(setup.repository):
        given = server.extroot
        again = f"start it with --extroot {_seen_from(server.jail, setup.extroot)}"
        if not given:
            yield warning("server", f"the Fossil server that runs as process {server.pid} has no --extroot, so its /ext/{setup.name} is a 404", again)
        elif not Path(given).is_absolute():
            yield broken("server", f"the Fossil server that runs as process {server.pid} has --extroot {given}, a relative path, which Fossil does not serve", again)
        elif _outside(server.jail, given).resolve() != setup.extroot.resolve():
            yield warning("server", f"the Fossil server that runs as process {server.pid} has another extension root, {given}", again)


def _outside(jail: Path | None, path: str) -> Path:
    """A path of the server's as others see it."""
    return jail / path.lstrip("/") if jail else Path(path)


def _seen_from(jail: Path | None, path: Path) -> Path:
    """A path as the server sees it."""
    path = path.resolve()
    return Path("/", path.relative_to(jail)) if jail and path.is_relative_to(jail) else path
