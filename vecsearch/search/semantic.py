"""The semantic arm: the embedding of the question, and its dot product with every row, worked out while the keyword arm reads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import EmbedError
from ..store.product import InFile
from ..store.reader import Reader, State
from ..store.shelf import Shelf
from ..types import Embedder

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: Questions that are multiplied at once; more wait for a processor anyway.
AT_ONCE = 4


class OtherDimension(EmbedError):
    """The provider gives vectors of another length than the index has."""


class Question:
    """One question to one provider."""

    def __init__(self, provider: Embedder, text: str, state: State):
        self._provider, self._text, self._state = provider, text, state
        self._embedded: np.ndarray | None = None
        self._fault: EmbedError | None = None
        self._begun: InFile | None = None

    def ahead(self, reader: Reader) -> None:
        """Begin, before anything else is read, with vectors that are in the file."""
        with suppress(EmbedError):  # which is raised again when it is asked what came of it
            self._begun = reader.ahead(self._state, self._vector)

    def begin(self, shelf: Shelf) -> Callable[[], np.ndarray]:
        """What gives, once it is called, float32 [n]: the dot product of the question and each row. It raises EmbedError.

        Vectors that are in memory are multiplied by another thread from now on. Others are read from the file by the connection
        of the caller's thread, when it calls, and by a helper's (store/product.py).
        """
        def similarity() -> np.ndarray:
            return shelf.similarity(self._vector(), self._begun)

        return _threads().submit(similarity).result if shelf.is_in_memory else similarity

    def _vector(self) -> np.ndarray:
        if self._fault is not None:
            raise self._fault
        if self._embedded is None:
            try:
                self._embedded = self._embed()
            except EmbedError as error:
                self._fault = error
                raise
        return self._embedded

    def _embed(self) -> np.ndarray:
        embedded = self._provider.embed_query(self._text)
        if len(embedded) != self._state.dim:
            raise OtherDimension(f"the provider now gives {len(embedded)} numbers")
        return embedded


@cache
def _threads() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # four milliseconds, which a process of one question saves

    return ThreadPoolExecutor(AT_ONCE, "semantic")
