"""What the parts of vecsearch hand to each other. No behaviour lives here.

A `Source` says that an artifact belongs into the index, a `Document` is its text, a `Chunk`
is a piece of that text, a `Hit` is a chunk that answers a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

#: Every kind of content, in the order in which one artifact that could be several is claimed.
KINDS = ("instruction", "media", "doc", "code", "wiki", "technote", "ticket", "forum", "checkin", "api")


@dataclass(frozen=True, slots=True)
class Source:
    """An artifact that belongs into the index as the repository stands now; not yet its text.

    `hash`, `path`: see the table in docs/index-format.md. `fingerprint` changes whenever the
    text or its author, time or title would, but not when only the path does: a rename costs no
    embedding. `rid` is the row of `blob` that holds the text (0: there is none, as for tickets).
    `branch` is the branch at whose tip a file was found. `mtime` is Unix time. `also` are the other paths
    under which the same content stands.
    """

    kind: str
    hash: str
    path: str | None
    fingerprint: str
    rid: int = 0
    branch: str = ""
    user: str = ""
    mtime: int = 0
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that arrives already sized: a ticket comment, a forum post."""

    text: str
    title: str = ""
    user: str = ""
    mtime: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """The readable text of a source.

    `text` has Unix line ends and no NUL. `format` is a markup (`markdown`, `wiki`, `html`, `rst`,
    `asciidoc`, `man`, `plain`), a programming language (`python`, `c`, ...) or `passages`, in
    which case `passages` holds the text. `skipped` is the reason why there is no text to index
    (`binary`, `empty`, ...); such a document can still be found by its path, unless it has no `format`:
    a file that is of no kind is only listed. `notes` are facts
    worth counting, such as `decoded as cp1252`.
    """

    source: Source
    title: str
    format: str
    text: str = ""
    passages: tuple[Passage, ...] = ()
    skipped: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A contiguous piece of one document's text, verbatim.

    `seq` counts from 0 within the artifact. `title` is the heading trail joined by " > ", or the
    title of page, ticket or thread. `symbol` is the definition's qualified name (code only).
    `lines` are 1-based and inclusive, None where the text has no lines in a file.
    """

    seq: int
    text: str
    title: str = ""
    symbol: str = ""
    lines: tuple[int, int] | None = None
    user: str = ""
    mtime: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result; the first six fields are frozen by the contract."""

    score: float
    kind: str
    project: str
    path: str | None
    hash: str
    text: str
    rank: int = 0
    title: str = ""
    url: str = ""
    lines: tuple[int, int] | None = None
    snippet: str = ""
    arms: dict[str, int] = field(default_factory=dict)
    user: str = ""
    mtime: int = 0
    seq: int = 0
    ci: str = ""
    folded: int = 0
    explain: dict[str, float] = field(default_factory=dict)


class Embedder(Protocol):
    """Turns texts into unit vectors; see vecsearch/embed/."""

    model: str
    dim: int

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [len(texts), dim], each row of unit length."""

    def embed_query(self, text: str) -> np.ndarray:
        """float32 [dim] of unit length."""
