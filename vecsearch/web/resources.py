"""Templates and static files, and how values are written in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

_NOT_XML = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]")


def resource_folder(name: str) -> Path:
    """`templates` or `static`: inside the installed package, or at the root of a check-out."""
    package = Path(__file__).parent.parent
    return package / name if (package / name).is_dir() else package.parent / name


@cache
def static_text(name: str) -> str:
    """A file of static/. Styles and script go into the page: a second request is a second process."""
    return (resource_folder("static") / name).read_text("utf-8")


def add_filters(filters: dict[str, Callable[..., Any]]) -> None:
    """What templates write: `seconds|day`, `title|headline`, `path|ending`, `bytes|size`, `message|sentence`, `text|xml`."""
    filters.update(day=day, headline=headline, ending=ending, size=size, sentence=sentence, xml=xml)


def day(seconds: int) -> str:
    """2026-03-01; empty for a time that no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


def headline(title: str, limit: int = 110) -> str:
    """The first line of a title, cut at a blank: check-in comments may have hundreds of words. A trail of headings
    is cut in its middle, since its end says most."""
    line = next((line.strip() for line in title.splitlines() if line.strip()), title.strip())
    if len(line) <= limit:
        return line
    trail = line.split(" > ")
    if len(trail) == 1:
        return _cut(line, limit)
    return f"{_cut(trail[0], limit // 2)} > {'… > ' if trail[2:] else ''}{_cut(trail[-1], limit // 2)}"


def _cut(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    return line[: max(line.rfind(" ", 0, limit), limit // 2)].rstrip(" ,;:.") + "…"


def ending(path: str, limit: int) -> str:
    """The end of a path, which says most."""
    return path if len(path) <= limit else f"…{path[1 - limit:]}"


def size(number: int) -> str:
    """81.2 MB."""
    value, unit = float(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if unit != "bytes" else f"{number} bytes"


def sentence(message: str) -> str:
    """A message as a sentence of its own."""
    return f"{message[:1].upper()}{message[1:]}" + ("" if message.endswith((".", "!", "?")) else ".")


def xml(text: str) -> Markup:
    """Escaped, and without the characters that no XML may hold."""
    return Markup(_NOT_XML.sub("\ufffd", str(escape(str(text)))))
