"""What the reader makes of a repository: fixtures for the tests of each kind of content."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from forge import Forge

from vecsearch.config import default_settings
from vecsearch.fossil import artifact, corpus
from vecsearch.fossil.repository import open_readonly
from vecsearch.types import Document, Source

SETTINGS = default_settings()


class Seen:
    """What the reader makes of a repository now."""

    def __init__(self, forge: Forge, **settings):
        artifact.forget()
        self.db = open_readonly(forge.path)
        self.settings = SETTINGS | settings
        self.sources: list[Source] = list(corpus.all_sources(self.db, self.settings))

    def of(self, kind: str) -> list[Source]:
        return [source for source in self.sources if source.kind == kind]

    def file(self, path: str) -> Document:
        [source] = [source for source in self.sources if source.path == path]
        return self.document(source)

    def document(self, source: Source) -> Document:
        return corpus.document(self.db, self.settings, source)

    def texts(self, kind: str) -> list[list[str]]:
        """The passages of each source of a kind."""
        return [[passage.text for passage in self.document(source).passages] for source in self.of(kind)]

    def close(self) -> None:
        self.db.close()


@pytest.fixture
def look() -> Iterator[Callable[..., Seen]]:
    """Look at a repository as it stands: look(forge, **settings); closed at the end of the test."""
    opened: list[Seen] = []

    def open_(forge: Forge, **settings) -> Seen:
        opened.append(Seen(forge, **settings))
        return opened[-1]

    yield open_
    for seen in opened:
        seen.close()


@pytest.fixture
def forge(tmp_path) -> Forge:
    return Forge(tmp_path)
