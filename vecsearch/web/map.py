"""GET /ext/search/map: the store as a picture, and with view=graph the files that lie close in meaning.

The server draws, so no script is needed. Nobody can walk ten thousand points by keyboard: the picture is
for the eye and the mouse, the regions and lists beside it are for everybody. Only what the visitor may
read is looked at, also to find the regions and their names.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from flask import Response, request

from .. import embed
from ..fossil.visible import visible
from ..search.address import Addresses
from ..search.query import whole_number
from ..search.run import search
from ..store.connection import one_state
from ..store.plane import Point, points
from ..store.reader import Reader, StoredChunk
from ..types import KINDS, Hit
from . import replies
from .asked import Asked, read
from .graph import Graph, close_files
from .regions import apart, members, regions
from .visit import visit

WIDTH, HEIGHT, MARGIN = 1000, 640, 24
#: More points than this hide each other: an even sample is drawn, and the page says so.
MOST_POINTS = 12_000
#: Links listed of a region.
MOST_LISTED = 400
#: Hits of a query that are lit.
LIT = 50

#: Points beyond this number are drawn smaller, so that as much paper stays white; but never below this size.
CROWD, SMALLEST = 1500, 0.45
#: How much of a place is its rank among the others: all of it would lose the clusters, nothing would crowd
#: most points into a corner because of a few that are far off.
EVENNESS = 0.5

#: Each kind has a shape of its own, since colour alone tells not everybody; straight lines from its point.
SHAPES = {
    "doc": "m-4-1.7l2.3-2.3h3.4l2.3 2.3v3.4l-2.3 2.3h-3.4l-2.3-2.3z", "code": "m-3.5-3.5h7v7h-7z", "wiki": "m0-5l4.5 8h-9z", "technote": "m0 5l4.5-8h-9z",
    "ticket": "m0-5l5 5l-5 5l-5-5z", "forum": "m-5-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z", "checkin": "m-5-1.5h10v3h-10z",
    "instruction": "m-1.5-5h3v10h-3z", "media": "m-3-4.5l7.5 4.5l-7.5 4.5z", "api": "m-4.5-2l4.5-3l4.5 3v4l-4.5 3l-4.5-3z",
}


def page() -> Response:
    """The picture that the address asks for."""
    with visit() as (db, kinds):
        asked, reader = read(request.args, replies.base()), Reader(db)
        permitted = kinds & asked.query.kinds if asked.query.kinds else kinds
        held = _counts(reader, kinds)
        common = {"asked": asked, "kinds": [kind for kind in KINDS if kind in held], "facets": {}, "projects": [],
                  "closed": not kinds, "drawable": reader.has_map(), "shapes": SHAPES, "width": WIDTH, "height": HEIGHT}
        if request.args.get("view") == "graph":
            return replies.html("graph.html", graph=_graph(db, reader, permitted, asked.base), **common)
        return replies.html("map.html", **common, **_map(db, reader, permitted, asked))


def _counts(reader: Reader, kinds: frozenset[str]) -> dict:
    return reader.counts(kinds) if kinds and reader.has_map() else {}


def _visible(db: sqlite3.Connection, chunks: Iterable[StoredChunk]) -> set[tuple[str, str, str]]:
    """(project, kind, hash) of what may still be shown; a peer's is another repository's affair."""
    keys = {(c.project, c.kind, c.hash) for c in chunks}
    here = visible(db, sorted((kind, hash_) for project, kind, hash_ in keys if not project))
    return {key for key in keys if key[0] or key[1:] in here}


def _map(db: sqlite3.Connection, reader: Reader, kinds: frozenset[str], asked: Asked) -> dict:
    found = points(db, kinds) if kinds and reader.has_map() else []
    visible = _visible(db, (p.chunk for p in found))
    shown = [p for p in found if (p.chunk.project, p.chunk.kind, p.chunk.hash) in visible]
    at = _places(shown)
    member = members(at)
    all_regions = apart(regions([p.chunk for p in shown], at, member), WIDTH)
    number = whole_number("region", request.args.get("region") or "0", 0, 10**6)
    region = next((r for r in all_regions if r.number == number), None)
    inside = np.flatnonzero(member == number - 1) if region else np.arange(len(shown))
    drawn = inside[:: max(1, -(-len(inside) // MOST_POINTS))]
    view = _view(at[inside])
    unit = view[2] / WIDTH
    address = _address(reader, asked.base) if shown else None
    hits = _hits(db, reader, asked, kinds) if shown and asked.text.strip() else []
    return {
        "groups": _drawn(shown, at, drawn, address, 0 if unit == 1 else 1), "marks": _marks(unit * _size(len(drawn))), "view": view, "unit": unit,
        "regions": all_regions, "region": region,
        "counts": Counter(shown[i].chunk.kind for i in inside), "total": len(inside), "drawn": len(drawn), "hits": hits,
        "spots": _spots(shown, at, inside, hits), "listed": _listed(shown, inside, address) if region else [], "most": MOST_LISTED,
    }


def _address(reader: Reader, base: str) -> Callable[[StoredChunk], str]:
    """A function from a chunk to where it opens."""
    addresses, tips, newest = Addresses(reader, base), reader.tips(), reader.state().checkin
    return lambda chunk: addresses.of(chunk, addresses.checkin(chunk, tips, newest))


def _hits(db: sqlite3.Connection, reader: Reader, asked: Asked, kinds: frozenset[str]) -> list[Hit]:
    query = replace(asked.query, k=LIT, offset=0, sort="relevance")
    return search(db, lambda: embed.get(reader.settings()), query, kinds, asked.base).hits


def _places(shown: list[Point]) -> np.ndarray:
    """float64 [n, 2] on the paper. Stretched to what is shown: an empty rim would tell of things unseen. Half of
    each coordinate is the point's rank, which spreads crowds and draws stragglers in."""
    at = np.array([(p.x, p.y) for p in shown], np.float64).reshape(-1, 2)
    if len(at):
        low, high = np.quantile(at, [0.002, 0.998], axis=0)
        straight = np.where(high > low, np.clip((at - low) / np.maximum(high - low, 1e-9), 0, 1), 0.5)
        at = (1 - EVENNESS) * straight + EVENNESS * np.column_stack([_rank(at[:, 0]), _rank(at[:, 1])])
    return MARGIN + at * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)


def _rank(values: np.ndarray) -> np.ndarray:
    """Each value's place in the order, from 0 to 1; equal ones share theirs."""
    _, place = np.unique(values, return_inverse=True)
    return place / place.max() if place.max() else np.full(len(values), 0.5)


def _size(drawn: int) -> float:
    """Of each mark, so that together they cover about as much of the paper."""
    return max(SMALLEST, min(1.0, (CROWD / max(drawn, 1)) ** 0.5))


def _marks(size: float) -> dict[str, str]:
    """The shapes, larger or smaller."""
    return {kind: re.sub(r"-?[\d.]+", lambda n: f"{float(n[0]) * size:.2f}".rstrip("0").rstrip("."), shape) for kind, shape in SHAPES.items()}


def _view(at: np.ndarray) -> tuple[float, ...]:
    """x, y, width and height of the part of the paper to show, in the paper's proportions."""
    if not len(at):
        return (0, 0, WIDTH, HEIGHT)
    low, high = at.min(axis=0) - MARGIN, at.max(axis=0) + MARGIN
    scale = min(1.0, max((high[0] - low[0]) / WIDTH, (high[1] - low[1]) / HEIGHT, 0.1))
    corner = (low + high) / 2 - np.array([WIDTH, HEIGHT]) * scale / 2
    return tuple(round(float(v), 1) for v in (*corner, WIDTH * scale, HEIGHT * scale))


def _drawn(shown: list[Point], at: np.ndarray, drawn: np.ndarray, address: Callable[[StoredChunk], str] | None,
           digits: int) -> dict[str, list[tuple[str, str, str]]]:
    """kind -> (place, address, name) of its points."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for i in drawn:
        chunk = shown[i].chunk
        groups.setdefault(chunk.kind, []).append((f"{at[i][0]:.{digits}f} {at[i][1]:.{digits}f}", address(chunk), _name(chunk)))
    return groups


def _name(chunk: StoredChunk) -> str:
    name = chunk.symbol or chunk.title.rsplit(" > ", 1)[-1] or chunk.path or chunk.hash[:10]
    return f"{chunk.path}: {name}" if chunk.path and chunk.path != name and chunk.kind != "technote" else name


def _spots(shown: list[Point], at: np.ndarray, inside: np.ndarray, hits: list[Hit]) -> list[tuple[Hit, float, float]]:
    """The hits that are on the picture, and where."""
    lit = {(hit.project, hit.hash, hit.seq): hit for hit in hits}
    keys = [(int(i), (shown[i].chunk.project, shown[i].chunk.hash, shown[i].chunk.seq)) for i in inside]
    return [(lit[key], float(at[i][0]), float(at[i][1])) for i, key in keys if key in lit]


def _listed(shown: list[Point], inside: np.ndarray, address: Callable[[StoredChunk], str]) -> list[tuple[str, str, str]]:
    """(kind, address, name) of a region's passages, by kind and name."""
    chunks = sorted((shown[i].chunk for i in inside), key=lambda c: (KINDS.index(c.kind), c.path or "", c.seq))
    return [(c.kind, address(c), _name(c)) for c in chunks[:MOST_LISTED]]


def _graph(db: sqlite3.Connection, reader: Reader, kinds: frozenset[str], base: str) -> Graph:
    """Over the files among the kinds, without what has become invisible."""
    files = kinds & {"doc", "code", "instruction", "media"}
    if not files or not reader.has_map():
        return Graph()
    with one_state(db):
        return close_files(reader.shelf(reader.state(), files), lambda ids: _files(db, reader, ids), _address(reader, base), WIDTH)


def _files(db: sqlite3.Connection, reader: Reader, ids: list[int]) -> list[StoredChunk | None]:
    """The chunks of these ids, None in place of one that may not be shown."""
    chunks = reader.chunks(ids)
    visible = _visible(db, chunks.values())
    return [c if (c := chunks.get(i)) and (c.project, c.kind, c.hash) in visible else None for i in ids]
