"""Chunks as a page shows them: beside the text as it is stored what can be read of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..plain import plain
from ..store.reader import Reader, StoredChunk
from .memory import Memory, Shown
from .snippet import one_line


@dataclass(frozen=True, slots=True)
class Passage:
    """`readable`: the text without markup; `line`: the same on one line, as far as a snippet looks."""

    chunk: StoredChunk
    readable: str
    line: str

    @classmethod
    def of(cls, chunk: StoredChunk) -> Passage:
        readable = plain(chunk.format, chunk.text)
        return cls(chunk, readable, one_line(chunk.format, readable, chunk.title))


def read(reader: Reader, memory: Memory, ids: Sequence[int]) -> dict[int, Passage]:
    """id -> passage, of those that there are. What was shown before of the same state of the file is not read again, and what reads
    the same in another state is not made readable again. Whether it may be shown is another question, asked each time."""
    before = {i: known for i in ids if (known := memory.passages.get(i))}
    found = {i: known.passage for i, known in before.items() if memory.stamp and known.stamp == memory.stamp}
    for i, chunk in reader.chunks([i for i in ids if i not in found]).items():
        found[i] = before[i].passage if i in before and before[i].passage.chunk == chunk else Passage.of(chunk)
        memory.passages.put(i, Shown(memory.stamp, found[i]), 3 * len(chunk.text))
    return found
