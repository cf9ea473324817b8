"""One run over one repository: what is new is cut, embedded and stored, what moved is renamed, what is
gone is removed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .. import chunk as chunking
from ..config import Settings
from ..errors import ArtifactError, NoIndexError, StoreError
from ..fossil import corpus, since
from ..fossil.repository import change_mark, secrecy_mark, tips
from ..fossil.visible import visible
from ..publish.publisher import Publisher
from ..report import Report
from ..store import check, connection, known, merge, packed, schema
from ..store.known import Known
from ..store.reader import Reader
from ..store.writer import Entry, Writer
from ..types import Chunk, Document, Embedder, Source
from . import marks, survey
from .embedding import BATCH_CHUNKS, Cut, Embedding, batches

#: progress(done, expected) in artifacts.
Progress = Callable[[int, int], None]


#: The mark `moment` during a run; packing takes it away if it finds a damaged vector (store/packed.py).
_UNDER_WAY = "-"
#: What may keep a merge from being made now and is no fault of the run.
_LATER = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)


class Run:
    """One run. transfer.py has another source of vectors for the same run."""

    def __init__(self, db: sqlite3.Connection, embedder: Callable[[Settings], Embedder], rebuild: bool, progress: Progress):
        self.db, self.rebuild, self.progress = db, rebuild, progress
        if rebuild:
            with connection.transaction(db):
                check.mend_settings(db)
        self.settings = Reader(db).settings()
        self.embedder = embedder(self.settings)
        self.embedding = Embedding(db, self.embedder, anew=rebuild)
        self.report = Report(model=self.embedder.model)

    def go(self) -> Report:
        self.change = change_mark(self.db)
        self.rules = marks.rules(self.settings)
        self.publisher = self.publisher_for(self.settings)
        mark = marks.everything(self.change, self.settings, self.embedder.model, self.publisher.kinds, self.publisher.silent)
        if not self.rebuild and self._is_current(mark):
            self._pack()
            if self._is_current(mark):  # packing may find a damaged vector
                self.report.unchanged = True
                return self.report
        check.refuse_newer(self.db)
        self.foreign = self._made_by_another_program()
        self.moment, self.settled = since.remember(self.db, self.settings), marks.settled(self.settings, self.embedder.model)
        reader = Reader(self.db)
        lost = schema.lost(self.db)
        self.rechunk = self.rebuild or bool(lost) or reader.mark("rules") != self.rules
        since_then = reader.mark("moment") if self._may_look_at_changes_only(reader) else ""
        with connection.transaction(self.db):
            if self.rebuild:
                check.mend(self.db)
            self.writer = Writer(self.db)
            if lost:
                self.writer.mend_lexical()
            if self.writer.overtaken:
                since_then = ""
            self.writer.set_mark("run", "")  # until the end, so that after a kill everything is looked at
            self.writer.set_mark("moment", _UNDER_WAY)
            self.publisher.begin()
        self._update(since_then)
        self._finish(mark)
        self.report.embedded = self.embedding.embedded
        return self.report

    def publisher_for(self, settings: Settings) -> Publisher:
        """What exports this run's work."""
        return Publisher(self.db, settings, self.embedder)

    def _pack(self) -> None:
        """Vectors in blocks that are absent or behind are made from the rows, and a merge that was cut off goes on; the repository
        is not read."""
        if not packed.in_step(self.db):
            with connection.transaction(self.db):
                Writer(self.db)
        self._merge_words()

    def _made_by_another_program(self) -> bool:
        """The contract's tables alone: they answer until all is indexed, then go."""
        present = schema.table_names(self.db)
        return bool(present & schema.CONTRACT.keys()) and "fx_vec_source" not in present

    def _is_current(self, mark: str) -> bool:
        """Raises StoreError if the index belongs to another model or version."""
        try:
            finished = self.require_model()
        except NoIndexError:
            return False
        return finished and not schema.lost(self.db) and Reader(self.db).mark("run") == mark

    def require_model(self) -> bool:
        """Whether a run has finished before. Raises StoreError if it was with another model."""
        check.require(self.db)
        row = self.db.execute("SELECT model, dim FROM fx_vec_state").fetchone()
        if row and row[0] != self.embedder.model:
            raise StoreError(f"the index was built with {row[0]} ({row[1]}), configured is {self.embedder.model}; run: vecsearch rebuild")
        return row is not None

    def _may_look_at_changes_only(self, reader: Reader) -> bool:
        """Only what was whole by the same rules is as the last run left it."""
        return not self.rechunk and bool(reader.mark("run")) and reader.mark("settled") == self.settled

    def _update(self, since_then: str) -> None:
        """Compare what is there with what is indexed, in whole or as far as it may have changed."""
        listing = corpus.listing(self.db, self.settings, since_then, known.hashes_of(self.db, "media") if since_then else ())
        self.whole = listing.scope is None
        indexed = known.sources(self.db, listing.scope)
        sources, expected = listing.sources, listing.expected
        moved: list[Source] = []
        gone: list[str] = []
        if indexed:  # else nothing can be gone, and the sources need not be held
            wanted = {source.hash: source for source in sources}
            self._remove_forbidden(indexed, wanted)
            sources = [s for s in wanted.values() if self._is_new(indexed.get(s.hash), s)]
            moved = [s for s in wanted.values() if not self._is_new(was := indexed.get(s.hash), s) and _has_moved(was, s)]
            gone = [hash_ for hash_ in indexed if hash_ not in wanted]
            expected = len(sources)
        self.embedding.former = {s.hash: was.path for s in sources if (was := indexed.get(s.hash))} if indexed else {}
        done = 0
        for entries in self.embedded(batches(self._chunked(sources))):
            self._store(entries, indexed)
            done += len(entries)
            self.progress(done, max(done, expected))
        with connection.transaction(self.db):
            for source in moved:
                self.writer.relocate(indexed[source.hash].id, source.kind, source.path, source.branch, source.also)
            self.publisher.moved(moved)
            self._remove(indexed, gone)
        self._embed_the_rest()
        self.report.moved, self.report.removed = len(moved), self.report.removed + len(gone)

    def embedded(self, groups: Iterable[list[Cut]]) -> Iterable[list[Entry]]:
        """The batches with their vectors."""
        return self.embedding.stream(groups)

    def _embed_the_rest(self) -> None:
        """Chunks that are in no artifact of this repository (libraries, peers) change model with the others."""
        rows = Reader(self.db).unembedded(self.embedder.model) if self.rebuild else []
        for start in range(0, len(rows), BATCH_CHUNKS):
            some = rows[start : start + BATCH_CHUNKS]
            texts = [chunking.embedding_text(path, Chunk(0, text, title, symbol), format) for _, path, title, symbol, format, text in some]
            made = self.embedder.embed_documents(texts)
            with connection.transaction(self.db):
                self.writer.add_vectors((row[0] for row in some), made, self.embedder.model)
            self.embedding.embedded += len(some)

    def _is_new(self, was: Known | None, source: Source) -> bool:
        return self.rechunk or was is None or was.fingerprint != source.fingerprint or was.kind != source.kind

    def _remove_forbidden(self, indexed: dict[str, Known], wanted: dict[str, Source]) -> None:
        """What nobody may read any more goes first, and none of its words stays in the file."""
        lost = [(was.kind, hash_) for hash_, was in indexed.items() if hash_ not in wanted]
        shown = visible(self.db, lost)
        forbidden = [hash_ for kind, hash_ in lost if (kind, hash_) not in shown]
        if not forbidden:
            return
        with connection.transaction(self.db):
            self._remove(indexed, forbidden)
            self.writer.forget_words()
            self.publisher.finish(Reader(self.db).tips(), self._previous_checkin(), self._publish_whole())
        connection.overwrite_log(self.db)
        self.report.removed += len(forbidden)
        for hash_ in forbidden:
            del indexed[hash_]

    def _remove(self, indexed: dict[str, Known], hashes: list[str]) -> None:
        """Out of the tables and out of the files that travel, in the caller's transaction."""
        self.writer.remove(indexed[hash_].id for hash_ in hashes)
        self.publisher.withdraw((indexed[hash_].kind, hash_, indexed[hash_].mtime) for hash_ in hashes)

    def _publish_whole(self) -> bool:
        return self.whole or Reader(self.db).mark("published") != self.publisher.mark

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

    def _store(self, entries: list[Entry], indexed: dict[str, Known]) -> None:
        with connection.transaction(self.db):
            for entry in entries:
                self.writer.put(entry, self.embedder.model)
            self.publisher.put([(entry.document.source, indexed.get(entry.document.source.hash)) for entry in entries])
        self.report.artifacts += len(entries)
        self.report.chunks += sum(len(entry.chunks) for entry in entries)

    def _finish(self, mark: str) -> None:
        """Only now does the index say what it is current to, and by which model."""
        found = tips(self.db, self.settings)
        checkin = found[0].hash if found else ""
        complete = not self.report.failed and Reader(self.db).mark("moment") == _UNDER_WAY
        drift = int(Reader(self.db).mark("drift") or 0) + self.report.chunks + self.report.removed
        due = self.rebuild or survey.is_due(self.db, drift)
        floor, places = self.floor(due), survey.draw(self.db, self.embedder) if due else None
        with connection.transaction(self.db):
            self.writer.set_mark("floor", floor)
            if self.foreign:
                self.writer.remove_undescribed()
            self.writer.set_state(self.embedder.model, self.embedder.dim, checkin)
            if self.rebuild:
                self.writer.mend_lexical()
                packed.doubt(self.db)
            if self.whole:
                self.writer.drop_other_models(self.embedder.model)
            if places:
                survey.keep(self.db, places)
            self.writer.set_mark("drift", "0" if due else str(drift))
            self.writer.set_tips({tip.branch: tip.hash for tip in found})
            self.writer.set_mark("change", self.change)
            self.writer.set_mark("rules", self.rules)
            self.writer.set_mark("time", str(int(time.time())))
            self.writer.set_mark("run", mark if complete else "")
            self.writer.set_mark("moment", self.moment)
            self.writer.set_mark("settled", self.settled)
            hidden = self._forget_hidden_words()
            self.publisher.finish({tip.branch: tip.hash for tip in found}, checkin, self._publish_whole())
            self.writer.set_mark("published", self.publisher.mark)
        if hidden:
            connection.overwrite_log(self.db)
        self._merge_words()
        self.report.checkin = checkin

    def _merge_words(self) -> None:
        """In transactions of its own, so that nobody waits for all of it. What a kill, another writer or a full disk leaves undone the
        next run does."""
        try:
            while merge.is_due(self.db):
                with connection.transaction(self.db):
                    if not merge.step(self.db):
                        return
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_CORRUPT_VTAB:
                with connection.transaction(self.db):
                    Writer(self.db).mend_lexical()
            elif error.sqlite_errorcode & 0xFF not in _LATER:
                raise

    def floor(self, due: bool) -> str:
        """The mark of what questions about other worlds reach here."""
        return survey.elsewhere(self.db, self.embedder) if due else Reader(self.db).mark("floor")

    def _forget_hidden_words(self) -> bool:
        """What was replaced first and hidden later left its words in the full-text index: whenever
        anything was hidden, they go."""
        now, before = secrecy_mark(self.db), Reader(self.db).mark("secrecy")
        if hidden := bool(before) and now != before:
            self.writer.forget_words()
        self.writer.set_mark("secrecy", now)
        return hidden


def _has_moved(was: Known | None, source: Source) -> bool:
    return was is not None and (was.path, was.branch, was.also) != (source.path, source.branch, source.also)
