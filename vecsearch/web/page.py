"""The search page, and the answer that it and every other format show."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from flask import Response, request

from .. import embed
from ..errors import ArtifactError
from ..fossil import repository
from ..fossil.behind import checkins_since
from ..present import code_lines
from ..search.query import CUT
from ..search.run import Result, search
from ..store import passage, seen
from ..store.connection import one_state
from ..store.reader import Reader
from ..types import KINDS, Hit
from . import formats, replies
from .asked import Asked, read, read_format
from .visit import visit

if TYPE_CHECKING:
    from ..fossil.corpus import media


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, by whom as far as it matters, and the result; `kinds` are the visitor's."""

    asked: Asked
    result: Result
    kinds: frozenset[str]


def page() -> Response:
    """GET /ext/search."""
    form = read_format(request.args)
    if form == "opensearch":
        with visit() as (db, _):
            return formats.opensearch(repository.project_name(db))
    with visit() as (db, kinds):
        asked = read(request.args, replies.base())
        if form == "suggest":
            return formats.suggest(db, asked, kinds)
        with one_state(db):
            answer = answer_to(db, asked, kinds)
            if form == "json":
                return formats.results(answer.result, next_url(answer))
            if form == "atom":
                return formats.atom(answer.asked, answer.result, repository.project_name(db))
            return _page(db, answer)


def answer_to(db: sqlite3.Connection, asked: Asked, kinds: frozenset[str]) -> Answer:
    """Search, or look for what is similar, over the given kinds only."""
    if not kinds:
        return Answer(asked, Result(asked.query, message="nothing here is open to you; log in to search"), kinds)
    if asked.like:
        from ..search.similar import similar

        result = similar(db, asked.like, asked.query, kinds, asked.base)
    else:
        result = search(db, lambda: embed.get(Reader(db, seen.of(db)[1]).settings()), asked.query, kinds, asked.base)
    if replies.address_was_cut() and not asked.query.cut:
        result.note(CUT)
    if "checkin" not in kinds:
        # Which check-in is the newest is for those to know who may read it.
        result.checkin, result.hits = "", [replace(hit, ci="") for hit in result.hits]
    return Answer(asked, result, kinds)


def next_url(answer: Answer) -> str | None:
    """The same question, one page on."""
    form = request.args.get("format", "")
    return None if answer.result.next is None else answer.asked.link(offset=answer.result.next, format=form)


def _page(db: sqlite3.Connection, answer: Answer) -> Response:
    asked, result, reader = answer.asked, answer.result, Reader(db, seen.of(db)[1])
    indexed = result.state != "no_index"
    kinds, projects = _held(reader, answer.kinds) if indexed and answer.kinds else ([], [])
    offset = asked.query.offset
    return replies.html(
        "search.html",
        asked=asked,
        result=result,
        groups=_groups(result.hits),
        kinds=kinds,
        facets=result.facets,
        projects=projects,
        closed=not answer.kinds,
        similar_to=_title_of(db, asked) if asked.like else "",
        behind=checkins_since(db, result.checkin) if result.checkin else 0,
        next_url=next_url(answer),
        previous_url=asked.link(offset=max(0, offset - asked.query.k)) if offset else "",
        code_lines=code_lines,
        asset=lambda hit: _asset(db, hit),
        has_map=indexed and reader.has_map(),
    )


def _held(reader: Reader, kinds: frozenset[str]) -> tuple[list[str], list[str]]:
    """The kinds and projects that the index holds anything of: a pass over the index, kept with the rows."""
    shelf = reader.shelf(reader.state(), kinds)
    if "held" not in shelf.derived:
        present = [KINDS[code] for code in np.flatnonzero(np.bincount(shelf.kinds, minlength=len(KINDS))[: len(KINDS)])]
        shelf.derived["held"] = sorted(present), reader.projects(kinds)
    return shelf.derived["held"]


def _groups(hits: list[Hit]) -> list[list[Hit]]:
    """The hits of a page, further ones of an artifact behind its best."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.project, hit.hash), []).append(hit)
    return list(groups.values())


def _title_of(db: sqlite3.Connection, asked: Asked) -> str:
    found = passage.find(Reader(db), *asked.like)
    return found.title or found.symbol or found.path or found.hash[:16]


def _asset(db: sqlite3.Connection, hit: Hit) -> media.Asset | None:
    """What a media hit's manifest says of its asset; of a peer's there is no manifest here."""
    if hit.kind != "media" or hit.project:
        return None
    from ..fossil import artifact
    from ..fossil.corpus import media

    try:
        return media.parse(artifact.read_hash(db, hit.hash))
    except (ArtifactError, ValueError):
        return None
