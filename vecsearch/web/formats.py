"""The same answers for programs: JSON, Atom, and what browsers call OpenSearch."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime

from flask import Response, render_template

from ..fossil.visible import visible
from ..present import result_json
from ..search.query import clean
from ..search.run import Result
from ..store import names
from ..store.reader import Reader
from . import replies
from .asked import Asked, address
from .resources import headline, static_text

#: Suggestions that a browser shows.
MOST = 10


def results(result: Result, next_url: str | None) -> Response:
    """format=json."""
    return replies.as_json(result_json(result, next_url))


def openapi() -> Response:
    """GET /ext/search/openapi.json: what this surface promises, with this site as its server."""
    described = json.loads(static_text("openapi.json"))
    described["servers"] = [{"url": replies.base() or "/"}]
    return replies.as_json(described)


def opensearch(project: str) -> Response:
    """format=opensearch: how a browser makes this page one of its search engines."""
    site = f"{replies.origin()}{replies.base()}"
    body = render_template("opensearch.xml", site=site, project=project, name=headline(project, 15)[:16])
    return replies.data(body, "application/opensearchdescription+xml; charset=utf-8")


def suggest(db: sqlite3.Connection, asked: Asked, kinds: frozenset[str]) -> Response:
    """format=suggest: [typed, names, kinds, addresses], as browsers ask while one types."""
    typed = clean(asked.text)
    found = _visible_names(db, typed, asked.query.kinds & kinds if asked.query.kinds else kinds) if typed and kinds else []
    facts = [asked.text, [name for name, _ in found], [kind for _, kind in found],
             [f"{replies.origin()}{address(asked.base, {'q': name, 'kind': kind})}" for name, kind in found]]
    return replies.data(json.dumps(facts, ensure_ascii=False) + "\n", "application/x-suggestions+json")


def _visible_names(db: sqlite3.Connection, typed: str, kinds: frozenset[str]) -> list[tuple[str, str]]:
    """(name, kind), each name once, none of an artifact that has become invisible since the index run."""
    if not {"fx_vec_detail", "fx_vec_chunk"} <= Reader(db).tables:
        return []
    rows = _symbols(db, typed, kinds) + names.beginning(db, typed, kinds, 20 * MOST)
    shown = visible(db, [(kind, hash_) for _, kind, hash_, project in rows if not project])
    found: dict[str, str] = {}
    for name, kind, hash_, project in rows:
        if project or (kind, hash_) in shown:
            found.setdefault(headline(name.split(" > ")[-1], 80), kind)
    return list(found.items())[:MOST]


def _symbols(db: sqlite3.Connection, typed: str, kinds: frozenset[str]) -> list[tuple[str, str, str, str]]:
    """Names that code defines and that begin with what was typed, short ones first."""
    if not typed.isidentifier():
        return []
    from ..chunk import symbols  # the grammars of all languages, which no other answer needs

    found = [(name, kind, hash_, project) for format_, text, kind, hash_, project in names.code_with(db, typed, kinds, 20 * MOST)
             for name in symbols(format_, text) if name.lower().startswith(typed.lower())]
    return sorted(set(found), key=lambda row: (len(row[0]), row))


def atom(asked: Asked, result: Result, project: str) -> Response:
    """format=atom: a query to subscribe to."""
    site = replies.origin()
    stamp = max((hit.mtime for hit in result.hits), default=0)
    body = render_template("atom.xml", asked=asked, result=result, site=site, project=project, updated=_rfc3339(stamp), time=_rfc3339)
    return replies.data(body, "application/atom+xml; charset=utf-8")


def _rfc3339(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return "1970-01-01T00:00:00Z"
