"""Vectors for documents, a batch at a time: reused where the same text was embedded before."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .. import chunk as chunking
from ..store.reader import Reader
from ..store.writer import Entry
from ..types import Chunk, Document, Embedder

#: A batch ends at either bound: so much is lost to a kill, and so long are others kept from writing.
BATCH_CHUNKS = 512
BATCH_ARTIFACTS = 256

Cut = tuple[Document, list[Chunk]]


def text_digest(text: str) -> bytes:
    """By which a vector is found again, whatever chunk its text stood in."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def batches(documents: Iterable[Cut]) -> Iterator[list[Cut]]:
    """The documents, some at a time."""
    batch: list[Cut] = []
    size = 0
    for item in documents:
        batch.append(item)
        size += len(item[1])
        if size >= BATCH_CHUNKS or len(batch) >= BATCH_ARTIFACTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class _Pending:
    """A batch whose unseen texts (`fresh`, in the order of `made`) are being embedded."""

    batch: list[Cut]
    digests: list[bytes]
    vectors: dict[bytes, np.ndarray]
    fresh: list[bytes]
    made: Future[np.ndarray] | None

    def resolve(self) -> None:
        """Wait for the provider. Raises EmbedError."""
        if self.made is not None:
            self.vectors |= dict(zip(self.fresh, self.made.result(), strict=True))


class Embedding:
    """Asks the provider only for texts that nobody embedded before, wherever they stood. `embedded`
    counts these. With `anew` nothing that is stored is reused. `former` is the path that an artifact had: a
    text that was embedded under it keeps its vector, which then remembers that path."""

    def __init__(self, db: sqlite3.Connection, embedder: Embedder, anew: bool = False):
        self.db, self.embedder, self.anew = db, embedder, anew
        self.former: Mapping[str, str | None] = {}
        self.embedded = 0

    def stream(self, groups: Iterable[list[Cut]]) -> Iterator[list[Entry]]:
        """The batches with their vectors, in order. While the provider works on one, the one before it is
        stored and the next is cut: never are there more than two in memory."""
        with ThreadPoolExecutor(1, "embed") as provider:
            before: _Pending | None = None
            for batch in groups:
                pending = self._begin(batch, before.fresh if before else [], provider)
                if before:
                    yield self._entries(before, pending)
                before = pending
            if before:
                yield self._entries(before, None)

    def entries(self, batch: list[Cut]) -> list[Entry]:
        """One batch."""
        return next(self.stream([batch]), [])

    def _begin(self, batch: list[Cut], under_way: list[bytes], provider: ThreadPoolExecutor) -> _Pending:
        """Ask for what is neither stored nor `under_way` in the batch before."""
        texts = [chunking.embedding_text(d.source.path, c, d.format) for d, chunks in batch for c in chunks]
        digests = [text_digest(text) for text in texts]
        vectors = self._stored(digests)
        if before := self._under_former_paths(batch, digests, vectors):
            found = self._stored(before.values())
            digests = [before[i] if before.get(i) in found else digest for i, digest in enumerate(digests)]
            vectors |= found
        fresh = {digest: text for digest, text in zip(digests, texts) if digest not in vectors}
        for digest in under_way:
            fresh.pop(digest, None)
        self.embedded += len(fresh)
        made = provider.submit(self.embedder.embed_documents, list(fresh.values())) if fresh else None
        return _Pending(batch, digests, vectors, list(fresh), made)

    def _stored(self, digests: Iterable[bytes]) -> dict[bytes, np.ndarray]:
        found = {} if self.anew else Reader(self.db).vectors_by_digest(list(dict.fromkeys(digests)), self.embedder.model)
        return {digest: np.frombuffer(vector, "<f4") for digest, vector in found.items()}

    def _under_former_paths(self, batch: list[Cut], digests: list[bytes], vectors: Mapping[bytes, np.ndarray]) -> dict[int, bytes]:
        """place in `digests` -> what it was under the path that its artifact had, of what has no vector."""
        every = ((d, c) for d, chunks in batch for c in chunks)
        return {i: text_digest(chunking.embedding_text(self.former[d.source.hash], c, d.format)) for i, (d, c) in enumerate(every)
                if digests[i] not in vectors and self.former.get(d.source.hash, d.source.path) != d.source.path}

    def _entries(self, pending: _Pending, following: _Pending | None) -> list[Entry]:
        """A batch with its vectors, which the following one may hold texts of, too."""
        pending.resolve()
        if following:
            following.vectors |= {d: pending.vectors[d] for d in following.digests if d in pending.vectors}
        entries, at = [], 0
        for document, chunks in pending.batch:
            own = pending.digests[at : at + len(chunks)]
            at += len(chunks)
            rows = np.stack([pending.vectors[d] for d in own]) if own else np.zeros((0, self.embedder.dim), np.float32)
            entries.append(Entry(document, chunks, own, rows))
        return entries
