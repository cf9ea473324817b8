"""Bringing the index up to the repository: find what changed, chunk it, embed the unseen, store it.

One transaction per batch; between batches the index is consistent and a killed run is completed by
the next one. An unchanged repository costs one look at its change mark and writes nothing.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import chunk as chunking
from .config import Settings
from .errors import ArtifactError, StoreError
from .fossil import corpus
from .fossil.repository import change_mark, lenient_text, open_readonly, secrecy_mark, tips
from .layout import layout
from .publish import Publisher
from .report import Report
from .search import floor
from .store import connection, packed, plane, schema
from .store.lexical import LEXICAL_VERSION
from .store.reader import Reader, State
from .store.shelf import Shelf
from .store.writer import Entry, Writer
from .types import KINDS, Chunk, Document, Embedder, Source

#: A batch ends at either bound: so much is lost to a kill, and so long are others kept from writing.
BATCH_CHUNKS = 512
BATCH_ARTIFACTS = 256
#: The floor is measured and the map is drawn again when one chunk in so many is new.
SURVEY_SHARE = 50


#: progress(done, expected) in artifacts.
Progress = Callable[[int, int], None]


def index(path: Path, embedder: Callable[[Settings], Embedder], *, rebuild: bool = False,
          progress: Progress = lambda done, expected: None) -> Report:
    """Index the repository at `path`. With `rebuild` everything is read and embedded anew, while the
    old vectors keep answering until the end. Raises RepositoryError, StoreError or EmbedError; what
    was stored before the fault stays."""
    open_readonly(path).close()
    db = connection.open_writable(path)
    db.text_factory = lenient_text
    try:
        return Run(db, embedder, rebuild, progress).go()
    except sqlite3.Error as error:
        raise connection.explain(path, error) from error
    finally:
        db.close()


class Run:
    """One run over one repository. transfer.py has another source of vectors for the same run."""

    def __init__(self, db: sqlite3.Connection, embedder: Callable[[Settings], Embedder], rebuild: bool, progress: Progress):
        self.db, self.rebuild, self.progress = db, rebuild, progress
        self.settings = Reader(db).settings()
        self.embedder = embedder(self.settings)
        self.report = Report(model=self.embedder.model)

    def go(self) -> Report:
        self.change = change_mark(self.db)
        self.rules = _rules_mark(self.settings)
        self.publisher = self.publisher_for(self.settings)
        mark = _run_mark(self.change, self.settings, self.embedder.model, self.publisher)
        if not self.rebuild and self._is_current(mark):
            self._pack()
            if self._is_current(mark):  # packing may find a damaged vector
                self.report.unchanged = True
                return self.report
        schema.refuse_newer(self.db)
        self.foreign = self._made_by_another_program()
        with connection.transaction(self.db):
            if self.rebuild and not self._readable():
                schema.drop(self.db)
            self.writer = Writer(self.db)
            self.publisher.begin()
        self._update()
        self._finish(mark)
        return self.report

    def publisher_for(self, settings: Settings) -> Publisher:
        """What exports this run's work."""
        return Publisher(self.db, settings, self.embedder)

    def _pack(self) -> None:
        """Vectors in blocks that are absent or behind are made from the rows; the repository is not read."""
        if not packed.in_step(self.db):
            with connection.transaction(self.db):
                schema.create(self.db)

    def _made_by_another_program(self) -> bool:
        """The contract's tables alone: they answer until all is indexed, then go."""
        present = schema.table_names(self.db)
        return bool(present & schema.CONTRACT.keys()) and "fx_vec_source" not in present

    def _readable(self) -> bool:
        try:
            schema.require(self.db)
        except StoreError:
            return False
        return True

    def _is_current(self, mark: str) -> bool:
        """Raises StoreError if the index belongs to another model or version."""
        reader = Reader(self.db)
        if not reader.tables & schema.CONTRACT.keys():
            return False
        return self.require_model() and reader.mark("run") == mark

    def require_model(self) -> bool:
        """Whether a run has finished before. Raises StoreError if it was with another model."""
        schema.require(self.db)
        row = self.db.execute("SELECT model, dim FROM fx_vec_state").fetchone()
        if row and row[0] != self.embedder.model:
            raise StoreError(f"the index was built with {row[0]} ({row[1]}), configured is {self.embedder.model}; run: vecsearch rebuild")
        return row is not None

    def _update(self) -> None:
        """Compare what is there with what is indexed, kind by kind."""
        reader = Reader(self.db)
        self.rechunk = self.rebuild or reader.mark("rules") != self.rules
        known = {hash_: facts for hash_, facts in reader.sources().items() if facts[1] != "api"}
        wanted = {source.hash: source for source in corpus.all_sources(self.db, self.settings)}
        self._remove_forbidden(known, wanted)
        stale = [s for s in wanted.values() if self._is_new(known.get(s.hash), s)]
        moved = [s for s in wanted.values() if not self._is_new(known.get(s.hash), s) and known[s.hash][3:] != (s.path, s.branch)]
        done = 0
        for entries in self._batches(self._chunked(stale)):
            self._store(entries)
            done += len(entries)
            self.progress(done, len(stale))
        with connection.transaction(self.db):
            for source in moved:
                self.writer.relocate(known[source.hash][0], source.kind, source.path, source.branch)
            gone = [hash_ for hash_ in known if hash_ not in wanted]
            self._remove(known, gone)
        self._embed_the_rest()
        self.report.moved, self.report.removed = len(moved), self.report.removed + len(gone)

    def _embed_the_rest(self) -> None:
        """Chunks that are in no artifact of this repository (libraries, peers) change model with the others."""
        rows = Reader(self.db).unembedded(self.embedder.model) if self.rebuild else []
        for start in range(0, len(rows), BATCH_CHUNKS):
            some = rows[start : start + BATCH_CHUNKS]
            texts = [chunking.embedding_text(path, Chunk(0, text, title, symbol), format) for _, path, title, symbol, format, text in some]
            made = self.embedder.embed_documents(texts)
            with connection.transaction(self.db):
                self.writer.add_vectors((row[0] for row in some), made, self.embedder.model)
            self.report.embedded += len(some)

    def _is_new(self, facts: tuple | None, source: Source) -> bool:
        return self.rechunk or facts is None or facts[2] != source.fingerprint or facts[1] != source.kind

    def _remove_forbidden(self, known: dict, wanted: dict) -> None:
        """What nobody may read any more goes first, and none of its words stays in the file."""
        lost = [(facts[1], hash_) for hash_, facts in known.items() if hash_ not in wanted]
        visible = corpus.visible(self.db, lost)
        forbidden = [hash_ for kind, hash_ in lost if (kind, hash_) not in visible]
        if not forbidden:
            return
        with connection.transaction(self.db):
            self._remove(known, forbidden)
            self.writer.forget_words()
            self.publisher.finish(Reader(self.db).tips(), self._previous_checkin())
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.report.removed += len(forbidden)
        for hash_ in forbidden:
            del known[hash_]

    def _remove(self, known: dict, hashes: list[str]) -> None:
        """Out of the tables and out of the files that travel, in the caller's transaction."""
        self.writer.remove(known[hash_][0] for hash_ in hashes)
        self.publisher.withdraw((known[hash_][1], hash_) for hash_ in hashes)

    def _previous_checkin(self) -> str:
        row = self.db.execute("SELECT last_ckout FROM fx_vec_state").fetchone()
        return row[0] or "" if row else ""

    def _chunked(self, sources: Iterable[Source]) -> Iterator[tuple[Document, list[Chunk]]]:
        """No artifact stops a run: one that cannot be read is named and tried again next time."""
        for source in sources:
            try:
                document = corpus.document(self.db, self.settings, source)
            except ArtifactError as error:
                self.report.failed.append(str(error))
                continue
            chunks = [] if document.skipped else chunking.split(document, self.settings)
            document = replace(document, notes=(*document.notes, *filter(None, (chunking.cut_short(document, chunks),))))
            for reason in filter(None, (document.skipped, *document.notes)):
                self.report.skipped[reason] = self.report.skipped.get(reason, 0) + 1
            yield document, chunks

    def _batches(self, documents: Iterator[tuple[Document, list[Chunk]]]) -> Iterator[list[Entry]]:
        batch: list[tuple[Document, list[Chunk]]] = []
        size = 0
        for item in documents:
            batch.append(item)
            size += len(item[1])
            if size >= BATCH_CHUNKS or len(batch) >= BATCH_ARTIFACTS:
                yield self.entries(batch)
                batch, size = [], 0
        if batch:
            yield self.entries(batch)

    def entries(self, batch: list[tuple[Document, list[Chunk]]]) -> list[Entry]:
        """Vectors for a batch; a text that was embedded before, wherever it stood, is not embedded again."""
        texts = [chunking.embedding_text(d.source.path, c, d.format) for d, chunks in batch for c in chunks]
        digests = [text_digest(text) for text in texts]
        model = self.embedder.model
        reused = {} if self.rebuild else Reader(self.db).vectors_by_digest(list(dict.fromkeys(digests)), model)
        fresh = {digest: text for digest, text in zip(digests, texts) if digest not in reused}
        made = self.embedder.embed_documents(list(fresh.values())) if fresh else []
        vectors = {d: np.frombuffer(v, "<f4") for d, v in reused.items()} | dict(zip(fresh, made, strict=True))
        self.report.embedded += len(fresh)
        entries, at = [], 0
        for document, chunks in batch:
            own = digests[at : at + len(chunks)]
            at += len(chunks)
            rows = np.stack([vectors[d] for d in own]) if own else np.zeros((0, self.embedder.dim), np.float32)
            entries.append(Entry(document, chunks, own, rows))
        return entries

    def _store(self, entries: list[Entry]) -> None:
        with connection.transaction(self.db):
            for entry in entries:
                self.writer.put(entry, self.embedder.model)
            self.publisher.put(entry.document.source for entry in entries)
        self.report.artifacts += len(entries)
        self.report.chunks += sum(len(entry.chunks) for entry in entries)

    def _finish(self, mark: str) -> None:
        """Only now does the index say what it is current to, and by which model."""
        found = tips(self.db, self.settings)
        checkin = found[0].hash if found else ""
        drift = int(Reader(self.db).mark("drift") or 0) + self.report.chunks + self.report.removed
        self.survey_due = self._is_survey_due(drift)
        elsewhere, places = self._elsewhere(), self._map()
        with connection.transaction(self.db):
            self.writer.set_mark("floor", elsewhere)
            if self.foreign:
                self.writer.remove_undescribed()
            self.writer.set_state(self.embedder.model, self.embedder.dim, checkin)
            if self.rebuild:
                packed.doubt(self.db)
            if places:
                plane.put(self.db, *places)
            self.writer.set_mark("drift", "0" if self.survey_due else str(drift))
            self.writer.set_tips({tip.branch: tip.hash for tip in found})
            self.writer.set_mark("change", self.change)
            self.writer.set_mark("rules", self.rules)
            self.writer.set_mark("time", str(int(time.time())))
            self.writer.set_mark("run", "" if self.report.failed else mark)
            self._forget_hidden_words()
            self.publisher.finish({tip.branch: tip.hash for tip in found}, checkin)
        self.report.checkin = checkin

    def _forget_hidden_words(self) -> None:
        """What was replaced first and hidden later left its words in the full-text index: whenever
        anything was hidden, they go."""
        now, before = secrecy_mark(self.db), Reader(self.db).mark("secrecy")
        if before and now != before:
            self.writer.forget_words()
        self.writer.set_mark("secrecy", now)

    def _elsewhere(self) -> str:
        """What questions about other worlds reach among the vectors of now; see search/floor.py."""
        if not self.survey_due:
            return Reader(self.db).mark("floor")
        shelf = self._shelf()
        return floor.to_mark(self.embedder.model, floor.measure(self.embedder.embed_query, shelf.matrix))

    def _map(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(chunk ids, their places): the picture of all that will be searched; None: as it was."""
        if not self.survey_due:
            return None
        shelf = self._shelf()
        chunks = shelf.ids > 0
        return shelf.ids[chunks], layout(shelf.matrix[chunks])

    def _is_survey_due(self, drift: int) -> bool:
        """Looking at all vectors costs by the repository's size, so a few chunks that came or went since
        the last time (`drift`) do not pay it."""
        chunks = self.db.execute("SELECT count(*) FROM fx_vec_chunk").fetchone()[0]
        return self.rebuild or not Reader(self.db).mark("floor") or drift * SURVEY_SHARE >= chunks

    def _shelf(self) -> Shelf:
        return Reader(self.db).shelf(State(self.embedder.model, self.embedder.dim, ""), frozenset(KINDS))


def text_digest(text: str) -> bytes:
    """By which a vector is found again, whatever chunk its text stood in."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _rules_mark(settings: Settings) -> str:
    """Changes whenever the same text would be cut into other chunks."""
    return repr((chunking.CHUNKER_VERSION, settings["chunk-chars"], settings["max-data-chunks"], settings["max-file-kb"]))


def _run_mark(change: str, settings: Settings, model: str, publisher: Publisher) -> str:
    """Changes whenever a run could find something to do: content, settings, code, model, readers."""
    facts = repr((change, sorted(settings.items()), chunking.CHUNKER_VERSION, LEXICAL_VERSION, model, sorted(publisher.kinds), publisher.silent))
    return hashlib.blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
