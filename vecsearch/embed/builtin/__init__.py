"""The embedder that ships with vecsearch: a static model, numpy only, offline.

A text's vector is the unit-length sum of its words' vectors, each weighted by 1 + ln(how often
the word occurs), so that neither a long text nor a repeated word drowns the rest. Words of the
first two lines weigh OPENING times that: of a chunk these are its path and its heading or symbol,
of a query they are all. A word's vector is the sum of its tokens' (tokens.py). docs/model.md tells where
the vectors come from.

    rows.npy    int8 [tokens, dim]    a token's vector is its row times its scale
    scales.npy  float32 [tokens]
    keys.npy    uint64 [tokens]       sorted first eight bytes of BLAKE2b of the tokens

Nothing of a text is cut. Scripts that the vocabulary lacks count by hashed directions, which makes
their vectors good for matching words, not meanings. A text without any word is NOTHING.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike, path
from threading import Lock

import numpy as np

from .tokens import grams, tokens, words

try:  # hashlib would load OpenSSL: 3 of the 15 ms that a first query may take
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

NAME = "mosaic"
VERSION = 5
DIM = 256
#: What a word of the first two lines weighs against one of the rest.
OPENING = 2.0
#: Length of a hashed direction: that of an informative word.
GRAM_LENGTH = 2.0
#: Words whose vectors are kept (1 kB each), and tokens whose rows are.
MOST_WORDS = 16_384
MOST_TOKENS = 65_536
#: Words of one text that are added at once.
STRIDE = 4_096


def key(token: str) -> int:
    return int.from_bytes(blake2b(token.encode(), digest_size=8).digest(), "little")


def direction(gram: str) -> np.ndarray:
    """float32 [DIM], of unit length, each entry +-1/16: all but orthogonal to those of other grams."""
    bits = np.frombuffer(blake2b(gram.encode(), digest_size=DIM // 8).digest(), np.uint8)
    return (np.unpackbits(bits).astype(np.float32) * 2 - 1) / np.float32(DIM**0.5)


#: The vector of a text without a word: near to none but its like.
NOTHING = direction("")


class Builtin:
    """The default provider. Construction maps the files and reads none of them."""

    model = f"builtin:{NAME}@{VERSION}"
    dim = DIM

    def __init__(self, folder: str | PathLike[str] = path.dirname(__file__)):
        self._rows = np.load(path.join(folder, "rows.npy"), mmap_mode="r")
        self._scales = np.load(path.join(folder, "scales.npy"), mmap_mode="r")
        self._keys = memoryview(np.load(path.join(folder, "keys.npy"), mmap_mode="r")).cast("B").cast("Q")
        self._row_of: dict[str, int] = {}
        self._place_of: dict[str, int] = {}
        self._vectors = np.empty((MOST_WORDS, DIM), np.float32)
        self._lock = Lock()

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [len(texts), dim], each row of unit length."""
        out = np.empty((len(texts), DIM), np.float32)
        for row, text in zip(out, texts, strict=True):
            row[:] = self.embed_query(text)
        return out

    def embed_query(self, text: str) -> np.ndarray:
        """float32 [dim] of unit length; a query is embedded as a document is."""
        counts, opening = _counts(text)
        total = np.zeros(DIM, np.float32)
        for part in _strides(counts):
            weights = 1 + np.log(np.fromiter(map(counts.__getitem__, part), np.float32, len(part)))
            weights[: max(0, opening)] *= OPENING
            opening -= len(part)
            with self._lock:  # a place may be given to another word
                total += weights @ self._vectors[self._places(part)]
        length = np.sqrt(total @ total)
        return total / length if length > 1e-6 else NOTHING.copy()

    def _places(self, part: list[str]) -> list[int]:
        """Where the words' vectors stand; there are no more words than STRIDE."""
        if len(self._place_of) + len(part) > MOST_WORDS:
            self._place_of.clear()
        try:
            return [self._place_of[word] for word in part]
        except KeyError:
            return [self._place(word) for word in part]

    def _place(self, word: str) -> int:
        place = self._place_of.get(word)
        if place is None:
            place = len(self._place_of)
            self._vectors[place] = self._vector(word)
            self._place_of[word] = place
        return place

    def _vector(self, word: str) -> np.ndarray:
        if not word.isascii():
            return GRAM_LENGTH * np.sum([direction(gram) for gram in grams(word)], axis=0, initial=0, dtype=np.float32)
        rows = [self._row(token) for token in tokens(word, lambda token: self._row(token) >= 0)]
        return self._scales[rows] @ self._rows[rows].astype(np.float32)

    def _row(self, token: str) -> int:
        """The token's row, or -1."""
        row = self._row_of.get(token)
        if row is None:
            wanted = key(token)
            row = bisect_left(self._keys, wanted)
            if row == len(self._keys) or self._keys[row] != wanted:
                row = -1
            if len(self._row_of) >= MOST_TOKENS:
                self._row_of.clear()
            self._row_of[token] = row
        return row


def _counts(text: str) -> tuple[Counter[str], int]:
    """How often each word occurs, in the order in which they first do, and how many of these are of the first two lines."""
    head = text.split("\n", 2)
    counts = Counter(words("\n".join(head[:2])))
    opening = len(counts)
    if len(head) > 2:
        counts.update(words(head[2]))
    return counts, opening


def _strides(counts: Counter[str]) -> Iterator[list[str]]:
    """The distinct words, in the order in which they first occur, so many at a time."""
    rest = iter(counts)
    while part := list(islice(rest, STRIDE)):
        yield part
