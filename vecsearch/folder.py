"""The repositories of a folder."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import UsageError


def repositories(folder: Path) -> list[Path]:
    """What `fossil server FOLDER` would serve: *.fossil at any depth, nothing hidden. Raises OSError where
    the folder itself cannot be read, in which a search would find nothing."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no directory")
    os.scandir(folder).close()
    found = (path for path in folder.rglob("*.fossil") if path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))
