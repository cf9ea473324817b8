"""One order out of two arms: each step a function, each constant with its reason (docs/ranking.md). Pure.

    fused      reciprocal ranks of the arms (arms.py)
    boosts     for code: coherence, the file's name, the definitions mentioned, what tests lose; for all:
               nearness to the files that are being worked on
    kind       what a kind loses whose best chunk holds less of the query than another's
    authority  kind, age, closed tickets, how often others link to it
    rows       the best chunk of each artifact, and its second one further down
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..store.shelf import Shelf
from ..types import KINDS
from . import arms, authority, kinds, names
from .fuse import DEPTH, RRF_K, add_ranks, ranked
from .known import Known
from .lexical import Evidence

CODE = KINDS.index("code")
#: Hits of one artifact; further ones are only counted.
PER_ARTIFACT = 2


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants. Arms are weights of reciprocal ranks; boosts are in units of the best fused score,
    so that they mean the same for every query."""

    #: The two arms of the contract; meaning stands alone against the arms of words, and weighs as much as these four.
    keyword: float = 0.75
    semantic: float = 2.0
    #: Other forms of the words: half, since what was typed should win.
    forms: float = 0.5
    #: Names that a chunk defines; a question rarely is in the words of a name alone.
    names: float = 0.25
    #: All words that an artifact holds, wherever in it: a question's words may stand in several sections.
    document: float = 0.5
    #: Mean similarity of all chunks: of two artifacts with an equal passage, the one that is all about it.
    whole: float = 1.0
    #: The best of n similarities is higher by luck alone: of n normal values with deviation s the highest is expected
    #: s sqrt(2 ln n) above their mean. Chunks of one artifact are alike, so only a part of that is taken off.
    luck: float = 0.25
    #: Ranks are counted among artifacts of the same kind: twenty thousand check-ins repeat every word of the
    #: documentation, and would fill all ranks before it.
    apart: bool = True
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
class Field:
    """The rows in question and what is known of them. `mask` bool [n]: may be found; `similarity` float32
    [n] or None without the semantic arm; `evidence` None without the keyword arm; `tiers` int8 [n]: how many
    of the literals a row holds, one more if it defines the symbol asked for, two if it is called so;
    `mentioned` bool [n]: it defines a name in the question; `known`: facts of artifacts."""

    shelf: Shelf
    mask: np.ndarray
    evidence: Evidence | None
    similarity: np.ndarray | None
    tiers: np.ndarray
    mentioned: np.ndarray
    stems: Sequence[str]
    files: Sequence[str]
    known: Known


@dataclass
class Ranking:
    """`rows` int [m] best first, at most PER_ARTIFACT of each artifact, and of each row its `tiers`, its `similarity`, and of its artifact how many
    `further` rows matched beside those, its `places` in each arm, among those of its kind where these are ranked apart, 0 if it is none of
    the first, and what each of the `steps` gave it. `by_words`: the keyword arm answered."""

    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    tiers: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    similarity: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    further: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    places: dict[str, np.ndarray] = field(default_factory=dict)
    steps: dict[str, np.ndarray] = field(default_factory=dict)
    by_words: bool = False

    @property
    def bytes(self) -> int:
        """What it takes to remember it."""
        return sum(column.nbytes for column in (self.rows, self.tiers, self.similarity, self.further, *self.places.values(), *self.steps.values()))


def rank(found: Field, recipe: Recipe = RECIPE) -> Ranking:
    """The order of all rows that any arm found."""
    best, fused = {}, np.zeros(len(found.shelf.starts) - 1)
    for name, arm in arms.of_artifacts(found.shelf, found.mask, found.evidence, found.similarity, recipe.luck, recipe.apart).items():
        best[name] = arm.best(recipe.depth)
        for of_kind in best[name]:
            add_ranks(fused, of_kind, getattr(recipe, name), recipe.k)
    candidates = np.flatnonzero(fused != 0)  # faster than of numbers
    found.known.ask(candidates)
    candidates = candidates[found.known.visible[candidates]]
    if not len(candidates):
        return Ranking()
    rows = {name: ranked(scores, 2 * recipe.depth) for name, scores in arms.of_rows(found.evidence, found.similarity).items()}
    members = _best_rows(found, rows, candidates, recipe)
    score, steps = fused[candidates], {"fused": fused[candidates]}
    for name, step in (("coherence", _coherence(found, rows, candidates, recipe)), ("name", _name(found, candidates, recipe)),
                       ("mentioned", _mentioned(found, candidates, recipe)), ("near", _near(found, candidates, recipe))):
        steps[name] = step * score.max()
        score = score + steps[name]
    for name, factor in (("place", _place(found, candidates, recipe)), ("kind", _kind(found, candidates, recipe)),
                         ("authority", _authority(found, candidates, recipe))):
        steps[name] = factor
        score = score * factor
    order, of = _final(found, members, score, recipe)
    return Ranking(order, found.tiers[order], further=members.further[of], places={name: _places(each, len(fused))[candidates[of]] for name, each in best.items()},
                   steps={name: values[of] for name, values in steps.items()})


def _places(best: Sequence[np.ndarray], artifacts: int) -> np.ndarray:
    """int16 [artifacts]: 1 for the best of each kind, 2 for the next; 0 for what is none of them."""
    places = np.zeros(artifacts, np.int16)
    for of_kind in best:
        places[of_kind] = np.arange(1, len(of_kind) + 1)
    return places


@dataclass(frozen=True, slots=True)
class _Members:
    """Of each candidate: its best row, the next best that an arm found or -1, and how many more there are."""

    first: np.ndarray
    second: np.ndarray
    further: np.ndarray


def _best_rows(found: Field, best: dict[str, np.ndarray], candidates: np.ndarray, recipe: Recipe) -> _Members:
    """What holds a literal before what does not. Of an artifact that is only known as a whole, the best row."""
    starts, every = found.shelf.starts, np.arange(len(candidates))
    counts = starts[candidates + 1] - starts[candidates]
    heads = np.cumsum(counts) - counts
    owner = np.repeat(every, counts)
    rows = np.arange(len(owner)) + (starts[candidates] - heads)[owner]
    fused = _fused_rows(found, best, recipe, recipe.k)[rows]
    key = fused + found.tiers[rows] * recipe.exact
    if found.similarity is not None:
        key += 1e-6 * found.similarity[rows]
    key[~found.mask[rows]] = -np.inf
    at_best = np.flatnonzero(key == np.maximum.reduceat(key, heads)[owner])
    first = at_best[np.searchsorted(owner[at_best], every)]
    fused[first] = 0
    others = np.flatnonzero(fused)
    others = others[np.argsort(-key[others], kind="stable")]
    second = np.full(len(candidates), -1)
    second[owner[others[::-1]]] = rows[others[::-1]]  # the best is written last
    return _Members(rows[first], second, np.maximum(np.bincount(owner[others], minlength=len(candidates)) - (PER_ARTIFACT - 1), 0))


def _fused_rows(found: Field, best: dict[str, np.ndarray], recipe: Recipe, k: int) -> np.ndarray:
    """Reciprocal ranks of the best rows of each arm, float64 [n rows]."""
    fused = np.zeros(len(found.shelf.ids))
    for name, rows in best.items():
        add_ranks(fused, rows, getattr(recipe, name), k)
    return fused


def _is_code(found: Field, candidates: np.ndarray) -> np.ndarray:
    return found.shelf.kinds[found.shelf.starts[candidates]] == CODE


def _coherence(found: Field, best: dict[str, np.ndarray], candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    """How much of all that matched lies in the artifact, 0..1 of the most."""
    fused = _fused_rows(found, {name: rows[: recipe.depth // 2] for name, rows in best.items()}, recipe, 3 * recipe.k)
    rows = np.flatnonzero(fused != 0)
    mass = np.bincount(found.shelf.artifacts[rows], weights=fused[rows], minlength=int(candidates[-1]) + 1)[candidates]
    mass = mass * _is_code(found, candidates)
    return recipe.coherence * mass / mass.max() if mass.max() > 0 else mass


def _name(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    code, paths = _code_paths(found, candidates)
    likeness = np.zeros(len(candidates))
    likeness[code] = names.similarities(found.stems, paths)
    return recipe.name * likeness


def _code_paths(found: Field, candidates: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Places of the source files among the candidates, and their paths."""
    code = np.flatnonzero(_is_code(found, candidates))
    return code, [path or "" for path in found.known.path[candidates[code]].tolist()]


def _near(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    if not found.files:
        return np.zeros(len(candidates))
    return recipe.near * np.array([names.closeness(path, found.files) for path in found.known.path[candidates].tolist()])


def _mentioned(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    if not found.mentioned.any():
        return np.zeros(len(candidates))
    defines = np.logical_or.reduceat(found.mentioned, found.shelf.starts[:-1])[candidates]
    return recipe.mentioned * (defines & _is_code(found, candidates))


def _place(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    factors = np.ones(len(candidates))
    if recipe.place:
        code, paths = _code_paths(found, candidates)
        factors[code] = [names.weight(path) for path in paths]
    return factors


def _authority(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    if not recipe.authority:
        return np.ones(len(candidates))
    known, kind = found.known, found.shelf.kinds[found.shelf.starts[candidates]]
    return authority.factors(kind, known.mtime[candidates], known.closed[candidates], known.links[candidates])


def _kind(found: Field, candidates: np.ndarray, recipe: Recipe) -> np.ndarray:
    if not recipe.kind:
        return np.ones(len(candidates))
    return kinds.strength(found.shelf, found.evidence)[found.shelf.kinds[found.shelf.starts[candidates]]]


def _final(found: Field, members: _Members, score: np.ndarray, recipe: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """(rows, the candidate of each): literals first, then the score; of equal ones, in the order of the shelf."""
    further = np.flatnonzero(members.second >= 0)
    rows = np.concatenate([members.first, members.second[further]])
    of = np.concatenate([np.arange(len(score)), further])
    value = np.concatenate([score, score[further] * recipe.second])
    tier = found.tiers[rows] if recipe.exact else np.zeros(len(rows), np.int8)
    order = np.lexsort((rows, -value, -tier))
    return rows[order].astype(np.int32), of[order]
