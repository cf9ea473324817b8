"""One order out of two arms: each step a function, each constant with its reason (docs/ranking.md). Pure.

    arms       how well each artifact does by keywords, by other forms of them, by names, by meaning
    fused      reciprocal ranks of the arms
    boosts     for code: coherence, the file's name, the definitions mentioned, what tests lose; for all:
               nearness to the files that are being worked on
    kind       what a kind loses whose best chunk holds less of the query than another's
    authority  kind, age, closed tickets, how often others link to it
    rows       the best chunk of each artifact, and its second one further down
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..store.shelf import Shelf
from ..types import KINDS
from . import authority, kinds, names
from .fuse import DEPTH, RRF_K, best_of, ranked, reciprocal_ranks
from .lexical import Evidence

CODE = KINDS.index("code")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants. Arms are weights of reciprocal ranks; boosts are in units of the best fused score,
    so that they mean the same for every query."""

    #: The two arms of the contract; meaning stands alone against three arms of words.
    keyword: float = 1.0
    semantic: float = 1.25
    #: Other forms of the words: half, since what was typed should win.
    forms: float = 0.5
    #: Names that a chunk defines; a question rarely is in the words of a name alone.
    names: float = 0.25
    #: Mean similarity of all chunks: of two artifacts with an equal passage, the one that is all about it.
    whole: float = 0.5
    #: The share of an artifact's rank among its own kind: twenty thousand check-ins repeat every word of the
    #: documentation, and would fill all ranks before it.
    apart: float = 1.0
    #: Code: the file in which more chunks match is where the thing lives. Prose that is long matches often.
    coherence: float = 0.15
    #: Code: a file is named for what it does. A page's name is a whim, and in its title already.
    name: float = 1.0
    #: Code: it defines what the question mentions.
    mentioned: float = 0.75
    #: Whoever works on a file means what is near to it, where that answers at all.
    near: float = 0.3
    #: The next chunk of an artifact, against its first one: a page of one file helps nobody.
    second: float = 0.25
    #: Steps that the ablation leaves out.
    kind: bool = True
    place: bool = True
    exact: bool = True
    authority: bool = True
    depth: int = DEPTH
    k: int = RRF_K


RECIPE = Recipe()


@dataclass(frozen=True, slots=True)
class About:
    """What ranking must know of an artifact that may become a hit."""

    kind: str
    path: str | None
    hash: str
    mtime: int
    closed: bool = False
    links: int = 0


@dataclass(frozen=True, slots=True)
class Field:
    """The rows in question and what is known of them. `mask` bool [n]: may be found; `similarity` float32
    [n] or None without the semantic arm; `evidence` None without the keyword arm; `tiers` int8 [n]: how many
    of the literals a row holds, one more if it defines the symbol asked for; `mentioned` bool [n]."""

    shelf: Shelf
    mask: np.ndarray
    evidence: Evidence | None
    similarity: np.ndarray | None
    tiers: np.ndarray
    mentioned: np.ndarray
    stems: Sequence[str]
    files: Sequence[str]
    about: Callable[[Sequence[int]], list[About]]


@dataclass
class Ranking:
    """Rows best first; for each artifact its rank in each arm and what each step gave it."""

    rows: list[int] = field(default_factory=list)
    arms: dict[str, dict[int, int]] = field(default_factory=dict)
    steps: dict[str, dict[int, float]] = field(default_factory=dict)


def rank(found: Field, recipe: Recipe = RECIPE) -> Ranking:
    """The order of all rows that any arm found."""
    by_row = _row_arms(found)
    arms = _artifact_arms(found, by_row)
    ranking = Ranking(arms={name: _places(scores, recipe.depth) for name, scores in arms.items()})
    weights = {name: getattr(recipe, name) for name in arms}
    fused = _fused(found, arms, weights, recipe) if arms else np.zeros(0)
    candidates = np.flatnonzero(fused)
    if not len(candidates):
        return ranking
    rows = _best_rows(found, by_row, weights, recipe)
    members = [rows[int(artifact)] for artifact in candidates]
    about = found.about([group[0] for group in members])
    score = fused[candidates]
    step = _Steps(ranking, candidates)
    step("fused", score)
    score = score + step("coherence", _coherence(found, by_row, weights, candidates, about, recipe) * score.max())
    score = score + step("name", _name(found, about, recipe) * score.max())
    score = score + step("mentioned", _mentioned(found, members, about, recipe) * score.max())
    score = score + step("near", recipe.near * np.array([names.closeness(item.path, found.files) for item in about]) * score.max())
    score = score * step("place", _place(about, recipe))
    score = score * step("kind", _kind(found, candidates, recipe))
    score = score * step("authority", authority.factors(about) if recipe.authority else np.ones(len(score)))
    ranking.rows = _final(found, members, score, recipe)
    return ranking


@dataclass(frozen=True, slots=True)
class _Steps:
    """Notes what a step gave each candidate, for `explain`."""

    ranking: Ranking
    candidates: np.ndarray

    def __call__(self, name: str, values: np.ndarray) -> np.ndarray:
        self.ranking.steps[name] = dict(zip(self.candidates.tolist(), values.tolist(), strict=True))
        return values


def _row_arms(found: Field) -> dict[str, np.ndarray]:
    arms: dict[str, np.ndarray] = {}
    if found.evidence is not None:
        arms["keyword"] = found.evidence.typed.sum(axis=0)
        arms["forms"] = found.evidence.formed.sum(axis=0)
        arms["names"] = found.evidence.names
    if found.similarity is not None:
        arms["semantic"] = found.similarity
    return arms


def _artifact_arms(found: Field, by_row: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    groups, starts = found.shelf.artifacts, found.shelf.starts
    count = len(starts) - 1
    arms = {name: best_of(starts, scores) for name, scores in by_row.items()}
    if found.similarity is not None and count:
        sizes = np.maximum(np.bincount(groups, weights=found.mask, minlength=count), 1)
        # Similarities are -1..1, reciprocal ranks take what is positive: all of them, shifted.
        arms["whole"] = np.where(arms["semantic"] > 0, np.bincount(groups, weights=found.similarity, minlength=count) / sizes + 1, 0)
    return arms


def _fused(found: Field, arms: dict[str, np.ndarray], weights: dict[str, float], recipe: Recipe) -> np.ndarray:
    """Reciprocal ranks among all artifacts and among those of the same kind, in shares of `apart`."""
    together = reciprocal_ranks(arms, weights, recipe.depth, recipe.k)
    kind_of = found.shelf.kinds[found.shelf.starts[:-1]]
    present = np.flatnonzero(np.bincount(kind_of))  # np.unique would load numpy.ma, which takes longer than a whole search
    if len(present) < 2:
        return together
    apart = np.zeros(len(together))
    for kind in present:
        own = np.flatnonzero(kind_of == kind)
        apart[own] = reciprocal_ranks({name: scores[own] for name, scores in arms.items()}, weights, recipe.depth, recipe.k)
    return (1 - recipe.apart) * together + recipe.apart * apart


def _places(scores: np.ndarray, depth: int) -> dict[int, int]:
    return {int(artifact): place for place, artifact in enumerate(ranked(scores, depth), 1)}


def _best_rows(found: Field, by_row: dict[str, np.ndarray], weights: dict[str, float], recipe: Recipe) -> dict[int, list[int]]:
    """artifact -> its rows that any arm found, best first; what holds a literal before what does not."""
    fused = reciprocal_ranks(by_row, weights, 2 * recipe.depth, recipe.k)
    near = found.similarity if found.similarity is not None else np.zeros(len(fused))
    key = fused + found.tiers * recipe.exact + 1e-6 * near
    rows: dict[int, list[int]] = {}
    hits = np.flatnonzero(fused)
    for row in hits[np.argsort(-key[hits], kind="stable")]:
        rows.setdefault(int(found.shelf.artifacts[row]), []).append(int(row))
    return _Filled(rows, found, key)


class _Filled(dict):
    """For an artifact that is only known as a whole: its best row by the same key."""

    def __init__(self, rows: dict[int, list[int]], found: Field, key: np.ndarray):
        super().__init__(rows)
        self.found, self.key = found, key

    def __missing__(self, artifact: int) -> list[int]:
        first, end = self.found.shelf.starts[artifact : artifact + 2]
        key = np.where(self.found.mask[first:end], self.key[first:end], -np.inf)
        return [int(first + np.argmax(key))]


def _coherence(found: Field, by_row: dict[str, np.ndarray], weights: dict[str, float], candidates: np.ndarray,
               about: Sequence[About], recipe: Recipe) -> np.ndarray:
    """How much of all that matched lies in the artifact, 0..1 of the most."""
    code = np.array([item.kind == "code" for item in about])
    fused = reciprocal_ranks(by_row, weights, recipe.depth // 2, 3 * recipe.k)
    mass = np.bincount(found.shelf.artifacts, weights=fused, minlength=int(candidates[-1]) + 1)[candidates] * code
    return recipe.coherence * mass / mass.max() if mass.max() > 0 else mass


def _name(found: Field, about: Sequence[About], recipe: Recipe) -> np.ndarray:
    return recipe.name * np.array([
        names.similarity(found.stems, item.path) if item.kind == "code" and item.path else 0.0 for item in about])


def _mentioned(found: Field, members: Sequence[Sequence[int]], about: Sequence[About], recipe: Recipe) -> np.ndarray:
    return recipe.mentioned * np.array([
        float(item.kind == "code" and found.mentioned[group].any()) for item, group in zip(about, members, strict=True)])


def _place(about: Sequence[About], recipe: Recipe) -> np.ndarray:
    return np.array([names.weight(item.path) if recipe.place and item.kind == "code" and item.path else 1.0 for item in about])


def _kind(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    if not recipe.kind:
        return np.ones(len(candidates))
    return kinds.strength(found.shelf, found.mask, found.evidence)[found.shelf.kinds[found.shelf.starts[candidates]]]


def _final(found: Field, members: Sequence[Sequence[int]], score: np.ndarray, recipe: Recipe) -> list[int]:
    entries = []
    for value, group in zip(score.tolist(), members, strict=True):
        for place, row in enumerate(group):
            tier = int(found.tiers[row]) if recipe.exact else 0
            entries.append((-tier, -value * recipe.second**place, len(entries), row))
    return [row for *_, row in sorted(entries)]
