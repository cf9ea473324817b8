"""What a request asks for. Its address is the whole state, so every link is the same address with
something changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ..errors import UsageError
from ..search.query import DEFAULT_K, MAX_K, MODES, Query, known_kind, parse, whole_number

FORMATS = ("html", "json", "atom", "opensearch", "suggest")
SORTS = ("relevance", "date")
#: Beyond this a page number is a crawler's, not a reader's.
MAX_OFFSET = 1000

#: Files in hand whose neighbours are drawn up.
MAX_FILES = 16

_LIKE = re.compile(r"([0-9a-f]{16,128})\.(\d{1,10})")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parameters, checked. `like` is the passage (artifact, seq) to which others shall be similar."""

    text: str
    query: Query
    kind: str
    project: str
    like: tuple[str, int] | None
    base: str

    @property
    def something(self) -> bool:
        """Whether there is a question at all."""
        return bool(self.text.strip() or self.like)

    def link(self, **changes: object) -> str:
        """The address of the same question with some parameters changed; those at their default are
        left out, and so is `offset` unless given: another question begins at its first page. What was typed
        comes last, since Fossil cuts long addresses."""
        typed = {"q": changes.pop("q", self.text)}
        args = {"kind": self.kind, "project": self.project, "sort": self.query.sort, "mode": self.query.mode, "k": self.query.k,
                "like": f"{self.like[0]}.{self.like[1]}" if self.like else "", "files": ",".join(self.query.files),
                "explain": int(self.query.explain), **changes, **typed}
        usual = {"project": "*", "sort": "relevance", "mode": "hybrid", "k": DEFAULT_K, "offset": 0, "explain": 0}
        return address(self.base, {name: value for name, value in args.items() if value != usual.get(name, "")})


def address(base: str, args: Mapping[str, object], page: str = "") -> str:
    """An address below /ext/search; empty arguments are left to the caller."""
    return f"{base}/ext/search{page}" + (f"?{urlencode(args)}" if args else "")


def read(args: Mapping[str, str], base: str) -> Asked:
    """Raises UsageError for a number or name that makes no sense; whatever is typed into the box is fine."""
    options: dict[str, Any] = {
        "k": whole_number("k", args.get("k") or str(DEFAULT_K), 1, MAX_K),
        "offset": whole_number("offset", args.get("offset") or "0", 0, MAX_OFFSET),
        "mode": _one_of("mode", args.get("mode"), MODES),
        "sort": _one_of("sort", args.get("sort"), SORTS),
        "files": tuple(filter(None, (args.get("files") or "").split(",")))[:MAX_FILES],
        "explain": _one_of("explain", args.get("explain"), ("0", "1")) == "1",
    }
    kind, project = args.get("kind") or "", args.get("project", "*")
    if kind:
        options["kinds"] = frozenset({known_kind(kind)})
    if project != "*":
        options["project"] = project
    text = (args.get("q") or args.get("s") or "").replace("\0", "")
    return Asked(text, parse(text, **options), kind, project, _like(args.get("like")), base)


def read_format(args: Mapping[str, str]) -> str:
    """Raises UsageError that lists the formats."""
    return _one_of("format", args.get("format"), FORMATS)


def _one_of(name: str, value: str | None, choices: tuple[str, ...]) -> str:
    """The first is the default."""
    if value and value not in choices:
        raise UsageError(f'there is no {name} "{value[:40]}"; {name}s are: {", ".join(choices)}')
    return value or choices[0]


def _like(value: str | None) -> tuple[str, int] | None:
    if not value:
        return None
    match = _LIKE.fullmatch(value)
    if not match:
        raise UsageError(f'like must be HASH.NUMBER as in a link "similar", not "{value[:40]}"')
    return match[1], int(match[2])
