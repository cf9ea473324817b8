"""The arms: how well each row, and each artifact, does by keywords, by other forms of them, by names, by meaning. Pure.

Words are in a few thousand rows, so their arms know only the artifacts of these; meaning knows all.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        return [self.artifacts[own[ranked(self.scores[own], depth)]] for own in self.kinds]

    def overall(self, best: list[np.ndarray], depth: int) -> np.ndarray:
        """Of the best of each kind the best of all, best first; equal ones in the order of the shelf."""
        among = np.concatenate(best) if best else np.zeros(0, np.int64)
        scores = self.scores[np.searchsorted(self.artifacts, among)]
        return among[np.lexsort((among, -scores))[:depth]]


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
    best, everything = best_of(starts, similarity), mask.all()
    sizes = _sizes(shelf) if everything else _Sizes(np.maximum(np.add.reduceat(mask, starts[:-1], dtype=np.int32), 1))
    spread = (similarity if everything else similarity[mask]).std()
    alike = best > 0
    # Reciprocal ranks take what is positive: what is alike at all stays so, and the mean, -1..1, is shifted.
    scores = {"semantic": np.where(alike, np.maximum(best - luck * spread * sizes.luck, LEAST), 0),
              "whole": np.where(alike, np.add.reduceat(similarity, starts[:-1]) / sizes.rows + 1, 0)}
    artifacts = np.arange(len(starts) - 1)
    kinds = _all_kinds(shelf) if apart else [artifacts]
    return {name: Arm(artifacts, kinds, values) for name, values in scores.items()}


class _Sizes:
    """How many rows artifacts have, and by how many deviations the best of so many is above the mean."""

    def __init__(self, rows: np.ndarray):
        self.rows, self.luck = rows, np.sqrt(2 * np.log(rows))


def _sizes(shelf: Shelf) -> _Sizes:
    if "sizes" not in shelf.derived:
        shelf.derived["sizes"] = _Sizes(np.diff(shelf.starts))
    return shelf.derived["sizes"]


def _all_kinds(shelf: Shelf) -> list[np.ndarray]:
    if "kinds" not in shelf.derived:
        shelf.derived["kinds"] = _kinds(shelf, np.arange(len(shelf.starts) - 1))
    return shelf.derived["kinds"]


def _kinds(shelf: Shelf, artifacts: np.ndarray) -> list[np.ndarray]:
    """The places of the artifacts of each kind that there is."""
    kind_of = shelf.kinds[shelf.starts[artifacts]]
    return [np.flatnonzero(kind_of == kind) for kind in np.flatnonzero(np.bincount(kind_of))]
