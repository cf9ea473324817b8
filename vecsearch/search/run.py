"""One search: two arms over the permitted kinds only, ranked, checked once more, made into hits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..errors import EmbedError, NoIndexError
from ..store import seen, vocabulary
from ..store.connection import one_state
from ..store.reader import Reader, State
from ..store.shelf import Shelf
from ..types import Embedder
from . import floor, gather, hits, lexical, rank, semantic, suggest, version
from .filters import allowed_rows
from .known import Known
from .lexicon import Lexicon
from .memory import Memory
from .query import Query
from .result import Clock, Result

__all__ = ["Result", "search"]

#: Vectors of letter counts (the hash provider) know no meaning: fused, they cost what they were measured to
#: cost (docs/ranking.md). They still give a hit its score, and answer alone if asked to.
LETTERS_ONLY = "hash"


def search(db: sqlite3.Connection, embedder: Callable[[], Embedder], query: Query, kinds: Iterable[str], base_url: str = "", *,
           recipe: rank.Recipe = rank.RECIPE) -> Result:
    """Answer a query over the given kinds and nothing else.

    `kinds` is what the caller may see; the query's own kinds narrow it further. `embedder` is called
    only if the semantic arm runs. Raises StoreError where the index cannot be read.
    """
    result = Result(query)
    vocabulary.attach(db)
    with one_state(db):
        _answer(db, embedder, result, frozenset(kinds), base_url, recipe)
    if not query.text.strip() and result.state != "no_index":
        result.note("there are no words to search for; type some")
    for sentence in query.notes:
        result.note(sentence)
    return result


def _answer(db: sqlite3.Connection, embedder: Callable[[], Embedder], result: Result, kinds: frozenset[str], base_url: str,
            recipe: rank.Recipe) -> None:
    query, clock = result.query, Clock(result.took_ms)
    stamp, facts = seen.of(db)
    reader = Reader(db, facts)
    try:
        state = reader.state()
    except NoIndexError as error:
        result.degrade("no_index", str(error))
        return
    result.model, result.checkin = state.model, state.checkin
    provider = _provider(state, embedder, query, result)
    asked = semantic.Question(provider, query.text, state) if provider else None
    if asked:
        asked.ahead(reader)
    shelf = reader.shelf(state, kinds)
    memory = Memory.of(shelf, stamp, lambda last: version.of(db, reader, stamp[:2], last))
    in_step = reader.mark("change") == memory.version.change
    if not in_step:
        result.degrade("stale", "the repository has changed since it was indexed; run: vecsearch index")
    lexicon, known = Lexicon(reader, shelf, memory), Known(db, reader, shelf, memory, in_step=in_step)
    clock.lap("open")
    asked_of = provider and [value for name, value in sorted(reader.settings().items()) if name.startswith("provider")]
    question = (replace(query, kinds=frozenset(), k=0, offset=0, sort=""), recipe, repr(asked_of))
    ranking = memory.rankings.get(question)
    if ranking is None:
        said = result.message
        ranking = _ranked(lexicon, known, state, asked, result, recipe, clock)
        # What is to be said is said each time anew; filters look at tables of which a change by another program is not noted (triggers.py).
        if result.message == said and not query.filtered:
            memory.rankings.put(question, ranking, ranking.bytes)
    hits.fill(db, reader, memory, result, shelf, ranking, base_url)
    if result.total < suggest.FEW and ranking.by_words:
        result.suggestions = suggest.suggestions(lexicon, allowed_rows(reader, shelf, lexicon, query), query)
    clock.lap("hits")


def _ranked(lexicon: Lexicon, known: Known, state: State, asked: semantic.Question | None, result: Result, recipe: rank.Recipe,
            clock: Clock) -> rank.Ranking:
    """The order of all that the question finds, of whichever kind. What could not be asked is noted in the result."""
    query, reader, shelf = result.query, lexicon.reader, lexicon.shelf
    mask = allowed_rows(reader, shelf, lexicon, query)
    if len(mask) and not mask.any() and query.filtered:
        result.note(f"nothing here passes {' '.join(query.filters())}")
    asked = asked if mask.any() else None
    if asked:
        asked.begin(shelf)
        clock.lap("semantic")
    evidence = _evidence(lexicon, shelf, mask, query, result) if query.mode != "semantic" else None
    clock.lap("keyword")
    similarity = _similarity(asked, shelf, mask, state, result) if asked else None
    clock.lap("semantic")
    by_meaning = query.mode == "semantic" and similarity is not None
    if query.mode == "semantic" and not by_meaning:
        evidence = _evidence(lexicon, shelf, mask, query, result)
    fused = None if evidence is not None and state.model.startswith(LETTERS_ONLY) else similarity
    found = gather.field(reader, shelf, lexicon, known, mask, evidence, fused, query)
    relevant = _is_relevant(found, floor.from_mark(reader.mark("floor"), state.model))
    if by_meaning:  # similarity is of one scale for all kinds, and is what was asked for
        recipe = replace(recipe, apart=False, authority=False)
    ranking = rank.rank(found, recipe) if relevant else rank.Ranking()
    if not query.explain:
        ranking.steps.clear()
    ranking.by_words = evidence is not None
    ranking.similarity = np.zeros(len(ranking.rows), np.float32) if similarity is None else similarity[ranking.rows]
    clock.lap("rank")
    return ranking


def _provider(state: State, embedder: Callable[[], Embedder], query: Query, result: Result) -> Embedder | None:
    """Who embeds the question; None where the semantic arm is not asked, or cannot answer, and `result` then says why."""
    if query.mode == "keyword" or not query.text or query.in_title:
        return None
    try:
        provider = embedder()
    except EmbedError as error:
        result.degrade("semantic_unavailable", f"answered by keywords only: {error}")
        return None
    if provider.model != state.model:
        result.degrade("model_mismatch", f"the index was built with {state.model} ({state.dim}), configured is "
                       f"{provider.model}: answered by keywords only; run: vecsearch rebuild")
        return None
    return provider


def _similarity(asked: semantic.Question, shelf: Shelf, mask: np.ndarray, state: State, result: Result) -> np.ndarray | None:
    """The dot product of the query and each row, 0 where masked; None where the semantic arm cannot answer,
    and `result` then says why."""
    try:
        found = asked.similarity(shelf)
    except semantic.OtherDimension as error:
        result.degrade("model_mismatch", f"the index was built with {state.model} ({state.dim}), {error}: answered by keywords only; "
                       "run: vecsearch rebuild")
        return None
    except EmbedError as error:
        result.degrade("semantic_unavailable", f"answered by keywords only: {error}")
        return None
    return found if mask.all() else np.where(mask, found, np.float32(0))


def _evidence(lexicon: Lexicon, shelf: Shelf, mask: np.ndarray, query: Query, result: Result) -> lexical.Evidence | None:
    """What the rows hold of the query's words; None where the keyword arm does not answer."""
    if not mask.any():
        return None
    if not lexicon.reader.has_lexical():
        result.degrade("keyword_unavailable", "answered by meaning only: there is no full-text index here")
        return None
    return lexical.gather(lexicon, shelf, mask, query)


def _is_relevant(found: rank.Field, elsewhere: floor.Elsewhere | None) -> bool:
    """What holds a literal, or defines the name asked for, needs no other witness."""
    if found.tiers.any():
        return True
    covered = None if found.evidence is None else floor.coverage(found.evidence, found.shelf)
    similarity = None if found.similarity is None else float(found.similarity.max(initial=0.0))
    return floor.is_relevant(covered, similarity, elsewhere)
