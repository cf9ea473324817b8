"""Whether the code that is loaded is still the code that is installed."""

from __future__ import annotations

import os
import site
import sys
from functools import cache
from pathlib import Path

from ..web.resources import resource_folder

Stamp = tuple[tuple[int, int, int], ...]


def stamp() -> Stamp:
    """Device, file and time of all that a worker has loaded or may still load: every file of the package with
    its templates, the folders in which libraries are installed, the interpreter. Raises OSError where
    one has gone."""
    return tuple(_facts(path) for path in _files())


def is_unchanged(installed: Stamp) -> bool:
    """A few hundred looks at the file system: a quarter of a millisecond."""
    try:
        return stamp() == installed
    except OSError:
        return False


@cache
def _files() -> tuple[str, ...]:
    package = Path(__file__).resolve().parent.parent
    places = [package, resource_folder("templates"), resource_folder("static")]
    found = {str(path) for place in places for path in place.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".pyo")}
    libraries = [folder for folder in site.getsitepackages() if os.path.isdir(folder)]
    return *sorted(found), *libraries, os.path.realpath(sys.orig_argv[0])


def _facts(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_mtime_ns
