"""From the files that travel to the tables: `import` after a clone or a loss, `normalize` for old blobs.

Neither calls a model. An import is an index run whose vectors come from the blobs: documents are
read and cut as ever, and a blob is taken only if its text is the document's. So nobody can put words
into an artifact's mouth, and everything a blob does not carry (title, lines, author) is exact.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from . import chunk as chunking
from .config import SETTINGS, Settings, parse
from .errors import BlobError, StoreError
from .fossil.repository import lenient_text, open_readonly
from .incoming import Incoming, entry_of, stored_model
from .index import Progress, Report, Run
from .index.embedding import Cut, text_digest
from .located import locate
from .publish import blob_name, hash_of
from .publish.publisher import Publisher
from .store import catalog, connection, exchange, known, schema, unversioned, ve01
from .store.reader import Reader
from .store.settings import store as store_setting
from .store.ve01 import Record
from .store.writer import Entry, Writer
from .types import Chunk, Document


#: The share of a document that a blob must hold to be taken for it; other chunkers drop markup.
WHOLE = 0.5


@dataclass
class ImportReport(Report):
    """What an import did. `refused` are malformed blobs, `stale` those of another version of their
    artifact, `missing` counts by kind what has no blob and waits for `vecsearch index`."""

    refused: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)

    def as_text(self) -> str:
        """For a person, one fact a line."""
        if self.unchanged:
            return "nothing to do: the tables are current"
        lines = [f"imported {self.artifacts} artifacts as {self.chunks} chunks of {self.model}; no model was called"]
        lines += [f"moved {self.moved}, removed {self.removed}"] if self.moved or self.removed else []
        lines += [f"  {count:5} {kind} without a blob: embedded by the next vecsearch index" for kind, count in sorted(self.missing.items())]
        lines += [f"  passed over: {name}" for name in self.stale]
        return "\n".join(lines)


def import_(path: Path, *, model: str = "", replace_index: bool = False,
            progress: Progress = lambda done, expected: None) -> ImportReport:
    """Fill the tables from the files under vec/. `model` names the blobs' model where no vec/index.json
    does. With `replace_index`, tables of another model give way. Raises StoreError or BlobError where
    nothing can be imported; a malformed blob is refused whole, named in the report, and stops no other."""
    open_readonly(path).close()
    db = connection.open_writable(path)
    db.text_factory = lenient_text
    try:
        incoming = Incoming(db, model)
        _require_same_model(db, incoming, replace_index)
        _adopt_settings(db, incoming)
        report = _Import(db, incoming, replace_index, progress).go()
        _import_libraries(db, incoming, report, replace_index)
        return report
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()


def _require_same_model(db: sqlite3.Connection, incoming: Incoming, replace_index: bool) -> None:
    state = stored_model(db)
    if state and state != (incoming.model, incoming.dim) and not replace_index:
        raise StoreError(f"the tables hold an index by {state[0]} ({state[1]}), the files under vec/ are by {incoming.model}"
                         f" ({incoming.dim}); to take them instead: vecsearch import --replace")


def _adopt_settings(db: sqlite3.Connection, incoming: Incoming) -> None:
    """What is indexed and how it is cut must be as it was at the source, unless it was set here."""
    here = Reader(db).settings()
    for name, text in incoming.listed.settings.items():
        if name in exchange.SHAPING and here[name] == SETTINGS[name].default != parse(name, text):
            with connection.transaction(db):
                store_setting(db, name, text)


def _is_whole(own: Sequence[Chunk], records: Sequence[Record]) -> bool:
    """Another program may cut elsewhere, but what it cut holds the document: half of one would be taken
    for all, and the rest never be found."""
    if [(r.seq, r.text) for r in records] == [(c.seq, c.text) for c in own[: len(records)]]:
        return len(records) == len(own)
    solid = sum(len("".join(c.text.split())) for c in own)
    return sum(len("".join(r.text.split())) for r in records) >= WHOLE * solid


class _Import(Run):
    """An index run that takes its vectors from blobs and publishes nothing."""

    def __init__(self, db: sqlite3.Connection, incoming: Incoming, replace_index: bool, progress: Progress):
        super().__init__(db, lambda settings: incoming, replace_index, progress)
        self.incoming = incoming
        self.report: ImportReport = ImportReport(model=incoming.model, refused=incoming.refused)

    def publisher_for(self, settings: Settings) -> Publisher:
        return Publisher(self.db, settings, self.embedder, mute=True)

    def go(self) -> ImportReport:
        if self.rebuild:
            with connection.transaction(self.db):
                Writer(self.db).remove(was.id for was in known.sources(self.db).values())
        return super().go()

    def embedded(self, groups: Iterable[list[Cut]]) -> Iterator[list[Entry]]:
        for batch in groups:
            yield [entry for document, chunks in batch if (entry := self._entry(document, chunks))]

    def _entry(self, document: Document, own: list[Chunk]) -> Entry | None:
        if not own:
            return Entry(document, [], [], np.zeros((0, self.incoming.dim), np.float32))
        source = document.source
        try:
            records = self.incoming.records(source.hash)
        except BlobError as error:
            self.report.refused.append(str(error))
            return None
        if records is None:
            self.report.missing[source.kind] = self.report.missing.get(source.kind, 0) + 1
            return None
        if strange := {r.project for r in records} - set(self.incoming.local):
            self.report.stale.append(f"{blob_name(source.hash)}: belongs to project {', '.join(sorted(strange))}")
            return None
        return self._matched(document, own, records)

    def _matched(self, document: Document, own: list[Chunk], records: list[Record]) -> Entry | None:
        vectors = np.stack([r.vector for r in records]) if records else np.zeros((0, self.incoming.dim), np.float32)
        if [(c.seq, c.text) for c in own] == [(r.seq, r.text) for r in records]:
            path, form = document.source.path, document.format
            return Entry(document, own, [text_digest(chunking.embedding_text(path, c, form)) for c in own], vectors)
        chunks = locate(document, own, records) if _is_whole(own, records) else None
        if chunks is None:
            self.report.stale.append(f"{blob_name(document.source.hash)}: its text is not that of {document.source.path or 'the artifact'}")
            return None
        return Entry(document, chunks, [b""] * len(chunks), vectors)  # no digest: not what we would embed

    def _embed_the_rest(self) -> None:
        """Whatever has no blob stays without a vector: no model is called."""

    def _finish(self, mark: str) -> None:
        complete = not (self.report.refused or self.report.stale or self.report.missing)
        super()._finish(mark if complete and self.floor(False) else "")

    def floor(self, due: bool) -> str:
        """As it was measured at the source; without a catalog the next index run measures it."""
        return self.incoming.listed.marks.get("floor", "")


def _import_libraries(db: sqlite3.Connection, incoming: Incoming, report: ImportReport, anew: bool) -> None:
    """Definitions of libraries are in no document of the repository: they are taken as described. What
    an earlier import brought and the source has forgotten goes."""
    templates, offered = Reader(db).library_templates(), incoming.listed.libraries
    brought = set(Reader(db).mark("libraries").splitlines())
    for project in sorted(offered.keys() | brought):
        held = {} if anew else Reader(db).library(project)
        wanted = {a.hash for a in incoming.listed.artifacts.values() if a.kind == "api" and a.project == project}
        entries = [entry for hash_ in sorted(wanted - held.keys()) if (entry := _definition(incoming, hash_, report))]
        gone = [held[hash_] for hash_ in held.keys() - wanted]
        if entries or gone or templates.get(project) != offered.get(project):
            with connection.transaction(db):
                writer = Writer(db)
                writer.set_mark("libraries", "\n".join(sorted(offered)))
                _store_library(writer, project, offered.get(project), entries, gone, incoming.model)
            report.unchanged = False
            report.artifacts, report.chunks = report.artifacts + len(entries), report.chunks + sum(len(e.chunks) for e in entries)


def _store_library(writer: Writer, project: str, template: str | None, entries: list[Entry], gone: list[int], model: str) -> None:
    writer.set_library(project, template)
    writer.remove(gone)
    for entry in entries:
        writer.put(entry, model, project)


def _definition(incoming: Incoming, hash_: str, report: ImportReport) -> Entry | None:
    try:
        records = incoming.records(hash_)
        return entry_of(incoming.listed.artifacts[hash_], records, hash_, incoming.dim) if records else None
    except BlobError as error:
        report.refused.append(str(error))
        return None


@dataclass
class NormalizeReport:
    """Counts of what was rewritten, and what could not be."""

    vectors: int = 0
    blobs: int = 0
    refused: list[str] = field(default_factory=list)

    def as_text(self) -> str:
        """For a person."""
        return f"normalised {self.vectors} vectors in the tables, rewrote {self.blobs} blobs"


def normalize(path: Path) -> NormalizeReport:
    """Make every stored vector a unit vector and every blob VE01, in one transaction. What is right
    already is not touched."""
    open_readonly(path).close()
    db = connection.open_writable(path)
    report = NormalizeReport()
    try:
        with connection.transaction(db):
            _normalize_tables(db, report)
            _normalize_blobs(db, report)
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()
    return report


def _normalize_tables(db: sqlite3.Connection, report: NormalizeReport) -> None:
    if "fx_vec_embedding" not in schema.table_names(db):
        return
    for chunk_id, model, stored in exchange.vectors(db):
        try:
            vector = np.frombuffer(stored, "<f4")
        except (TypeError, ValueError):  # no BLOB, or cut in the middle of a number
            report.refused.append(f"chunk {chunk_id}: its vector is not made of float32 numbers; run: vecsearch index")
            continue
        try:
            changed = ve01.unit(vector, f"chunk {chunk_id}")
        except BlobError as error:
            report.refused.append(str(error))
            continue
        if changed is not vector:
            exchange.set_vector(db, chunk_id, model, changed)
            report.vectors += 1


def _normalize_blobs(db: sqlite3.Connection, report: NormalizeReport) -> None:
    content = unversioned.read(db, catalog.NAME)
    listed = catalog.decode(content) if content is not None else None
    state = stored_model(db)
    dim = listed.dim if listed else state[1] if state else 0
    rewritten: set[str] = set()
    for name in sorted(filter(hash_of, unversioned.files(db))):
        try:
            data = unversioned.read(db, name) or b""
            made = ve01.encode(ve01.decode_old(data, dim or ve01.find_dim(data, name), name))
        except BlobError as error:
            report.refused.append(str(error))
            continue
        if unversioned.put(db, name, made):
            rewritten.add(name)
    report.blobs = len(rewritten)
    if listed and rewritten:
        now = unversioned.files(db)
        digests = {hash_: now[name] if (name := blob_name(hash_)) in rewritten else was for hash_, was in listed.digests.items()}
        unversioned.put(db, catalog.NAME, catalog.encode(replace(listed, digests=digests)))
