"""By which a run knows that there is nothing to do, or which rules have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from .. import chunk
from ..config import Settings
from ..fossil.corpus import LISTING_VERSION
from ..store.lexical import LEXICAL_VERSION


def rules(settings: Settings) -> str:
    """Changes whenever the same text would be cut into other chunks."""
    return repr((chunk.CHUNKER_VERSION, settings["chunk-chars"], settings["max-data-chunks"], settings["max-file-kb"]))


def everything(change: str, settings: Settings, model: str, kinds: Iterable[str], silent: bool) -> str:
    """Changes whenever a run could find something to do: content, settings, code, model, what is published."""
    return _digest(change, settled(settings, model), sorted(kinds), silent)


def settled(settings: Settings, model: str) -> str:
    """Changes whenever it does not suffice to look at what the repository's changes touched."""
    return _digest(sorted(settings.items()), LISTING_VERSION, chunk.CHUNKER_VERSION, LEXICAL_VERSION, model)


def _digest(*facts: object) -> str:
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
