"""What the readers of all markups hand to sections.py."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in rows start..end-1; level 1 is the highest."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that belong together: a fence, a table. `header` is a table's first row, in words."""

    start: int
    end: int
    header: str = ""


@dataclass(slots=True)
class Outline:
    """The headings and blocks of one document, in order, and the title that it gives itself."""

    title: str = ""
    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
