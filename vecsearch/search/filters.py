"""Filters, applied before anything is ranked: which rows of the shelf a query may find."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator

import numpy as np

from ..store.reader import Reader
from ..store.shelf import Shelf
from . import lexical
from .lexicon import Lexicon
from .query import Query


def allowed_rows(reader: Reader, shelf: Shelf, lexicon: Lexicon, query: Query) -> np.ndarray:
    """bool [n rows]: what passes every filter but the kind and holds nothing that was excluded."""
    mask = np.ones(len(shelf.ids), bool)
    if query.filtered:
        ids = np.fromiter(_passing(reader, query), np.int64)
        mask[:] = False
        mask[shelf.rows(ids)[1]] = True
    if query.excluded and reader.has_lexical():
        mask &= ~lexicon.holding(lexical.unwanted(query))
    return mask


def _passing(reader: Reader, query: Query) -> Iterator[int]:
    paths = [path_test(glob) for glob in query.paths]
    before = query.before or 1 << 62
    for i, project, path, user, mtime in reader.row_facts():
        if ((query.project is None or project == query.project) and (not query.user or user == query.user)
                and query.after <= mtime < before and all(path is not None and test(path) for test in paths)):
            yield i


def path_test(glob: str) -> Callable[[str], bool]:
    """`path:` matches whole components: `src` is src/a.c and lib/src/b.c, not srcx/c.c."""
    pattern = re.compile(f"(?:.*/)?{fnmatch.translate(glob.strip('/')).removesuffix(chr(92) + 'Z')}(?:/.*)?", re.S)
    return lambda path: pattern.fullmatch(path) is not None
