"""Semantic and keyword search for Fossil repositories.

`vecsearch.semantic_search` is the way in for programs; nothing is loaded before it is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself takes longer to load than the shim of the worker

if TYPE_CHECKING:
    from .inprocess import Hits, semantic_search

__all__ = ["Hits", "__version__", "semantic_search"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in ("Hits", "semantic_search"):
        from . import inprocess

        return getattr(inprocess, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
