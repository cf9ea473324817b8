"""What a file's name says: how much of the question is in it, and whether it is a test or an example. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

import numpy as np

from ..terms import parts
from .inflect import stem

#: A directory's name tells less than the file's own.
DIRECTORY = 0.5
#: Files that use or repeat what others define, and so match questions about it without answering them.
SECONDARY = 0.3
#: A file that only gathers what its neighbours define.
GATHERING = 0.5

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|fixtures)/"
    r"|(?:^|/)(?:test_[^/]*\.py|conftest\.py|[^/]*[_.-](?:test|spec|tests)\.\w+|[^/]*(?:Test|Tests|Spec|Suite)\.\w+)$"
)
_EXAMPLES = re.compile(r"(?:^|/)(?:_?examples?|docs?_src|samples?|benchmarks?|benches)/")
_OLD = re.compile(r"(?:^|/)_?(?:compat|legacy|deprecated|v1compat)/")
_SEPARATOR = re.compile(r"[.\-\s]")
_GATHERS = re.compile(r"(?:^|/)(?:__init__\.py|package-info\.java|index\.d\.ts)$")


@lru_cache(maxsize=100_000)
def weight(path: str) -> float:
    """What a source file counts for by its place: 1, or less where others are the better answer."""
    factor = GATHERING if _GATHERS.search(path) else 1.0
    for pattern in (_TESTS, _EXAMPLES, _OLD):
        factor *= SECONDARY if pattern.search(path) else 1.0
    return factor


@lru_cache(maxsize=100_000)
def _name_words(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Stems of the words of the file's own name and of its directories'."""
    *folders, name = path.rstrip("/").split("/")
    own = [piece for word in _SEPARATOR.split(_stem(name)) for piece in (parts(word) or [word.lower()])]
    above = [piece for name in folders if name for piece in [name.lower(), *parts(name)]]
    return frozenset(map(stem, own)), frozenset(map(stem, above))


def _stem(name: str) -> str:
    """Without its suffix, as pathlib has it, which takes five times as long."""
    dot = name.rfind(".")
    return name[:dot] if 0 < dot < len(name) - 1 else name


def wanted(words: Sequence[str]) -> list[str]:
    """Stems of the words of a query and of their pieces, each once."""
    pieces = [piece for word in words if len(word) > 2 for piece in [word.lower(), *parts(word)]]
    return list(dict.fromkeys(map(stem, pieces)))


def similarities(stems: Sequence[str], paths: Sequence[str]) -> np.ndarray:
    """0..1 for each path: the share of the question's words that it has, less if the file's name has others
    too."""
    named = [_name_words(path) for path in paths]
    vocabulary = {word for own, _ in named for word in own}
    met = [_meeting(stem, vocabulary) for stem in stems]
    any_met = frozenset().union(*met)
    shares = np.zeros(len(paths))
    for i, (own, above) in enumerate(named):
        if own.isdisjoint(any_met) and above.isdisjoint(stems):
            continue
        in_name = [not own.isdisjoint(words) for words in met]
        shared = sum(1.0 if here else DIRECTORY for here, stem in zip(in_name, stems, strict=True) if here or stem in above)
        shares[i] = shared / max(len(stems), 1) * (0.5 + 0.5 * min(1.0, sum(in_name) / max(len(own), 1)))
    return shares


def _meeting(stem: str, vocabulary: Iterable[str]) -> frozenset[str]:
    """The words that are the stem, or begin as it does; short ones begin as everything."""
    if len(stem) < 4:
        return frozenset(word for word in vocabulary if word == stem)
    return frozenset(word for word in vocabulary if word == stem or (len(word) > 3 and (word.startswith(stem) or stem.startswith(word))))


def closeness(path: str | None, files: Sequence[str]) -> float:
    """1 for one of the files, 0.5 for a neighbour in the same folder, less for each folder between."""
    if not path or not files:
        return 0.0
    return max(_closeness(PurePosixPath(path), PurePosixPath(file)) for file in files)


def _closeness(a: PurePosixPath, b: PurePosixPath) -> float:
    if a == b:
        return 1.0
    above, below = a.parts[:-1], b.parts[:-1]
    shared = next((i for i, (x, y) in enumerate(zip(above, below, strict=False)) if x != y), min(len(above), len(below)))
    apart = len(above) + len(below) - 2 * shared
    return 0.5 ** (1 + apart) if shared or not apart else 0.0
