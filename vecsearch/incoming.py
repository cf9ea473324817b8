"""The blobs of a repository as a source of vectors: which model made them, which artifact each is of."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import replace

import numpy as np

from . import embed
from .errors import BlobError, StoreError, UsageError
from .fossil.repository import project_name
from .publish import blob_name, hash_of, is_pack
from .store import catalog, pack, schema, unversioned, ve01
from .store.exchange import PEER_SHIFT, Artifact
from .store.reader import Reader
from .store.ve01 import Record
from .store.writer import Entry
from .types import Chunk, Document, Source


def stored_model(db: sqlite3.Connection) -> tuple[str, int] | None:
    """(model, dim) of the tables, None if there is no index."""
    if "fx_vec_state" not in schema.table_names(db):
        return None
    return db.execute("SELECT model, dim FROM fx_vec_state").fetchone()


class Incoming:
    """The blobs of a repository, by artifact; stands where a run expects its embedder."""

    def __init__(self, db: sqlite3.Connection, model: str = ""):
        self.db = db
        self.files = unversioned.files(db)
        self.local = ("", project_name(db))
        self.refused: list[str] = []
        content = unversioned.read(db, catalog.NAME)
        listed = catalog.decode(content) if content is not None else None
        self.digests = listed and {blob_name(hash_): digest for hash_, digest in listed.digests.items()} | listed.packs
        self.packed = self._packed()
        if not self.packed and not any(map(hash_of, self.files)):
            raise StoreError("there is nothing to import under vec/; run: fossil uv sync, or clone with --unversioned")
        self.listed = listed or catalog.Catalog("", 0, 0)
        self.model, self.dim = (listed.model, listed.dim) if listed else self._model_and_dim(model)
        if model and model != self.model:
            raise UsageError(f"vec/index.json says that the model is {self.model}, not {model}")

    def records(self, hash_: str) -> list[Record] | None:
        """The records of an artifact, None if there is no blob. Raises BlobError."""
        name = blob_name(hash_)
        data = self.packed.get(hash_) or self._read(name)
        return None if data is None else sorted(ve01.decode(data, self.dim, name), key=lambda record: record.seq)

    def _read(self, name: str) -> bytes | None:
        """A file, unless the catalog does not list it. Raises BlobError if the catalog means another version:
        half a sync, or somebody's own file."""
        if name not in self.files or (self.digests is not None and name not in self.digests):
            return None
        data = unversioned.read(self.db, name)
        if self.digests is not None and self.digests[name] != self.files[name]:
            raise BlobError(f"{name}: not the version that {catalog.NAME} lists; run: fossil uv sync, and import again")
        return data

    def _packed(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for name in sorted(filter(is_pack, self.files)):
            try:
                data = self._read(name)
                found |= {hash_: blob for hash_, (_, blob) in pack.decode(data, name).items()} if data else {}
            except BlobError as error:
                self.refused.append(str(error))
        return found

    def _model_and_dim(self, model: str) -> tuple[str, int]:
        """Without a catalog: from the tables, or from the blobs and the configured provider."""
        state = stored_model(self.db)
        if state and model in ("", state[0]):
            return state
        dim = self._common_dim()
        if model:
            return model, dim
        settings = Reader(self.db).settings()
        provider = embed.get(settings)
        if settings["provider"] in ("builtin", "hash") and provider.dim != dim:
            raise UsageError(f"the blobs have {dim} numbers per vector, the configured {provider.model} makes {provider.dim};"
                             " name their model with --model")
        return provider.model, dim

    def _common_dim(self) -> int:
        """The dim that fits most blobs, so that one damaged or foreign blob does not decide."""
        votes: Counter[int] = Counter()
        for name in filter(hash_of, self.files):
            try:
                votes[ve01.find_dim(unversioned.read(self.db, name) or b"", name)] += 1
            except BlobError:
                continue  # named when its turn comes
        if not votes:
            raise BlobError("no blob under vec/ tells the number of values per vector")
        return votes.most_common(1)[0][0]


def entry_of(artifact: Artifact, records: list[Record], fingerprint: str, dim: int, number: int = 0) -> Entry:
    """An artifact that no document here backs, as its catalog describes it; `number` is its peer's. Raises
    BlobError if blob and description disagree. No digest: such a vector never stands in for one of ours."""
    described = artifact.chunks or tuple(Chunk(r.seq, "", artifact.title) for r in records)
    if len(described) != len(records):
        raise BlobError(f"{blob_name(artifact.hash)}: {len(records)} chunks, the catalog describes {len(described)}")
    source = Source(artifact.kind, artifact.hash, artifact.path, fingerprint, 0, artifact.branch, artifact.user, artifact.mtime,
                    artifact.also)
    chunks = [replace(c, seq=(number << PEER_SHIFT) | r.seq, text=r.text) for c, r in zip(described, records)]
    vectors = np.stack([r.vector for r in records]) if records else np.zeros((0, dim), np.float32)
    return Entry(Document(source, artifact.title, artifact.format), chunks, [b""] * len(chunks), vectors)
