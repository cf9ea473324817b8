"""The way from a visitor to the launcher: extension root, file, interpreter, the server's user, a jail.

In Fossil's order of asking (ext_page in src/extcgi.c), so that the first finding is the first refusal.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ..errors import UsageError
from .. import resident
from ..install import default_user, identity, interpreter_of, is_old, is_ours, require_name, try_launcher, worker_fault, worker_of
from .finding import Finding, Setup, broken, warning


def check(setup: Setup) -> list[Finding]:
    """Findings about `setup.extroot`; where one makes the next meaningless, it is the last."""
    findings = list(_folder(setup))
    if findings:
        return findings
    findings = [*_others(setup), *_launcher(setup)]
    if not any(finding.severity == "broken" for finding in findings):
        findings += _runs(setup)
    return findings + (list(_jail(setup)) if setup.jail else [])


def _folder(setup: Setup) -> Iterator[Finding]:
    root = setup.extroot
    if not root.is_absolute():
        yield broken("extroot", f"{root} is a relative path, which Fossil does not serve", f"give --extroot {root.resolve()}")
    elif not root.is_dir():
        yield broken("extroot", f"{root} is no directory", f"mkdir {root} and run: vecsearch install --extroot {root}")
    elif os.statvfs(root).f_flag & os.ST_NOEXEC:
        yield broken("extroot", f"{root} is on a file system mounted noexec, so nothing in it can be started", "choose a folder elsewhere, or mount it without noexec")


def _others(setup: Setup) -> Iterator[Finding]:
    """Whatever else lies there is public, and whoever may write there runs programs as the server."""
    for path in sorted(setup.extroot.iterdir()):
        if path.is_file() and not os.access(path, os.X_OK) and path.name != setup.name:
            yield warning("public", f"{path} is served to everybody as it is", "move it out of the extension root unless it is meant to be public")
    for path in (setup.extroot, setup.extroot / setup.name):
        if path.exists() and path.stat().st_mode & stat.S_IWOTH:
            yield broken("public", f"every user of this machine may write to {path}, and so run programs as the server", f"chmod o-w {path}")


def _launcher(setup: Setup) -> Iterator[Finding]:
    target = setup.extroot / setup.name
    again = f"run: vecsearch install --extroot {setup.extroot}"
    try:
        require_name(setup.name)
    except UsageError as error:
        yield broken("launcher", error, again)
        return
    if not target.is_file():
        yield broken("launcher", f"{target} is not there, so /ext/{setup.name} is a 404", again)
    elif not is_ours(target):
        yield broken("launcher", f"{target} is not a launcher of vecsearch", "give the right --name, or move the file and install again")
    elif not target.stat().st_mode & stat.S_IXUSR:
        yield broken("launcher", f"{target} is not executable, so Fossil shows its text to everybody", f"chmod 755 {target}")
    elif not (interpreter := interpreter_of(target)).is_absolute() or interpreter.name == "env":
        yield broken("launcher", f"{target} is started through {interpreter}, and Fossil gives it no PATH", again)
    elif not interpreter.exists():
        yield broken("launcher", f"the interpreter {interpreter} of {target} is gone", again)
    elif is_old(target):
        yield warning("launcher", f"{target} is of vecsearch 0.1: it asks no worker, so each request loads all", again)
    elif worker_of(target) and not resident.folder():
        yield warning("worker", f"no worker can run, so each request loads all: {resident.unusable()}",
                      "remove or mend it, or install with --no-worker")


def _runs(setup: Setup) -> Iterator[Finding]:
    user = setup.user or default_user(setup.repository)
    target, whom = setup.extroot / setup.name, f" as user {user}" if user else ""
    try:
        blocked = _unreadable(setup, user)
    except UsageError as error:
        yield warning("user", error, "give the user that Fossil runs as, and run this as root")
        return
    if blocked:
        yield broken("user", f"user {user or 'of this shell'} cannot read {blocked}", f"chmod o+rX {blocked}, or give it to that user")
    elif fault := try_launcher(target, setup.repository, user):
        yield broken("launcher", f"{target} does not run with an empty environment{whom}: {fault}",
                     f"run: vecsearch install --extroot {setup.extroot} with the Python that has vecsearch; it must be readable by that user")
    elif fault := worker_fault(target, user):
        yield warning("worker", f"the worker of {target} cannot load, so each request loads all{whom}: {fault}",
                      "install what is missing with: pip install --upgrade fossil-vecsearch, or install with --no-worker")


def _unreadable(setup: Setup, user: str | None) -> str:
    """The first folder or file on the way that the server's user cannot read; "" if there is none."""
    target = (setup.extroot / setup.name).resolve()
    repository = setup.repository.resolve()
    ways = [[*reversed(path.parents), path] for path in (target, interpreter_of(target), repository)]
    places = [str(place) for way in ways for place in way]
    script = 'for p in "$@"; do [ -r "$p" ] || [ -d "$p" ] && { [ ! -d "$p" ] || [ -x "$p" ]; } || { printf %s "$p"; exit; }; done'
    done = subprocess.run(["/bin/sh", "-c", script, "sh", *places], cwd="/", capture_output=True, text=True, check=False, **identity(user))
    return done.stdout


def _jail(setup: Setup) -> Iterator[Finding]:
    """In a jail, absolute paths begin at the jail: all that the launcher names must be there too."""
    target = setup.extroot / setup.name
    if not target.is_file():
        return
    fix = "start Fossil with --nojail or as another user than root, or build the jail of docs/administration.md"
    jail = setup.jail.resolve()
    for path in (setup.extroot.resolve(), setup.repository.resolve()):
        if jail not in (path, *path.parents):
            yield broken("jail", f"{path} is outside of the jail {jail}", fix)
    for program in (interpreter_of(target), Path("/bin/sh")):
        if not _inside(jail, program).exists():
            yield broken("jail", f"the interpreter {program} is not in the jail {jail}", fix)
            return
        for library in _libraries(program):
            if not _inside(jail, library).exists():
                yield broken("jail", f"{library}, which {program} needs, is not in the jail {jail}", fix)
                return


def _inside(jail: Path, path: Path) -> Path:
    return jail / str(path).lstrip("/")


def _libraries(interpreter: Path) -> list[Path]:
    """What the loader would load, and the folder of the standard library."""
    try:
        listed = subprocess.run(["ldd", str(interpreter)], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        listed = ""
    return [Path(name) for name in re.findall(r"(?:=> |^\s+)(/\S+)", listed, re.MULTILINE)] + [Path(os.__file__).parent]
