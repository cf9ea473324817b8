"""Embedding providers behind one seam: `types.Embedder`. This is the only dispatch."""

from __future__ import annotations

from ..config import Settings
from ..types import Embedder


def get(settings: Settings) -> Embedder:
    """The configured provider. Imports only what it needs; opens no connection."""
    provider = settings["provider"]
    if provider == "hash":
        from .hashing import Hashing

        return Hashing()
    if provider == "builtin":
        from .builtin import Builtin

        return Builtin()
    from .remote import remote

    return remote(settings)
