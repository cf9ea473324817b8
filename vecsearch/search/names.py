"""What a file's name says: how much of the question is in it, and whether it is a test or an example. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

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
    pure = PurePosixPath(path)
    own = [piece for word in re.split(r"[.\-\s]", pure.stem) for piece in (parts(word) or [word.lower()])]
    above = [piece for name in pure.parts[:-1] for piece in [name.lower(), *parts(name)]]
    return frozenset(map(stem, own)), frozenset(map(stem, above))


def wanted(words: Sequence[str]) -> list[str]:
    """Stems of the words of a query and of their pieces, each once."""
    pieces = [piece for word in words if len(word) > 2 for piece in [word.lower(), *parts(word)]]
    return list(dict.fromkeys(map(stem, pieces)))


def similarity(stems: Sequence[str], path: str) -> float:
    """0..1: the share of the question's words that the path has, less if the file's name has others too."""
    own, above = _name_words(path)
    shared = sum(1.0 if named else DIRECTORY for w in stems if (named := _meets(w, own)) or w in above)
    named = sum(_meets(w, own) for w in stems)
    return shared / max(len(stems), 1) * (0.5 + 0.5 * min(1.0, named / max(len(own), 1)))


def _meets(word: str, own: frozenset[str]) -> bool:
    return word in own or (len(word) > 3 and any(len(o) > 3 and (o.startswith(word) or word.startswith(o)) for o in own))


def is_namesake(name: str, path: str) -> bool:
    """Whether the file is named for a definition: `base_model.py` for BaseModel, `users.rb` for User."""
    file = re.sub(r"[_-]", "", PurePosixPath(path).stem.lower())
    return name.lower().replace("_", "") in (file, file.rstrip("s"))


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
