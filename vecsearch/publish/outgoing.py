"""The files of some kinds, made from the tables when asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..chunk import CHUNKER_VERSION
from ..fossil.repository import project_name
from ..store import catalog, exchange, pack, ve01
from ..store.reader import Reader


class Outgoing:
    """Everything of the given kinds that has vectors of the model, and of the libraries."""

    def __init__(self, db: sqlite3.Connection, model: str, wanted: Iterable[str]):
        self.db, self.model, self.kinds = db, model, frozenset(wanted)

    def blob(self, hash_: str) -> bytes:
        """The VE01 blob of one artifact, without a record if it has no vector of the model."""
        return ve01.encode(exchange.records(self.db, hash_, self.model))

    def hashes(self) -> set[str]:
        """What has a blob of its own."""
        return exchange.hashes(self.db, self.kinds - {"checkin"}, Reader(self.db).library_templates())

    def entries(self, only: Iterable[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """(hash, what the catalog says of it) of what has a blob of its own, by hash; `only` of these hashes."""
        found = exchange.artifacts(self.db, self.kinds - {"checkin"}, Reader(self.db).library_templates(), only)
        return ((artifact.hash, catalog.describe(artifact)) for artifact in found)

    def months(self) -> set[str]:
        """The months, as 2026-11, whose check-ins are packed."""
        return exchange.checkin_months(self.db) if "checkin" in self.kinds else set()

    def pack(self, month: str) -> bytes:
        """The check-ins of a month; a pack without any if there is none."""
        return pack.encode((catalog.describe(a) | {"hash": a.hash}, self.blob(a.hash)) for a in exchange.checkins(self.db, month))

    def head(self, dim: int, tips: Mapping[str, str], checkin: str, packs: Mapping[str, str]) -> catalog.Catalog:
        """vec/index.json without its artifacts; `packs` with the hash of each one's file."""
        reader = Reader(self.db)
        floor = reader.mark("floor")
        about_files = {"checkin": checkin, "tips": tips, "settings": exchange.shaping_settings(self.db),
                       "libraries": reader.library_templates()} if "api" in self.kinds else {}
        return catalog.Catalog(model=self.model, dim=dim, chunker=CHUNKER_VERSION, project=project_name(self.db),
                               marks={"floor": floor} if floor else {}, packs=packs, **about_files)
