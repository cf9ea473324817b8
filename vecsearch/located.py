"""Chunks that another program cut, found again in the document they were cut from. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from .store.ve01 import Record
from .types import Chunk, Document

_WORD = re.compile(r"\S+")


def locate(document: Document, own: Sequence[Chunk], records: Sequence[Record]) -> list[Chunk] | None:
    """The records as chunks, with lines, and title and symbol of our own chunk where each begins.
    None if the text of any does not stand in the document: it was cut from another version."""
    text = document.text or "\n".join(passage.text for passage in document.passages)
    words = list(_WORD.finditer(text))
    spaced = " ".join(word[0] for word in words)
    starts = _offsets(words)
    chunks, at = [], 0
    for record in records:
        needle = " ".join(record.text.split())
        found = spaced.find(needle, at)
        found = spaced.find(needle) if found < 0 else found
        if found < 0:
            return None
        at = found
        first = words[bisect_right(starts, found) - 1].start() if words else 0
        chunks.append(_chunk(document, own, record, text.count("\n", 0, first) + 1))
    return chunks


def _offsets(words: Sequence[re.Match[str]]) -> list[int]:
    """Where each word begins once every gap is one blank."""
    starts, at = [], 0
    for word in words:
        starts.append(at)
        at += len(word[0]) + 1
    return starts


def _chunk(document: Document, own: Sequence[Chunk], record: Record, line: int) -> Chunk:
    holding = [c for c in own if c.lines is None or c.lines[0] <= line]
    near = holding[-1] if holding else own[0]
    if document.passages:
        near = next((c for c in own if c.text in record.text or record.text in c.text), own[0])
    lines = None if near.lines is None else (line, line + record.text.strip().count("\n"))
    return Chunk(record.seq, record.text, near.title, near.symbol, lines, near.user, near.mtime)
