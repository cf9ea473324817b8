"""Search from within a Python program: `vecsearch.semantic_search`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from . import embed
from .errors import UsageError
from .fossil.repository import open_readonly
from .search.query import MAX_K, known_kind, parse
from .search.result import Result
from .search.run import search
from .store.reader import Reader
from .types import KINDS, Hit


class Hits(list[Hit]):
    """Hits, best first. `state` and `message` say what an empty list cannot: that nothing is relevant
    (`ok`), that there is no index, that it is stale or of another model, that an arm has failed."""

    def __init__(self, result: Result):
        super().__init__(result.hits)
        self.state, self.message, self.total = result.state, result.message, result.total
        self.model, self.checkin = result.model, result.checkin


def semantic_search(repository: str | Path, query: str, *, kind: str | None = None, project: str | None = None, k: int = 10,
                    files: Iterable[str] = ()) -> Hits:
    """The best `k` passages of a Fossil repository for a query, in the language of the search page.

    >>> from vecsearch import semantic_search
    >>> hits = semantic_search(repository, "restore one file", k=3)
    >>> hits.state, hits[0].kind, hits[0].path, hits[0].lines
    ('ok', 'doc', 'docs/restore.md', (1, 17))
    >>> semantic_search(repository, "sourdough bread without a dutch oven")
    []

    `kind` is one of `vecsearch.types.KINDS`; `project` is a peer's or library's name, "" this repository
    alone; `files` are paths that are being worked on. Each call opens the repository read-only and closes
    it, so threads need no lock and see what was indexed since. Whoever calls holds the file and finds
    everything in it. Raises UsageError for a kind or k that does not exist, RepositoryError for a file
    that is no repository, StoreError for tables that are not ours; everything else is a state.
    """
    if not 1 <= k <= MAX_K:
        raise UsageError(f"k must be from 1 to {MAX_K}, not {k}")
    filters = {} if kind is None else {"kinds": frozenset({known_kind(kind)})}
    if project is not None:
        filters["project"] = project
    names = (files,) if isinstance(files, str) else tuple(files)
    with closing(open_readonly(repository)) as db:
        settings = Reader(db).settings()
        return Hits(search(db, lambda: embed.get(settings), parse(query, k=k, files=names, **filters), KINDS))
