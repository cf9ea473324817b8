"""The semantic arm: the embedding of the question, and its dot product with every row, worked out while the keyword arm reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import EmbedError
from ..store.shelf import Shelf
from ..types import Embedder

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: Questions that are multiplied at once; more wait for a processor anyway.
AT_ONCE = 4


class OtherDimension(EmbedError):
    """The provider gives vectors of another length than the index has."""


def begin(shelf: Shelf, provider: Embedder, text: str) -> Callable[[], np.ndarray]:
    """What gives, once it is called, float32 [n]: the dot product of the question and each row. It raises EmbedError.

    Vectors that are in memory are multiplied by another thread from now on. Others are read from the file by the connection
    of the caller's thread, when it calls.
    """
    def similarity() -> np.ndarray:
        embedded = provider.embed_query(text)
        if len(embedded) != shelf.dim:
            raise OtherDimension(f"the provider now gives {len(embedded)} numbers")
        return shelf.similarity(embedded)

    return _threads().submit(similarity).result if shelf.is_in_memory else similarity


@cache
def _threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # four milliseconds, which a process of one question saves

    return ThreadPoolExecutor(AT_ONCE, "semantic")
