"""What kind of statement a hit is, how far to trust it, and which files it speaks of: seed 1's typed
fragments, from what a Fossil project really has.

REJECTION  a ticket settled as rejected, won't fix or the like; a record or heading that says so; @REJECTED
DECISION   a technote or check-in tagged as one; a decision record; a heading that says so; @RATIONALE
else the kind of content, INSTRUCTION for instructions to agents
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from .fossil import outcome
from .types import Hit

#: A similarity from which on nothing can be more certain: what a question reaches with its own answer.
FULL = 0.6
#: How much a statement is worth that is as similar as can be: what was written to be binding, what was
#: written to be read, what was said in passing.
AUTHORITY = {"DECISION": 1.0, "REJECTION": 1.0, "INSTRUCTION": 1.0, "DOC": 0.95, "WIKI": 0.95, "API": 0.95, "TECHNOTE": 0.95,
             "CODE": 0.9, "CHECKIN": 0.9, "TICKET": 0.85, "MEDIA": 0.8, "FORUM": 0.8}
#: After this many changes of the files that it speaks of, a statement is worth half.
HALF_LIFE = 50
#: Files named beside a statement.
MOST_FILES = 3

_REJECTED = re.compile(r"\b(?:rejected|won'?t[ _-]?fix|not[ _-]a[ _-]bug|works[ _-]as[ _-]designed|unable[ _-]to[ _-]reproduce|declined|abandoned)\b", re.I)
_RECORD = re.compile(r"(?:^|/)(?:adrs?|decisions?|rfcs?|architecture-decisions?)(?:/|[-_.][^/]*$|$)", re.I)
_DECIDED = re.compile(r"\b(?:decisions?|decided|rationale|why we)\b", re.I)
_STATUS = re.compile(r"^[#>*\s]*status[*\s]*(?::|\n)[*\s]*(\w[\w' -]*)", re.I | re.M)
_TAG = re.compile(r"@(REJECTED|RATIONALE)\b")
_DECISION_TAGS = frozenset({"decision", "decisions", "adr", "accepted"})
_REJECTION_TAGS = frozenset({"rejected", "rejection", "wontfix", "declined"})
_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}(?![\w/])")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A hit as a statement; `confidence` in percent."""

    type: str
    confidence: int
    files: tuple[str, ...]
    hit: Hit


def judge(db: sqlite3.Connection, hits: Sequence[Hit]) -> list[Fragment]:
    """The hits as fragments, in their order."""
    own = [hit for hit in hits if not hit.project]
    settled = outcome.settlements(db, [hit.hash for hit in own if hit.kind == "ticket"])
    tags = outcome.tags(db, [hit.hash for hit in own if hit.kind in ("technote", "checkin")])
    named = [_named_files(hit) for hit in hits]
    there = outcome.known_files(db, {name for names in named for name in names})
    return [_fragment(db, hit, settled.get(hit.hash, ""), tags.get(hit.hash, set()), [name for name in names if name in there])
            for hit, names in zip(hits, named, strict=True)]


def _fragment(db: sqlite3.Connection, hit: Hit, settled: str, tags: set[str], named: list[str]) -> Fragment:
    others = [name for name in named if name != hit.path]
    changes = outcome.changes_since(db, others, hit.mtime) if others and not hit.project else 0
    type_ = statement(hit, settled, tags)
    strength = 0.5 + 0.5 * min(1.0, hit.score / FULL)
    confidence = strength * AUTHORITY[type_] * HALF_LIFE / (HALF_LIFE + changes)
    own = (hit.path,) if hit.path and hit.kind in ("code", "doc", "instruction") else ()
    return Fragment(type_, round(100 * confidence), tuple(named[:MOST_FILES]) or own, hit)


def statement(hit: Hit, settled: str, tags: set[str]) -> str:
    """The type of a hit, given how its ticket was settled and the tags of its artifact."""
    heading = hit.title if hit.kind in ("doc", "wiki", "technote") else ""
    mark = _TAG.search(hit.text)
    status = _STATUS.search(hit.text) if heading else None
    if (_REJECTED.search(settled) or tags & _REJECTION_TAGS or _REJECTED.search(heading)
            or (status and _REJECTED.match(status[1])) or (mark and mark[1] == "REJECTED")):
        return "REJECTION"
    if hit.kind == "instruction":
        return "INSTRUCTION"
    if tags & _DECISION_TAGS or mark or _DECIDED.search(heading) or (hit.kind in ("doc", "wiki") and _RECORD.search(hit.path or "")):
        return "DECISION"
    return hit.kind.upper()


def _named_files(hit: Hit) -> list[str]:
    """What looks like the name of a file, in the order of the text."""
    return list(dict.fromkeys(_PATH.findall(hit.text[:8000])))[:50]
