"""Which files lie close in meaning, drawn as lists: what belongs together stands together, arcs join the pairs.
So no name covers another, however many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..store.reader import StoredChunk
from ..store.shelf import Shelf

#: Pairs drawn: more arcs than this are a ball of wool.
MOST_PAIRS = 60
#: Arcs that may end in one file.
PER_FILE = 3
#: Files at least so alike are one and its copies: pairs of copies would hide all others.
COPY = 0.97
#: Files less alike are not close, however few there are.
CLOSE = 0.2
#: Files compared with each other; of more, an even sample.
MOST_FILES = 3000
#: Columns of names and what one takes, in units of the paper.
COLUMNS, ROW, ARC = 2, 21, 52


@dataclass(frozen=True, slots=True)
class Node:
    """A file on the paper; `copies` are as good as the same."""

    path: str
    kind: str
    url: str
    copies: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Files, (index, index, likeness) of the pairs that are close, closest first, and the height of the paper."""

    nodes: list[Node] = field(default_factory=list)
    pairs: list[tuple[int, int, float]] = field(default_factory=list)
    height: int = 0

    def arc(self, a: int, b: int) -> str:
        """An SVG path from one file to the other, left of their names."""
        one, other = self.nodes[a], self.nodes[b]
        out = one.x - min(ARC - 8, 10 + abs(one.y - other.y) / 2.2)
        return f"M{one.x:g} {one.y:g}C{out:g} {one.y:g} {out:g} {other.y:g} {other.x:g} {other.y:g}"


def close_files(shelf: Shelf, chunks_of: Callable[[list[int]], list[StoredChunk | None]], address: Callable[[StoredChunk], str],
                width: int) -> Graph:
    """A file is the mean of its passages. `chunks_of` gives None for what may not be shown."""
    own = np.flatnonzero(shelf.ids > 0)
    if len(own) < 2:
        return Graph()
    artifacts, first = np.unique(shelf.artifacts[own], return_index=True)
    firsts = own[first][:: max(1, -(-len(artifacts) // MOST_FILES))]
    chunks = chunks_of([int(i) for i in shelf.ids[firsts]])
    files = sorted(((chunk, int(shelf.artifacts[row])) for chunk, row in zip(chunks, firsts, strict=True) if chunk is not None),
                   key=lambda file: (file[0].path or "", file[0].hash))
    means = _means(shelf, [artifact for _, artifact in files])
    kept, copies = _without_copies(means)
    pairs = _nearest_pairs(means[kept])
    groups = _groups(pairs)
    places, height = _columns(groups, width)
    place = {old: new for new, old in enumerate(places)}
    nodes = [_node(files[kept[old]][0], address, copies[old], *at) for old, at in places.items()]
    return Graph(nodes, [(place[a], place[b], likeness) for a, b, likeness in pairs], height)


def _means(shelf: Shelf, artifacts: list[int]) -> np.ndarray:
    rows = np.zeros((len(artifacts), shelf.matrix.shape[1]), np.float32)
    for i, artifact in enumerate(artifacts):
        start, end = np.searchsorted(shelf.artifacts, [artifact, artifact + 1])
        rows[i] = shelf.matrix[start:end].mean(axis=0)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _without_copies(means: np.ndarray) -> tuple[list[int], list[int]]:
    """The files of which none is a copy of an earlier one, and how many copies each has."""
    kept: list[int] = []
    copies: list[int] = []
    for i, likeness in enumerate(means @ means.T):
        near = likeness[kept]
        if len(near) and near.max() >= COPY:
            copies[int(near.argmax())] += 1
        else:
            kept.append(i)
            copies.append(0)
    return kept, copies


def _nearest_pairs(means: np.ndarray) -> list[tuple[int, int, float]]:
    """The closest pairs first, no file more than PER_FILE times."""
    likeness = means @ means.T
    a, b = np.triu_indices(len(means), 1)
    values = likeness[a, b]
    order = np.argsort(-values, kind="stable")[: MOST_PAIRS * 40]
    lines: dict[int, int] = {}
    found: list[tuple[int, int, float]] = []
    for i in order:
        one, other = int(a[i]), int(b[i])
        if values[i] >= CLOSE and lines.get(one, 0) < PER_FILE and lines.get(other, 0) < PER_FILE and len(found) < MOST_PAIRS:
            lines[one], lines[other] = lines.get(one, 0) + 1, lines.get(other, 0) + 1
            found.append((one, other, round(min(1.0, float(values[i])), 3)))
    return found


def _groups(pairs: list[tuple[int, int, float]]) -> list[list[int]]:
    """Files that pairs join, in one list; the group of the closest pair first, and so within it."""
    groups: list[list[int]] = []
    for a, b, _ in pairs:
        one = next((g for g in groups if a in g), None)
        other = next((g for g in groups if b in g), None)
        if one is None and other is None:
            groups.append([a, b])
        elif one is None or other is None:
            (one or other).append(a if one is None else b)
        elif one is not other:
            one.extend(other)
            groups.remove(other)
    return groups


def _columns(groups: list[list[int]], width: int) -> tuple[dict[int, tuple[float, float]], int]:
    """Where each file stands, each group below the other in the column that is shorter; and the height of all."""
    ends = [0.0] * COLUMNS
    places: dict[int, tuple[float, float]] = {}
    for group in groups:
        column = ends.index(min(ends))
        for number, file in enumerate(group):
            places[file] = (column * width / COLUMNS + ARC, ends[column] + (number + 1) * ROW)
        ends[column] += (len(group) + 0.6) * ROW
    return places, int(max(ends) + ROW)


def _node(chunk: StoredChunk, address: Callable[[StoredChunk], str], copies: int, x: float, y: float) -> Node:
    return Node(chunk.path or chunk.title, chunk.kind, address(chunk), copies, round(x, 1), round(y, 1))
