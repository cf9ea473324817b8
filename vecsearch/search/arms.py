"""The arms: how well each row, and each artifact, does by keywords, by other forms of them, by names, by meaning. Pure.

Words are in a few thousand rows, so their arms know only the artifacts of these; meaning knows all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..store.shelf import Shelf
from .fuse import best_of, ranked
from .lexical import Evidence

#: A similarity that is hardly one.
LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Arm:
    """`scores` [m] of the `artifacts` int [m], ascending; `kinds`: the places of those that are ranked together."""

    artifacts: np.ndarray
    kinds: list[np.ndarray]
    scores: np.ndarray

    def best(self, depth: int) -> list[np.ndarray]:
        """For each kind its best artifacts, best first."""
        if not self.scores.any():
            return []
        return [self.artifacts[own[ranked(self.scores[own], depth)]] for own in self.kinds]


def of_rows(evidence: Evidence | None, similarity: np.ndarray | None) -> dict[str, np.ndarray]:
    """float32 [n rows] of each arm."""
    arms: dict[str, np.ndarray] = {}
    if evidence is not None:
        arms["keyword"], arms["forms"], arms["names"] = evidence.typed, evidence.formed, evidence.names
    if similarity is not None:
        arms["semantic"] = similarity
    return arms


def of_artifacts(shelf: Shelf, mask: np.ndarray, evidence: Evidence | None, similarity: np.ndarray | None, luck: float,
                 apart: bool) -> dict[str, Arm]:
    """An artifact stands at its best row; in `document` and `whole` as a whole. `luck` and `apart` as in the recipe."""
    words = {} if evidence is None else _of_words(shelf, evidence, apart)
    meaning = {} if similarity is None else _of_meaning(shelf, mask, similarity, luck, apart)
    return {name: arm for name in ("keyword", "forms", "names", "semantic", "document", "whole") if (arm := words.get(name) or meaning.get(name))}


def _of_words(shelf: Shelf, evidence: Evidence, apart: bool) -> dict[str, Arm]:
    owners = shelf.artifacts[evidence.rows]
    begins = np.flatnonzero(np.diff(owners, prepend=-1))
    artifacts = owners[begins]
    kinds = _kinds(shelf, artifacts) if apart else [np.arange(len(artifacts))]
    ends = np.append(begins, len(owners))
    scores = {name: best_of(ends, by_row[evidence.rows]) for name, by_row in of_rows(evidence, None).items()}
    return {name: Arm(artifacts, kinds, values) for name, values in (scores | {"document": evidence.document[artifacts]}).items()}


def _of_meaning(shelf: Shelf, mask: np.ndarray, similarity: np.ndarray, luck: float, apart: bool) -> dict[str, Arm]:
    """Of n similarities the best is higher by luck alone: docs/ranking.md, section 1."""
    starts = shelf.starts
    if len(starts) < 2:
        return {}
    groups, everything = _groups(shelf), mask.all()
    best, total = groups.reduce(np.maximum, similarity), groups.reduce(np.add, similarity)
    rows = groups.rows if everything else np.maximum(np.add.reduceat(mask, starts[:-1], dtype=np.int32), 1)
    spread = (similarity if everything else similarity[mask]).std()
    by_luck = luck * spread * (groups.luck if everything else _luck(rows))
    alike = best > 0
    # Reciprocal ranks take what is positive: what is alike at all stays so, and the mean, -1..1, is shifted.
    scores = {"semantic": np.maximum(best - by_luck, LEAST) * alike, "whole": (total / rows + 1) * alike}
    artifacts = np.arange(len(starts) - 1)
    kinds = _all_kinds(shelf) if apart else [artifacts]
    return {name: Arm(artifacts, kinds, values) for name, values in scores.items()}


def _luck(rows: np.ndarray) -> np.ndarray:
    """By how many deviations the best of so many is expected above the mean."""
    return np.sqrt(2 * np.log(rows))


class _Groups:
    """The rows of each artifact. Most have one, like check-ins, and need no reduction."""

    def __init__(self, starts: np.ndarray):
        self.first, self.rows = starts[:-1], np.diff(starts)
        self.luck = _luck(self.rows)
        self.several = np.flatnonzero(self.rows > 1)
        # Of each of these where it begins and where it ends; what is between two of them is reduced in vain.
        self.edges = np.stack([starts[self.several], starts[self.several + 1]], axis=1).ravel()
        if len(self.edges) and self.edges[-1] == starts[-1]:
            self.edges = self.edges[:-1]

    def reduce(self, how: np.ufunc, scores: np.ndarray) -> np.ndarray:
        """One value for each artifact."""
        reduced = scores[self.first]
        if len(self.several):
            reduced[self.several] = how.reduceat(scores, self.edges)[::2]
        return reduced


def _groups(shelf: Shelf) -> _Groups:
    if "groups" not in shelf.derived:
        shelf.derived["groups"] = _Groups(shelf.starts)
    return shelf.derived["groups"]


def _all_kinds(shelf: Shelf) -> list[np.ndarray]:
    if "kinds" not in shelf.derived:
        shelf.derived["kinds"] = _kinds(shelf, np.arange(len(shelf.starts) - 1))
    return shelf.derived["kinds"]


def _kinds(shelf: Shelf, artifacts: np.ndarray) -> list[np.ndarray]:
    """The places of the artifacts of each kind that there is."""
    kind_of = shelf.kinds[shelf.starts[artifacts]]
    return [np.flatnonzero(kind_of == kind) for kind in np.flatnonzero(np.bincount(kind_of))]
