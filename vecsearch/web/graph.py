"""Which files lie close in meaning: the nearest pairs, and where to draw them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..store.reader import StoredChunk
from ..store.shelf import Shelf

#: Pairs drawn: more lines than this are a ball of wool.
MOST_PAIRS = 45
#: Lines that may end in one file.
PER_FILE = 3
#: What is left of the distance to the middle after each step.
GRAVITY = 0.97
#: Files compared with each other; of more, an even sample.
MOST_FILES = 3000


@dataclass(frozen=True, slots=True)
class Node:
    """A file on the paper."""

    name: str
    path: str
    kind: str
    url: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Files, and (index, index, likeness) of the pairs that are close."""

    nodes: list[Node] = field(default_factory=list)
    pairs: list[tuple[int, int, float]] = field(default_factory=list)


def close_files(shelf: Shelf, chunks_of: Callable[[list[int]], list[StoredChunk | None]], address: Callable[[StoredChunk], str],
                paper: tuple[int, int]) -> Graph:
    """A file is the mean of its passages. `chunks_of` gives None for what may not be shown."""
    own = np.flatnonzero(shelf.ids > 0)
    if len(own) < 2:
        return Graph()
    artifacts, first = np.unique(shelf.artifacts[own], return_index=True)
    firsts = own[first][:: max(1, -(-len(artifacts) // MOST_FILES))]
    chunks = chunks_of([int(i) for i in shelf.ids[firsts]])
    files = [(chunk, row) for chunk, row in zip(chunks, firsts, strict=True) if chunk is not None]
    pairs = _nearest_pairs(_means(shelf, [int(shelf.artifacts[row]) for _, row in files]))
    used = sorted({i for a, b, _ in pairs for i in (a, b)})
    place = {old: new for new, old in enumerate(used)}
    pairs = [(place[a], place[b], likeness) for a, b, likeness in pairs]
    at = _spread(len(used), pairs) * np.array(paper)
    nodes = [_node(files[old][0], address, at[new]) for old, new in place.items()]
    return Graph(nodes, pairs)


def _means(shelf: Shelf, artifacts: list[int]) -> np.ndarray:
    rows = np.zeros((len(artifacts), shelf.matrix.shape[1]), np.float32)
    for i, artifact in enumerate(artifacts):
        start, end = np.searchsorted(shelf.artifacts, [artifact, artifact + 1])
        rows[i] = shelf.matrix[start:end].mean(axis=0)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


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
        if values[i] > 0 and lines.get(one, 0) < PER_FILE and lines.get(other, 0) < PER_FILE and len(found) < MOST_PAIRS:
            lines[one], lines[other] = lines.get(one, 0) + 1, lines.get(other, 0) + 1
            found.append((one, other, round(min(1.0, float(values[i])), 3)))
    return found


def _spread(n: int, pairs: list[tuple[int, int, float]]) -> np.ndarray:
    """float64 [n, 2] from 0 to 1: all push each other, pairs pull (Fruchterman and Reingold 1991), from a spiral."""
    angle, reach = np.arange(n) * 2.399963, np.sqrt((np.arange(n) + 0.5) / max(n, 1)) / 2
    at = 0.5 + np.column_stack([np.cos(angle), np.sin(angle)]) * reach[:, None]
    ends = np.array([(a, b) for a, b, _ in pairs], np.int64).reshape(-1, 2)
    wish = 0.8 / np.sqrt(max(n, 1))
    for step in range(200):
        gap = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((gap**2).sum(axis=2, keepdims=True)), 0.004)
        move = (gap / distance * (wish**2 / distance)).sum(axis=1)
        along = at[ends[:, 0]] - at[ends[:, 1]]
        pull = along * (np.sqrt((along**2).sum(axis=1, keepdims=True)) / wish)
        np.subtract.at(move, ends[:, 0], pull)
        np.add.at(move, ends[:, 1], pull)
        length = np.maximum(np.sqrt((move**2).sum(axis=1, keepdims=True)), 1e-9)
        at = at + move / length * np.minimum(length, 0.08 * (1 - step / 200))
        at = 0.5 + (at - 0.5) * GRAVITY  # pairs that nothing joins to the others would drift away
    low, high = at.min(axis=0, initial=0.5), at.max(axis=0, initial=0.5)
    return 0.06 + 0.88 * (at - low) / np.maximum(high - low, 1e-9)


def _node(chunk: StoredChunk, address: Callable[[StoredChunk], str], at: np.ndarray) -> Node:
    path = chunk.path or chunk.title
    return Node(path.rsplit("/", 1)[-1], path, chunk.kind, address(chunk), float(at[0]), float(at[1]))
