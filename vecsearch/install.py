"""Putting the launcher of the search page into a Fossil extension root."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .errors import UsageError, VecsearchError

#: Fossil serves no other names below its extension root, and none that starts with `.` or `-`.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def launcher_template() -> str:
    """The text of ext/search, from the installed package or from a check-out."""
    here = Path(__file__).parent
    packaged = here / "ext" / "search"
    return (packaged if packaged.is_file() else here.parent / "ext" / "search").read_text("utf-8")


def install(extroot: Path, name: str, repository: Path | None) -> str:
    """Write DIR/NAME, run it once with Fossil's empty environment, and say what to type next.

    Raises UsageError for a name that Fossil would not serve, VecsearchError if it does not run.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f'Fossil serves no extension called "{name}": use letters, digits, ".", "_" and "-"')
    if not extroot.is_dir():
        raise UsageError(f"{extroot} is no directory; make it first, and let nobody else write there")
    target = extroot.resolve() / name
    partial = target.with_name(f"{name}.new")
    try:
        partial.write_text(_launcher(), "utf-8")
        partial.chmod(0o755)
        os.replace(partial, target)
    except OSError as error:
        raise VecsearchError(f"cannot write {target}: {error.strerror}") from error
    _try(target, repository)
    shown = repository.resolve() if repository else "REPOSITORY"
    return (f"wrote {target}\n"
            f"serve it:   fossil server --extroot {extroot.resolve()} {shown}\n"
            f"as CGI:     add the line  extroot: {extroot.resolve()}  to Fossil's CGI script\n"
            f"then open   /ext/{name}\n")


def _launcher() -> str:
    first = f"#!{sys.executable} -I"
    if len(first) > 255 or " " in sys.executable:
        raise VecsearchError(f"the interpreter's path {sys.executable} is too long or has a blank: the kernel cannot start it")
    text = launcher_template().replace("#!/usr/bin/env python3", first, 1)
    return text.replace("PATHS = []", f"PATHS = {_missing_paths()!r}", 1)


def _missing_paths() -> list[str]:
    """Directories of sys.path that an isolated interpreter would not look into but that we run from."""
    isolated = subprocess.run([sys.executable, "-I", "-c", "import sys; print('\\n'.join(sys.path))"],
                              capture_output=True, text=True, check=True).stdout.splitlines()
    needed = {str(Path(sys.modules[name.split(".")[0]].__file__).resolve().parent.parent) for name in ("vecsearch.install",)}
    for library in ("flask", "numpy"):
        module = __import__(library)
        needed.add(str(Path(module.__file__).resolve().parent.parent))
    return sorted(needed - {str(Path(p).resolve()) for p in isolated})


def _try(target: Path, repository: Path | None) -> None:
    """A launcher that cannot start is a blank page later; better to say so now."""
    environ = {"FOSSIL_REPOSITORY": str(repository.resolve()) if repository else "", "GATEWAY_INTERFACE": "CGI/1.0",
               "REQUEST_METHOD": "GET", "QUERY_STRING": "format=json", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
               "SERVER_PROTOCOL": "HTTP/1.0", "SCRIPT_NAME": f"/ext/{target.name}", "PATH_INFO": ""}
    done = subprocess.run([str(target)], env=environ, capture_output=True, timeout=60, check=False)
    if b"application/json" not in done.stdout:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it printed nothing"]
        raise VecsearchError(f"{target} does not run with an empty environment: {reason[0]}")
