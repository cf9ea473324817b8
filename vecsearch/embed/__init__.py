"""Embedding providers behind one seam: `types.Embedder`. This is the only dispatch."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a first query has 15 ms, and these would take 9
    from ..config import Settings
    from ..types import Embedder


def get(settings: Settings) -> Embedder:
    """The configured provider. Imports only what it needs; opens no connection."""
    provider = settings["provider"]
    if provider == "hash":
        from .hashing import Hashing

        return Hashing()
    if provider == "builtin":
        return _builtin()
    from .remote import remote

    return remote(settings)


@cache
def _builtin() -> Embedder:
    """One for all threads: it remembers the words that it met."""
    from .builtin import Builtin

    return Builtin()
