"""Running the `fossil` program, for what it should change itself: settings and hooks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from .errors import VecsearchError

#: The oldest version that vecsearch is tried with.
OLDEST = (2, 21)


def run(*args: object) -> str:
    """Its output. Raises VecsearchError with its last line if it fails or is not there."""
    # With GATEWAY_INTERFACE it would take itself for a CGI program.
    environ = {name: value for name, value in os.environ.items() if name != "GATEWAY_INTERFACE"}
    try:
        done = subprocess.run(["fossil", *map(str, args)], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise VecsearchError("the program fossil is not on the PATH") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise VecsearchError(f"fossil {' '.join(map(str, args[:2]))}: {reason[0]}")
    return done.stdout


def version() -> tuple[int, ...]:
    """Of the program on the PATH; empty if there is none."""
    if not shutil.which("fossil"):
        return ()
    found = re.search(r"version (\d+(?:\.\d+)+)", run("version"))
    return tuple(int(part) for part in found[1].split(".")) if found else ()
