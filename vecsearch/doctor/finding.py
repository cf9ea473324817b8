"""What a check is given and what it yields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Setup:
    """What the administrator named. `user` is whom Fossil runs as, `jail` the folder it locks itself into."""

    repository: Path
    extroot: Path | None = None
    name: str = "search"
    user: str | None = None
    jail: Path | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """`severity` is `broken` (searches or runs fail, or show what they must not) or `warning`."""

    severity: str
    check: str
    says: str
    fix: str


def broken(check: str, says: object, fix: str) -> Finding:
    return Finding("broken", check, str(says), fix)


def warning(check: str, says: object, fix: str) -> Finding:
    return Finding("warning", check, str(says), fix)
