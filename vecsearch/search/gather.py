"""Everything that ranking needs to know for one query, read from the index."""

from __future__ import annotations

import numpy as np

from ..store.reader import Reader
from ..store.shelf import Shelf
from ..terms import fold, words
from . import exact, lexical, names
from .known import Known
from .lexicon import Lexicon
from .query import Query
from .rank import Field

#: So many rows at most are read to look for letters that the tokenizer drops.
VERIFIED = 400
#: Words in the names of more artifacts than this are looked for as words only.
NAMESAKES = 500


def field(reader: Reader, shelf: Shelf, lexicon: Lexicon, known: Known, mask: np.ndarray, evidence: lexical.Evidence | None,
          similarity: np.ndarray | None, query: Query) -> Field:
    """The rows in question and what is known of them."""
    tiers, mentioned = np.zeros(len(shelf.ids), np.int8), np.zeros(len(shelf.ids), bool)
    if evidence is not None and not query.in_title:
        for literal in exact.literals(query):
            tiers += _holding(reader, shelf, lexicon, mask, literal, evidence.typed)
        if name := exact.symbol(query):
            tiers += _defining(lexicon, name) & mask
        for name in exact.mentioned(query):
            mentioned |= _defining(lexicon, name) & mask
        # Twice: whatever speaks of a file holds its name, and may define what it is called.
        tiers += 2 * (_called(reader, shelf, lexicon, known, query) & mask).astype(np.int8)
    return Field(shelf, mask, evidence, similarity, tiers, mentioned, _stems(query), query.files, known)


def _holding(reader: Reader, shelf: Shelf, lexicon: Lexicon, mask: np.ndarray, literal: exact.Literal, strength: np.ndarray) -> np.ndarray:
    """bool [n rows]: what holds the literal to the letter; of too many candidates the strongest are read."""
    held = lexicon.holding(literal.expression) & mask
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


def _defining(lexicon: Lexicon, name: str) -> np.ndarray:
    return lexicon.holding(f"symbol : {lexical.quote([name])}")


def _called(reader: Reader, shelf: Shelf, lexicon: Lexicon, known: Known, query: Query) -> np.ndarray:
    """bool [n rows]: artifacts of which a path, or the last part of one, is the whole query."""
    called = np.zeros(len(shelf.ids), bool)
    name = fold(query.text.strip().lstrip("/"))
    tokens = words(name)
    if not tokens or query.prefixes or len(tokens) > exact.LONGEST_NAME:
        return called
    owners = shelf.artifacts[_in_paths(lexicon, tokens)]
    artifacts = owners[np.diff(owners, prepend=-1) != 0]
    if len(artifacts) > NAMESAKES:
        return called
    known.ask(artifacts)
    ids = shelf.ids[shelf.starts[artifacts]].tolist()
    others = reader.other_paths(ids)
    for artifact, i, path in zip(artifacts.tolist(), ids, known.path[artifacts].tolist(), strict=True):
        paths = [fold(own) for own in (path or "", *others.get(i, ()))]
        called[shelf.starts[artifact] : shelf.starts[artifact + 1]] = any(own == name or own.endswith(f"/{name}") for own in paths)
    return called


def _in_paths(lexicon: Lexicon, tokens: list[str]) -> np.ndarray:
    """Rows whose paths hold the words: all that hold them side by side, or more. A phrase is as dear as its commonest word, so the
    others are asked first, and mostly one of them is in no path."""
    rows: np.ndarray | None = None
    for token in sorted(set(tokens), key=lambda token: lexicon.frequency(lexical.quote([token]))):
        if rows is not None and len(rows) <= NAMESAKES:
            break  # few enough to be looked at
        here = lexicon.rows(f"path : {lexical.quote([token])}")
        rows = here if rows is None else np.intersect1d(rows, here, assume_unique=True)
    return rows if rows is not None and len(rows) <= NAMESAKES else lexicon.rows(f"path : {lexical.quote(tokens)}")


def _stems(query: Query) -> list[str]:
    return names.wanted([word for term in lexical.significant(query.terms) for word in words(term)])
