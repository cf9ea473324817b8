"""One search: two arms over the permitted kinds only, fused, checked once more, made into hits."""

from __future__ import annotations

import fnmatch
import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ..errors import EmbedError, NoIndexError
from ..fossil import corpus
from ..fossil.repository import change_mark
from ..store.reader import Reader, State, StoredChunk, Vectors
from ..types import Embedder, Hit
from . import fuse, lexical, vector
from .address import Addresses
from .query import Query
from .snippet import snippet

#: Each arm hands this many to the fusion; deeper ranks add nothing that reaches a page.
DEPTH = 200


@dataclass
class Result:
    """Everything a surface shows. `state` is one of SPEC's; `message` says it in a sentence."""

    query: Query
    hits: list[Hit] = field(default_factory=list)
    total: int = 0
    state: str = "ok"
    message: str = ""
    model: str = ""
    checkin: str = ""
    took_ms: dict[str, float] = field(default_factory=dict)
    next: int | None = None


class _Clock:
    """Milliseconds by stage."""

    def __init__(self, took: dict[str, float]):
        self.took, self.last = took, time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.took[stage] = round(self.took.get(stage, 0) + (now - self.last) * 1000, 2)
        self.last = now


def search(db: sqlite3.Connection, embedder: Callable[[], Embedder], query: Query, kinds: Iterable[str],
           base_url: str = "") -> Result:
    """Answer a query over the given kinds and nothing else.

    `kinds` is what the caller may see; the query's own kinds narrow it further. `embedder` is called
    only if the semantic arm runs. Raises StoreError where the index cannot be read.
    """
    result = Result(query)
    clock = _Clock(result.took_ms)
    reader = Reader(db)
    try:
        state = reader.state()
    except NoIndexError as error:
        result.state, result.message = "no_index", str(error)
        return result
    result.model, result.checkin = state.model, state.checkin
    permitted = frozenset(kinds) & query.kinds if query.kinds else frozenset(kinds)
    _freshness(db, reader, result)
    clock.lap("open")
    allowed = _allowed(reader, query)
    similarity = _similarity(reader, state, embedder, query, permitted, result)
    arms = {"semantic": similarity.nearest(allowed) if similarity else [],
            "keyword": _keyword(reader, query, permitted, allowed, result)}
    clock.lap("arms")
    order = fuse.reciprocal_rank_fusion({name: [i for i, _ in found] for name, found in arms.items()})
    chunks = reader.chunks(order)
    order = [i for i in order if i in chunks and not _excluded(chunks[i], query)]
    order = fuse.fold(order, lambda i: f"{chunks[i].project}/{chunks[i].hash}")
    clock.lap("fuse")
    _fill(db, reader, result, order, chunks, arms, similarity, base_url)
    clock.lap("hits")
    return result


def _freshness(db: sqlite3.Connection, reader: Reader, result: Result) -> None:
    if reader.mark("change") != change_mark(db):
        _degrade(result, "stale", "the repository has changed since it was indexed; run: vecsearch index")


def _degrade(result: Result, state: str, message: str) -> None:
    """Keep the gravest state: a failed arm says more than a stale index."""
    grave = ("ok", "stale", "keyword_unavailable", "semantic_unavailable", "model_mismatch")
    if grave.index(state) > grave.index(result.state):
        result.state, result.message = state, message


@dataclass(frozen=True)
class _Similarity:
    """The query's vector beside those of the permitted chunks."""

    vectors: Vectors
    embedded: np.ndarray

    def nearest(self, allowed: set[int] | None) -> list[tuple[int, float]]:
        ids = self.vectors.ids
        mask = None if allowed is None else np.isin(ids, np.fromiter(allowed, np.int64, len(allowed)))
        return [(i, score) for i, score in vector.scan(self.vectors, self.embedded, DEPTH, mask) if score > 0]

    def score(self, chunk_id: int) -> float:
        """The dot product of query and chunk, 0 for a row that has no vector."""
        rows = np.flatnonzero(self.vectors.ids == chunk_id)
        return float(self.vectors.matrix[rows[0]] @ self.embedded) if len(rows) else 0.0


def _similarity(reader: Reader, state: State, embedder: Callable[[], Embedder], query: Query, kinds: frozenset[str],
                result: Result) -> _Similarity | None:
    """None where the semantic arm cannot answer; `result` then says why."""
    if query.mode == "keyword" or not query.text or not kinds or query.in_title:
        return None
    try:
        provider = embedder()
        if provider.model != state.model:
            _degrade(result, "model_mismatch", f"the index was built with {state.model} ({state.dim}), configured is "
                     f"{provider.model}: answered by keywords only; run: vecsearch rebuild")
            return None
        embedded = provider.embed_query(query.text)
    except EmbedError as error:
        _degrade(result, "semantic_unavailable", f"answered by keywords only: {error}")
        return None
    if len(embedded) != state.dim:
        _degrade(result, "model_mismatch", f"the index was built with {state.model} ({state.dim}), the provider now gives "
                 f"{len(embedded)} numbers: answered by keywords only; run: vecsearch rebuild")
        return None
    return _Similarity(reader.vectors(state, kinds), embedded)


def _keyword(reader: Reader, query: Query, kinds: frozenset[str], allowed: set[int] | None,
             result: Result) -> list[tuple[int, float]]:
    if query.mode == "semantic" or not kinds:
        return []
    if not reader.has_lexical():
        _degrade(result, "keyword_unavailable", "answered by meaning only: there is no full-text index here")
        return []
    found = lexical.arm(reader, query, kinds, DEPTH if allowed is None else -1)
    return [pair for pair in found if allowed is None or pair[0] in allowed][:DEPTH]


def _allowed(reader: Reader, query: Query) -> set[int] | None:
    """Chunk ids that pass the filters (all but kind); None if there is no filter."""
    if not query.filtered:
        return None
    paths = [_path_test(glob) for glob in query.paths]
    before = query.before or 1 << 62
    return {
        i for i, project, path, user, mtime in reader.chunk_facts()
        if (query.project is None or project == query.project)
        and (not query.user or user == query.user)
        and query.after <= mtime < before
        and all(path is not None and test(path) for test in paths)
    }


def _path_test(glob: str) -> Callable[[str], bool]:
    """`path:` matches whole components: `src` is src/a.c and lib/src/b.c, not srcx/c.c."""
    pattern = re.compile(f"(?:.*/)?{fnmatch.translate(glob.strip('/')).removesuffix(chr(92) + 'Z')}(?:/.*)?", re.S)
    return lambda path: pattern.fullmatch(path) is not None


def _excluded(chunk: StoredChunk, query: Query) -> bool:
    """`-word` holds for the semantic arm too."""
    text = f"{chunk.title}\n{chunk.text}".lower() if query.excluded else ""
    return any(re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) for word in query.excluded)


def _fill(db: sqlite3.Connection, reader: Reader, result: Result, order: list[int], chunks: dict[int, StoredChunk],
          arms: dict[str, list[tuple[int, float]]], similarity: _Similarity | None, base_url: str) -> None:
    """The page that was asked for, without what has become invisible since the index run."""
    query = result.query
    ranks = {name: {i: rank for rank, (i, _) in enumerate(found, 1)} for name, found in arms.items()}
    visible = corpus.visible(db, [(chunks[i].kind, chunks[i].hash) for i in order if not chunks[i].project])
    order = [i for i in order if chunks[i].project or (chunks[i].kind, chunks[i].hash) in visible]
    tips, addresses = reader.tips(), Addresses(reader, base_url)
    result.total = len(order)
    page = order[query.offset : query.offset + query.k]
    for rank, i in enumerate(page, query.offset + 1):
        chunk = chunks[i]
        ci = addresses.checkin(chunk, tips, result.checkin)
        result.hits.append(Hit(
            score=round(min(1.0, max(0.0, similarity.score(i))), 6) if similarity else 0.0,
            kind=chunk.kind, project=chunk.project, path=chunk.path, hash=chunk.hash, text=chunk.text,
            rank=rank, title=chunk.title or chunk.path or chunk.hash[:16],
            url=addresses.of(chunk, ci),
            lines=chunk.lines, snippet=snippet(chunk.format, chunk.text, query),
            arms={name: found[i] for name, found in ranks.items() if i in found},
            user=chunk.user, mtime=chunk.mtime, seq=chunk.seq, ci=ci,
        ))
    if len(order) > query.offset + query.k:
        result.next = query.offset + query.k
