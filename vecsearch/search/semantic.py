"""The semantic arm: the embedding of the question, and its dot product with every row, worked out while other things are read."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ..errors import EmbedError
from ..store.product import InFile, InMemory
from ..store.reader import Reader, State
from ..store.shelf import Shelf
from ..types import Embedder


class OtherDimension(EmbedError):
    """The provider gives vectors of another length than the index has."""


class Question:
    """One question to one provider."""

    def __init__(self, provider: Embedder, text: str, state: State):
        self._provider, self._text, self._state = provider, text, state
        self._embedded: np.ndarray | None = None
        self._fault: EmbedError | None = None
        self._begun: InMemory | InFile | None = None

    def ahead(self, reader: Reader) -> None:
        """Begin, before anything else is read, with vectors that are in the file."""
        with suppress(EmbedError):  # which `similarity` raises again
            self._begun = reader.ahead(self._state, self._vector)

    def begin(self, shelf: Shelf) -> None:
        """Begin with vectors that are in memory."""
        with suppress(EmbedError):
            self._begun = self._begun or shelf.begin(self._vector())

    def similarity(self, shelf: Shelf) -> np.ndarray:
        """float32 [n]: the dot product of the question and each row. Raises EmbedError."""
        return shelf.similarity(self._vector(), self._begun)

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
