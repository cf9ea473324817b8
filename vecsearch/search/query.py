"""From what a person typed to a `Query`. Pure; nothing typed is ever an error, only unknown
parameters of a program are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ..errors import UsageError
from ..types import KINDS

#: More than this is a pasted file, not a question.
MAX_CHARS = 2048
MAX_TERMS = 64
MAX_K = 100
DEFAULT_K = 10
#: What is said of a query of which not all was read.
CUT = "the query was too long; its beginning was searched"
MODES = ("hybrid", "semantic", "keyword")

#: What a filter wants, for those that were meant as one and are none.
_MISSPELT = {
    "kind": f"kinds are {', '.join(sorted(KINDS))}",
    "after": "a date is YYYY, YYYY-MM or YYYY-MM-DD",
    "before": "a date is YYYY, YYYY-MM or YYYY-MM-DD",
    "in": "there is only in:title",
    "project": "a name follows the colon at once",
    "path": "a path follows the colon at once",
    "user": "a name follows the colon at once",
}

_TOKEN = re.compile(r'(-?)(?:(\w[\w-]*):)?(?:"([^"]*)"|(\S+))')
#: Control characters, zero-width characters and direction overrides: never meant, always in the way.
_INVISIBLE = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question. Times are Unix seconds; `kinds` empty means all that are permitted."""

    text: str = ""
    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    project: str | None = None
    paths: tuple[str, ...] = ()
    user: str = ""
    after: int = 0
    before: int = 0
    in_title: bool = False
    files: tuple[str, ...] = ()
    k: int = DEFAULT_K
    offset: int = 0
    mode: str = "hybrid"
    sort: str = "relevance"
    cut: bool = False
    explain: bool = False
    #: Sentences about what was typed and could not be meant so.
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def filtered(self) -> bool:
        """Whether anything but the kind narrows what may be found."""
        return bool(self.filters())

    def filters(self) -> list[str]:
        """What narrows, but for the kind, as it is typed."""
        days = [(name, datetime.fromtimestamp(when, UTC).date().isoformat()) for name, when in (("after", self.after), ("before", self.before)) if when]
        named = [("project", self.project)] if self.project is not None else []
        return [f"{name}:{value}" for name, value in [*named, *(("path", path) for path in self.paths), *([("user", self.user)] if self.user else []), *days]]


def clean(text: str) -> str:
    """Text without invisible characters, blanks folded."""
    return " ".join(_INVISIBLE.sub("", text).split())


def parse(text: str, **options) -> Query:
    """Read the query language of docs/query.md; `options` set the fields that are not typed."""
    cut = len(text) > MAX_CHARS
    found = _Parts()
    for minus, name, phrase, word in _TOKEN.findall(clean(text[:MAX_CHARS])):
        found.take(bool(minus), name, phrase or word, bool(phrase))
    terms, rest = found.terms[:MAX_TERMS], found.terms[MAX_TERMS:]
    positive = bool(terms or found.phrases or found.prefixes)
    query = Query(
        text=" ".join([*found.phrases, *terms, *found.prefixes]),
        terms=tuple(terms),
        phrases=tuple(found.phrases),
        prefixes=tuple(found.prefixes),
        excluded=tuple(found.excluded) if positive else (),
        cut=cut or bool(rest),
        notes=tuple(found.notes) + ((CUT,) if cut or rest else ()),
        **found.filters,
    )
    if not positive and found.excluded:
        query = replace(query, terms=tuple(found.excluded), text=" ".join(found.excluded))
    return replace(query, **options)


class _Parts:
    """What has been read of a query so far."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.phrases: list[str] = []
        self.prefixes: list[str] = []
        self.excluded: list[str] = []
        self.filters: dict = {}
        self.notes: list[str] = []

    def take(self, minus: bool, name: str, value: str, quoted: bool) -> None:
        if name and self._filter(name.lower(), value):
            return
        if name:
            value = f"{name}:{value}"
        if why := _MISSPELT.get(value.partition(":")[0].lower() if ":" in value and not (quoted and not name) else ""):
            self.notes.append(f'"{value[:40]}" is no filter and was searched as words: {why}')
        if quoted:
            (self.excluded if minus else self.phrases).append(value)
        elif minus and re.search(r"\w", value) and not value.startswith("-"):
            self.excluded.append(value)
        elif value.endswith("*") and re.fullmatch(r"\w[\w-]*\*", value):
            self.prefixes.append(value[:-1])
        else:
            self.terms.append(f"-{value}" if minus else value)

    def _filter(self, name: str, value: str) -> bool:
        """Whether this is a filter with a usable value."""
        if name == "kind" and set(value.split(",")) <= set(KINDS):
            self.filters["kinds"] = self.filters.get("kinds", frozenset()) | frozenset(value.split(","))
        elif name == "path" and value:
            self.filters["paths"] = (*self.filters.get("paths", ()), value)
        elif name in ("project", "user") and value:
            self.filters[name] = value
        elif name in ("after", "before") and (when := _date(value)):
            self.filters[name] = when
        elif name == "in" and value.lower() == "title":
            self.filters["in_title"] = True
        else:
            return False
        return True


def _date(text: str) -> int:
    """Unix time of YYYY, YYYY-MM or YYYY-MM-DD at midnight UTC; 0 if it is none."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", text)
    if not match:
        return 0
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return 0


def whole_number(name: str, text: str, low: int, high: int) -> int:
    """A program's or a form's number. Raises UsageError that names the range."""
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise UsageError(f'{name} must be a whole number from {low} to {high}, not "{text[:40]}"')
    return int(text)


def known_kind(text: str) -> str:
    """Raises UsageError that lists the kinds."""
    if text not in KINDS:
        raise UsageError(f'there is no kind "{text[:40]}"; kinds are: {", ".join(sorted(KINDS))}')
    return text
