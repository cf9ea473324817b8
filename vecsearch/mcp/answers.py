"""What the tools answer, as text and as data.

Neither is larger than the budget, and both say what was left out. Whoever calls gives the kinds that may
be read; a passage of another kind, or one that may no longer be shown, does not exist.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import embed
from ..errors import UsageError
from ..fossil import corpus
from ..fossil.visible import visible
from ..present import result_json
from ..search.address import Addresses
from ..search.query import Query, known_kind, parse
from ..search.result import Result
from ..search.run import search
from ..search.similar import similar
from ..store import passage
from ..store.reader import Reader, StoredChunk
from ..types import Hit, Source

#: Bytes of UTF-8 that make a token: English text and code have three to five, and too small a number only
#: leaves out a hit that would have fitted.
BYTES_PER_TOKEN = 4
#: Kept free for the sentence that says what was left out.
RESERVE = 40
#: Lines of an artifact that are read at once.
MAX_LINES = 2000
#: A shorter beginning of a hash is more likely a slip than a name.
SHORTEST_HASH = 8
#: A place in an artifact is two bytes wide (docs/index-format.md).
LAST_SEQ = 0xFFFF

Answer = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Caller:
    """On whose behalf a tool runs: the open repository, the kinds that may be read, the site's prefix of links."""

    db: sqlite3.Connection
    kinds: frozenset[str]
    base_url: str = ""


def search_for(caller: Caller, options: Mapping[str, Any]) -> Answer:
    """semantic_search. Raises UsageError for a kind or a project that does not exist."""
    filters: dict[str, Any] = {"k": options["k"]}
    if "kind" in options:
        filters["kinds"] = frozenset({known_kind(options["kind"])})
    if "project" in options:
        filters["project"] = options["project"]
    if not caller.kinds:
        return _found(caller, Result(parse(options["query"]), message="nothing here is open to this visitor; a login would be needed"), 0)
    reader = Reader(caller.db)
    settings = reader.settings()
    result = search(caller.db, lambda: embed.get(settings), parse(options["query"], **filters), caller.kinds, caller.base_url)
    if "project" in options and not result.hits and result.state != "no_index":
        _known_project(reader, options["project"], caller.kinds)
    return _found(caller, result, options["max_tokens"])


def _known_project(reader: Reader, project: str, kinds: frozenset[str]) -> None:
    """A model tends to give the repository's own name. Raises UsageError that lists the projects."""
    known = reader.projects(kinds)
    if project not in known:
        others = ", ".join(f'"{name}"' for name in known if name)
        raise UsageError(f'there is no project "{project[:40]}"; leave project out, or take "" for the repository itself'
                         + (f" or one of: {others}" if others else ""))


def alike(caller: Caller, options: Mapping[str, Any]) -> Answer:
    """similar. Raises UsageError for a kind or a passage that does not exist."""
    kinds = frozenset({known_kind(options["kind"])}) if "kind" in options else frozenset()
    chunk = _passage(caller, options)
    result = similar(caller.db, (chunk.hash, chunk.seq), Query(kinds=kinds, k=options["k"]), caller.kinds, caller.base_url)
    return _found(caller, result, options["max_tokens"])


def _found(caller: Caller, result: Result, budget: int) -> Answer:
    """As many whole hits as the budget holds, and what was left out in words."""
    data = result_json(result, result.next)
    if "checkin" not in caller.kinds:  # no check-in is named to who may not read any
        data["checkin"] = ""
        data["hits"] = [hit | {"ci": ""} for hit in data["hits"]]
    hits, texts = data["hits"], [_hit_text(hit) for hit in result.hits]
    message = f"\nstate {result.state}: {result.message}" if result.message else ""
    free = budget - RESERVE - max(tokens(message), _size(data | {"hits": []}))
    costs = [max(tokens(text), _size(hit)) for text, hit in zip(texts, hits, strict=True)]
    shown = _fitting(costs, free)
    data["hits"], data["left_out"] = hits[:shown], len(hits) - shown
    head = f"{shown} of {result.total} hits" if hits else _nothing(result)
    tail = [_too_much(data["left_out"], "more", costs[shown])] if data["left_out"] else []
    return "\n\n".join([head + message, *texts[:shown], *tail]), data


def _nothing(result: Result) -> str:
    return "no index" if result.state == "no_index" else "nothing relevant found"


def _too_much(count: int, what: str, cost: int) -> str:
    return f"({count} {what} did not fit into max_tokens; the next needs about {cost})"


def _fitting(costs: Sequence[int], budget: int) -> int:
    """How many fit, in their order."""
    used = 0
    for count, cost in enumerate(costs):
        used += cost
        if used > budget:
            return count
    return len(costs)


def tokens(text: str) -> int:
    """About so many tokens a model makes of a text."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def _size(data: Any) -> int:
    """The same of data: some clients show a model only these."""
    return tokens(json.dumps(data, ensure_ascii=False))


def _hit_text(hit: Hit) -> str:
    """For a model. A similarity of 0 is none: the semantic arm has not answered."""
    similarity = f"  similarity {hit.score:.2f}" if hit.score else ""
    return f"[{hit.rank}] {_place(hit.kind, hit.project, hit.path, hit.lines)}  {hit.title}\n" \
           f"hash {hit.hash[:16]} seq {hit.seq}{similarity}\n{hit.text}"


def _place(kind: str, project: str, path: str | None, lines: tuple[int, int] | None) -> str:
    where = " ".join(filter(None, (kind, f"{project}:" if project else "", path)))
    return f"{where}:{lines[0]}-{lines[1]}" if lines else where


def _passage(caller: Caller, options: Mapping[str, Any]) -> StoredChunk:
    """The passage that is meant. Raises UsageError if there is none that may be seen; why is nobody's business."""
    reader, start, seq = Reader(caller.db), options["hash"].lower(), options["seq"]
    reader.state()
    if len(start) < SHORTEST_HASH or not start.isalnum():
        raise UsageError(f"give at least {SHORTEST_HASH} digits of the hash")
    there = passage.starting(reader, start, seq) if 0 <= seq <= LAST_SEQ else []
    found = [chunk for chunk in there if chunk.kind in caller.kinds]
    shown = visible(caller.db, [(c.kind, c.hash) for c in found if not c.project])
    found = [chunk for chunk in found if chunk.project or (chunk.kind, chunk.hash) in shown]
    if len({chunk.hash for chunk in found}) > 1:
        raise UsageError("several artifacts begin with these digits: give more of the hash")
    if not found:
        raise UsageError("there is no such passage; it may have changed since: search again")
    return found[0]


def read(caller: Caller, options: Mapping[str, Any]) -> Answer:
    """read_hit. Raises UsageError for a passage or lines that do not exist."""
    chunk, reader = _passage(caller, options), Reader(caller.db)
    addresses = Addresses(reader, caller.base_url)
    ci = addresses.checkin(chunk, reader.tips(), reader.state().checkin) if "checkin" in caller.kinds else ""
    about = {"hash": chunk.hash, "seq": chunk.seq, "kind": chunk.kind, "project": chunk.project, "path": chunk.path,
             "title": chunk.title, "ci": ci, "user": chunk.user, "mtime": chunk.mtime}
    if "first_line" in options or "last_line" in options:
        return _lines(caller, chunk, about, options)
    return _neighbourhood(reader, chunk, about, options)


def _neighbourhood(reader: Reader, chunk: StoredChunk, about: dict[str, Any], options: Mapping[str, Any]) -> Answer:
    """The passage and those around it; the farther ones go first where all do not fit."""
    near = options["neighbours"]
    around = passage.between(reader, chunk, chunk.seq - near, chunk.seq + near)
    nearest = sorted(around, key=lambda c: (abs(c.seq - chunk.seq), c.seq))
    parts = [{"seq": c.seq, "lines": list(c.lines) if c.lines else None, "text": c.text} for c in nearest]
    costs = [_size(part) for part in parts]
    shown = _fitting(costs, options["max_tokens"] - RESERVE - _size(about))
    parts, left_out = sorted(parts[:shown], key=lambda part: part["seq"]), len(parts) - shown
    head = _place(chunk.kind, chunk.project, chunk.path, None) + f"  {chunk.title}"
    texts = [f"-- seq {part['seq']}{_span(part['lines'])}\n{part['text']}" for part in parts]
    tail = [_too_much(left_out, "more passages" if shown else "passages", costs[shown])] if left_out else []
    return "\n".join([head, *texts, *tail]), about | {"chunks": parts, "left_out": left_out}


def _span(lines: Sequence[int] | None) -> str:
    return f", lines {lines[0]}-{lines[1]}" if lines else ""


def _lines(caller: Caller, chunk: StoredChunk, about: dict[str, Any], options: Mapping[str, Any]) -> Answer:
    """Lines of the artifact as it was indexed. Raises UsageError where it has no such lines."""
    if chunk.lines is None or chunk.project:
        raise UsageError("this passage is not from a text with lines; read it without first_line and last_line")
    everything = _document_lines(caller.db, chunk)
    first = options.get("first_line", 1)
    wanted = min(options.get("last_line", len(everything)), len(everything))
    if not 1 <= first <= wanted:
        raise UsageError(f"there are no lines {first} to {options.get('last_line', 'the end')} here: the text has {len(everything)}")
    lines = everything[first - 1 : min(wanted, first + MAX_LINES - 1)]
    costs = [_size(f"{line}\n") for line in lines]
    shown = _fitting(costs, options["max_tokens"] - RESERVE - _size(about))
    left_out, span = wanted - first + 1 - shown, [first, first + shown - 1] if shown else None
    text = "\n".join(lines[:shown])
    tail = f"\n({left_out} more lines did not fit; go on with first_line {first + shown})" if left_out else ""
    if not shown:
        tail = "\n" + _too_much(left_out, "lines", costs[0])
    head = f"{_place(chunk.kind, '', chunk.path, tuple(span) if span else None)} of {len(everything)} lines"
    return f"{head}\n{text}{tail}", about | {"lines": span, "text": text, "total_lines": len(everything), "left_out": left_out}


def _document_lines(db: sqlite3.Connection, chunk: StoredChunk) -> list[str]:
    row = db.execute("SELECT rid FROM blob WHERE uuid=?", (chunk.hash,)).fetchone()
    source = Source(chunk.kind, chunk.hash, chunk.path, "", row[0] if row else 0, chunk.branch, chunk.user, chunk.mtime)
    return corpus.document(db, Reader(db).settings(), source).text.removesuffix("\n").split("\n")
