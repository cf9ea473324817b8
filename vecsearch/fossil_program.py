"""Running the `fossil` program, for what it should change itself: settings and hooks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import VecsearchError

#: The oldest version that vecsearch is tried with.
OLDEST = (2, 21)


def run(*args: object) -> str:
    """Its output. A path is named absolutely, since it runs in no folder of ours, and in a home of its own:
    it stops without one, and a system user has none. Raises VecsearchError if it fails or is not there."""
    words = [str(arg.absolute() if isinstance(arg, Path) else arg) for arg in args]
    # With GATEWAY_INTERFACE it would take itself for a CGI program.
    environ = {name: value for name, value in os.environ.items() if name != "GATEWAY_INTERFACE"}
    with tempfile.TemporaryDirectory() as home:
        environ["FOSSIL_HOME"] = home
        try:
            done = subprocess.run(["fossil", *words], env=environ, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise VecsearchError("the program fossil is not on the PATH") from None
    if done.returncode:
        repository = next((str(arg) for arg in args if isinstance(arg, Path)), "")
        raise VecsearchError(f"{repository + ': ' if repository else ''}fossil {' '.join(words[:2])}: {_reason(done.stderr or done.stdout)}")
    return done.stdout


#: What SQLite says through Fossil -> what to do.
_ADVICE = {"readonly database": "the repository cannot be written; run this as its owner",
           "disk is full": "the disk is full", "is locked": "another process is using the repository; try again when it is done"}


def _reason(said: str) -> str:
    for words, advice in _ADVICE.items():
        if words in said:
            return advice
    return (said.strip().splitlines() or ["no reason given"])[-1]


def version() -> tuple[int, ...]:
    """Of the program on the PATH; empty if there is none."""
    if not shutil.which("fossil"):
        return ()
    found = re.search(r"version (\d+(?:\.\d+)+)", run("version"))
    return tuple(int(part) for part in found[1].split(".")) if found else ()
