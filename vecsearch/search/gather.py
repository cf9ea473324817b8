"""Everything that ranking needs to know for one query, read from the index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..fossil import standing
from ..store.reader import Reader
from ..store.shelf import Shelf
from . import exact, lexical, names
from .query import Query
from .rank import About, Field

#: So many rows at most are read to look for letters that the tokenizer drops.
VERIFIED = 400


def field(reader: Reader, shelf: Shelf, mask: np.ndarray, evidence: lexical.Evidence | None, similarity: np.ndarray | None,
          query: Query) -> Field:
    """The rows in question and what is known of them."""
    tiers, mentioned = np.zeros(len(shelf.ids), np.int8), np.zeros(len(shelf.ids), bool)
    if evidence is not None and not query.in_title:
        strength = evidence.typed.sum(axis=0)
        for literal in exact.literals(query):
            tiers += _holding(reader, shelf, mask, literal, strength)
        if name := exact.symbol(query):
            tiers += _defining(reader, shelf, mask, name)
        for name in exact.mentioned(query):
            mentioned |= _defining(reader, shelf, mask, name)
    return Field(shelf, mask, evidence, similarity, tiers, mentioned, _stems(query), query.files,
                 lambda rows: _about(reader, shelf, rows))


def _holding(reader: Reader, shelf: Shelf, mask: np.ndarray, literal: exact.Literal, strength: np.ndarray) -> np.ndarray:
    """bool [n rows]: what holds the literal to the letter; of too many candidates the strongest are read."""
    held = lexical.holding(reader, shelf, literal.expression) & mask
    if not literal.verify:
        return held
    rows = np.flatnonzero(held)
    rows = rows[np.argsort(-strength[rows], kind="stable")[:VERIFIED]]
    chunks = reader.chunks([int(i) for i in shelf.ids[rows]])
    held[:] = False
    for row in rows:
        chunk = chunks[int(shelf.ids[row])]
        held[row] = literal.held_by(f"{chunk.title}\n{chunk.path or ''}\n{chunk.symbol}\n{chunk.text}")
    return held


def _defining(reader: Reader, shelf: Shelf, mask: np.ndarray, name: str) -> np.ndarray:
    return lexical.holding(reader, shelf, f"symbol : {lexical.quote([name])}") & mask


def _stems(query: Query) -> Sequence[str]:
    return names.wanted([word for term in lexical.significant(query.terms) for word in lexical.words(term)])


def _about(reader: Reader, shelf: Shelf, rows: Sequence[int]) -> list[About]:
    facts = reader.artifact_facts([int(shelf.ids[row]) for row in rows])
    own = [(kind, hash_) for kind, _, hash_, project, _ in facts if not project]
    closed, links = standing.closed_tickets(reader.db, own), standing.links_to(reader.db, own)
    return [About(kind, path, hash_, mtime, not project and hash_ in closed, 0 if project else links.get(hash_, 0))
            for kind, path, hash_, project, mtime in facts]
