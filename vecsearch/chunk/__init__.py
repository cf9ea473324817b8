"""From a document to its chunks. Pure: no file, no database, no network.

Markup is cut at its headings (sections.py, one outline per markup), code at its definitions
(code.py, one row per language in languages.py), both also at contracts (contracts.py), passages
arrive already cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..plain import plain
from ..types import Chunk, Document, Passage
from . import contracts, markdown, marked, paragraphs, sections, tags
from .code import code_pieces, symbols
from .rows import Limits, Piece, Rows, rows_of, pack

__all__ = ["CHUNKER_VERSION", "cut_short", "embedding_text", "split", "symbols"]

#: Raised whenever the same text would be cut otherwise: older indexes are then stale.
CHUNKER_VERSION = 3

#: `seq` is two bytes wide in the transfer format.
MOST_CHUNKS = 1 << 16

_OUTLINES = {
    "markdown": markdown.outline,
    "wiki": tags.outline,
    "html": tags.outline,
    "rst": marked.rst_outline,
    "asciidoc": marked.asciidoc_outline,
    "man": marked.man_outline,
    "plain": paragraphs.outline,
}


def split(document: Document, settings: Mapping[str, Any]) -> list[Chunk]:
    """The chunks of a document, in order. Together they hold every line that is not blank, unless
    it is long and data, or minified: then the `max-data-chunks` that tell the most (see cut_short)."""
    limits = Limits.of(settings["chunk-chars"])
    if document.format == "passages":
        return _passage_chunks(document, limits)
    rows = rows_of(document.text, limits)
    if document.format in _OUTLINES:
        pieces = _prose_pieces(document, rows, limits)
    else:
        pieces = code_pieces(document.format, rows, limits, settings["max-data-chunks"])
    return _chunks(rows, contracts.pieces(rows, document.format, pieces, limits))


def cut_short(document: Document, chunks: list[Chunk]) -> str:
    """What is missing of a document whose number of chunks is capped, in words; else ""."""
    if document.skipped or document.format == "passages":
        return ""
    whole, kept = _solid(document.text), sum(_solid(chunk.text) for chunk in chunks)
    return "" if kept == whole else f"{100 * kept // whole}% indexed"


def _solid(text: str) -> int:
    """The number of characters that are not blank: cutting loses none of these."""
    return len("".join(text.split()))


def embedding_text(source_path: str | None, chunk: Chunk, format: str) -> str:
    """What is embedded: where the chunk stands (path, headings, symbol), then its words."""
    context = "\n".join(part for part in (source_path, chunk.title, chunk.symbol) if part)
    words = plain(format, chunk.text).strip() or chunk.text
    return f"{context}\n{words}" if context else words


def _prose_pieces(document: Document, rows: Rows, limits: Limits) -> Iterator[Piece]:
    outline = _OUTLINES[document.format](rows)
    return sections.pieces(rows, outline, _title(document, outline), limits)


def _title(document: Document, outline: sections.Outline) -> str:
    """The document's own title; a file that has none is named by the heading it begins with."""
    given = document.title if document.title != document.source.path else ""
    opening = outline.headings[0].title if outline.headings and outline.headings[0].start == 0 else ""
    return outline.title or given or opening


def _chunks(rows: Rows, pieces: Iterator[Piece]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for piece in pieces:
        first, end = rows.trim(piece.start, piece.end)
        if first < end and len(chunks) < MOST_CHUNKS:
            text = rows.source[rows.start[first] : rows.start[end - 1] + len(rows.text[end - 1])]
            lines = (rows.line[first], rows.line[end - 1])
            chunks.append(Chunk(len(chunks), text, piece.title, piece.symbol, lines))
    return chunks


def _passage_chunks(document: Document, limits: Limits) -> list[Chunk]:
    chunks: list[Chunk] = []
    for passage in document.passages:
        for text in _passage_texts(passage, limits):
            if len(chunks) < MOST_CHUNKS:
                title = passage.title or document.title
                chunks.append(Chunk(len(chunks), text, title, "", None, passage.user, passage.mtime))
    return chunks


def _passage_texts(passage: Passage, limits: Limits) -> Iterator[str]:
    rows = rows_of(passage.text, limits)
    outline = markdown.outline(rows)
    cost = sections.cut_costs(rows, outline)
    for first, end in pack(rows, cost, *rows.trim(0, len(rows)), limits):
        if first < end:
            yield rows.source[rows.start[first] : rows.start[end - 1] + len(rows.text[end - 1])]
