"""The three tools: what a model is told about them, and what they answer, as text and as data.

An answer is never larger than its budget, and says what it left out. Whoever calls gives the kinds that
may be read; a passage of another kind, or one that may no longer be shown, does not exist.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import embed
from ..errors import NoIndexError, UsageError, VecsearchError
from ..fossil import corpus
from ..present import result_json
from ..search.address import Addresses
from ..search.query import DEFAULT_K, MAX_K, Query, known_kind, parse
from ..search.result import Result
from ..search.run import search
from ..search.similar import similar
from ..store import passage
from ..store.connection import explain
from ..store.reader import Reader, StoredChunk
from ..types import KINDS, Hit, Source

#: Bytes of UTF-8 that make a token: English text and code have three to five, and too small a number only
#: leaves out a hit that would have fitted.
BYTES_PER_TOKEN = 4
DEFAULT_TOKENS = 8000
MAX_TOKENS = 50_000
#: Lines of an artifact that are read at once.
MAX_LINES = 2000
#: A shorter beginning of a hash is more likely a slip than a name.
SHORTEST_HASH = 8

INSTRUCTIONS = (
    "Searches a project's Fossil repository by meaning and by word: documentation, code, wiki, technotes, tickets, forum, "
    "check-ins and instructions for agents. Search before you answer from memory or read files one by one; then read_hit "
    "what looks right. Cite hits by path and lines. An answer without hits means that nothing relevant is there, "
    "unless its state says otherwise."
)

_TOKENS = {"type": "integer", "minimum": 200, "maximum": MAX_TOKENS, "default": DEFAULT_TOKENS,
           "description": "Most tokens the answer may have. What does not fit is left out and counted."}
_KIND = {"type": "string", "enum": sorted(KINDS), "description": "Only this kind: doc and wiki explain, code implements, instruction "
         "tells agents what to do, ticket and forum have problems and answers, checkin says why something changed."}
_K = {"type": "integer", "minimum": 1, "maximum": MAX_K, "default": DEFAULT_K, "description": "At most so many hits."}
_HASH = {"type": "string", "description": "The hit's hash, or its first 8 or more digits."}
_SEQ = {"type": "integer", "minimum": 0, "description": "The hit's seq."}


def _tool(name: str, title: str, description: str, required: Sequence[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {"name": name, "title": title, "description": description, "inputSchema": schema,
            "annotations": {"readOnlyHint": True, "openWorldHint": False}}


TOOLS: list[dict[str, Any]] = [
    _tool("semantic_search", "Search the repository",
          "Find passages of this project's repository that answer a question. Use it to learn how something works, where it is "
          "implemented, why it was decided, or whether a problem is known. Phrase `query` as a short question or as the few words "
          "that the answer would contain; keep identifiers exactly as written (`write_atomically`, `INV-2024-001`), put exact phrases "
          "in double quotes, exclude with -word, narrow with path:GLOB, user:NAME, after:2026-01-01. One subject per query; if the "
          "hits miss, try other words. No hits means that nothing relevant is there.",
          ["query"], query={"type": "string", "description": "What to look for."}, kind=_KIND,
          project={"type": "string", "description": "Only this project: empty for the repository itself, else a peer's or library's name."},
          k=_K, max_tokens=_TOKENS),
    _tool("read_hit", "Read a hit with its surroundings",
          "Read a passage that semantic_search found, with the passages before and after it; or any lines of its file or page. Use it "
          "before you rely on a hit or change what it describes.",
          ["hash", "seq"], hash=_HASH, seq=_SEQ,
          neighbours={"type": "integer", "minimum": 0, "maximum": 20, "default": 1, "description": "So many passages before and after."},
          first_line={"type": "integer", "minimum": 1, "description": "Read lines of the artifact instead, from this one."},
          last_line={"type": "integer", "minimum": 1, "description": "The last line to read."}, max_tokens=_TOKENS),
    _tool("similar", "Find similar passages",
          "Find passages elsewhere in the repository that are about the same as a hit: other places that do the same, the ticket behind "
          "a change, the page that explains a function.",
          ["hash", "seq"], hash=_HASH, seq=_SEQ, kind=_KIND, k=_K, max_tokens=_TOKENS),
]

_TYPES: dict[str, type] = {"string": str, "integer": int}


class MalformedError(Exception):
    """The call is not one: no such tool, or arguments that its schema does not have."""


@dataclass(frozen=True)
class Caller:
    """On whose behalf a tool runs: the open repository, the kinds that may be read, the site's prefix of links."""

    db: sqlite3.Connection
    kinds: frozenset[str]
    base_url: str = ""


def call(caller: Caller, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a tool as the protocol has it; a foreseen fault is an answer too. Raises MalformedError."""
    schema = next((tool["inputSchema"] for tool in TOOLS if tool["name"] == name), None)
    if schema is None:
        raise MalformedError(f"Unknown tool: {name[:80]}")
    options = _checked(schema, arguments)
    try:
        text, data = _RUN[name](caller, options)
    except NoIndexError as error:
        text, data = str(error), {"state": "no_index", "message": str(error), "hits": []}
    except sqlite3.Error as error:
        return _fault(str(explain("the repository", error)))
    except VecsearchError as error:
        return _fault(str(error))
    return {"content": [{"type": "text", "text": text}], "structuredContent": data, "isError": False}


def _fault(message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": message}], "isError": True}


def _checked(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with defaults, ranges kept. Raises MalformedError on what the schema does not have."""
    known = schema["properties"]
    for name, value in arguments.items():
        if name not in known:
            raise MalformedError(f"Invalid arguments: there is no {name[:80]}; known are {', '.join(known)}")
        wanted = known[name]["type"]
        if not isinstance(value, _TYPES[wanted]) or isinstance(value, bool):
            raise MalformedError(f"Invalid arguments: {name} must be of type {wanted}")
    missing = [name for name in schema["required"] if name not in arguments]
    if missing:
        raise MalformedError(f"Invalid arguments: {', '.join(missing)} is missing")
    defaults = {name: facts["default"] for name, facts in known.items() if "default" in facts}
    return {**defaults, **{name: _bounded(value, known[name]) for name, value in arguments.items()}}


def _bounded(value: Any, facts: Mapping[str, Any]) -> Any:
    """A number outside of its range is meant as the end of the range."""
    if facts["type"] != "integer":
        return value
    return max(facts["minimum"], min(value, facts.get("maximum", value)))


def _search(caller: Caller, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    filters: dict[str, Any] = {"k": options["k"]}
    if "kind" in options:
        filters["kinds"] = frozenset({known_kind(options["kind"])})
    if "project" in options:
        filters["project"] = options["project"]
    if not caller.kinds:
        return _found(Result(parse(options["query"]), message="nothing here is open to this visitor; a login would be needed"), 0)
    settings = Reader(caller.db).settings()
    result = search(caller.db, lambda: embed.get(settings), parse(options["query"], **filters), caller.kinds, caller.base_url)
    return _found(result, options["max_tokens"])


def _similar(caller: Caller, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    kinds = frozenset({known_kind(options["kind"])}) if "kind" in options else frozenset()
    chunk = _passage(caller, options)
    result = similar(caller.db, (chunk.hash, chunk.seq), Query(kinds=kinds, k=options["k"]), caller.kinds, caller.base_url)
    return _found(result, options["max_tokens"])


def _found(result: Result, budget: int) -> tuple[str, dict[str, Any]]:
    """As many whole hits as the budget holds, and what was left out in words."""
    texts = [_hit_text(hit) for hit in result.hits]
    shown = _fitting(texts, budget - 100)
    left_out = len(result.hits) - shown
    data = result_json(result, result.next)
    data["hits"], data["left_out"] = data["hits"][:shown], left_out
    head = f"{shown} of {result.total} hits" if result.hits else _nothing(result)
    if result.message:
        head += f"\nstate {result.state}: {result.message}"
    tail = [f"({left_out} more did not fit into max_tokens; ask for fewer with k, or raise it)"] if left_out else []
    return "\n\n".join([head, *texts[:shown], *tail]), data


def _nothing(result: Result) -> str:
    return "no index" if result.state == "no_index" else "nothing relevant found"


def _fitting(texts: Sequence[str], budget: int) -> int:
    """How many of the texts fit, in their order."""
    used = 0
    for count, text in enumerate(texts):
        used += tokens(text)
        if used > budget:
            return count
    return len(texts)


def tokens(text: str) -> int:
    """About so many tokens a model makes of a text."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def _hit_text(hit: Hit) -> str:
    return f"[{hit.rank}] {_place(hit.kind, hit.project, hit.path, hit.lines)}  {hit.title}\n" \
           f"hash {hit.hash[:16]} seq {hit.seq}  similarity {hit.score:.2f}\n{hit.text}"


def _place(kind: str, project: str, path: str | None, lines: tuple[int, int] | None) -> str:
    where = " ".join(filter(None, (kind, f"{project}:" if project else "", path)))
    return f"{where}:{lines[0]}-{lines[1]}" if lines else where


def _passage(caller: Caller, options: Mapping[str, Any]) -> StoredChunk:
    """The passage that is meant. Raises UsageError if there is none that may be seen; why is nobody's business."""
    reader, start = Reader(caller.db), options["hash"].lower()
    reader.state()
    if len(start) < SHORTEST_HASH or not start.isalnum():
        raise UsageError(f"give at least {SHORTEST_HASH} digits of the hash")
    found = [chunk for chunk in passage.starting(reader, start, options["seq"]) if chunk.kind in caller.kinds]
    shown = corpus.visible(caller.db, [(c.kind, c.hash) for c in found if not c.project])
    found = [chunk for chunk in found if chunk.project or (chunk.kind, chunk.hash) in shown]
    if len({chunk.hash for chunk in found}) > 1:
        raise UsageError("several artifacts begin with these digits: give more of the hash")
    if not found:
        raise UsageError("there is no such passage; it may have changed since: search again")
    return found[0]


def _read(caller: Caller, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    chunk, reader = _passage(caller, options), Reader(caller.db)
    addresses = Addresses(reader, caller.base_url)
    ci = addresses.checkin(chunk, reader.tips(), reader.state().checkin)
    about = {"hash": chunk.hash, "seq": chunk.seq, "kind": chunk.kind, "project": chunk.project, "path": chunk.path,
             "title": chunk.title, "ci": ci, "user": chunk.user, "mtime": chunk.mtime}
    if "first_line" in options or "last_line" in options:
        return _lines(caller, chunk, about, options)
    return _neighbourhood(reader, chunk, about, options)


def _neighbourhood(reader: Reader, chunk: StoredChunk, about: dict[str, Any], options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The passage and those around it; the farther ones go first where all do not fit."""
    near = options["neighbours"]
    around = {c.seq: c for c in passage.between(reader, chunk, chunk.seq - near, chunk.seq + near)}
    nearest = sorted(around.values(), key=lambda c: (abs(c.seq - chunk.seq), c.seq))
    kept = sorted(c.seq for c in nearest[: max(1, _fitting([c.text for c in nearest], options["max_tokens"] - 100))])
    parts = [{"seq": n, "lines": list(around[n].lines) if around[n].lines else None, "text": around[n].text} for n in kept]
    left_out = len(around) - len(kept)
    head = _place(chunk.kind, chunk.project, chunk.path, None) + f"  {chunk.title}"
    texts = [f"-- seq {n}{_span(around[n].lines)}\n{around[n].text}" for n in kept]
    tail = [f"({left_out} more passages did not fit into max_tokens)"] if left_out else []
    return "\n".join([head, *texts, *tail]), about | {"chunks": parts, "left_out": left_out}


def _span(lines: tuple[int, int] | None) -> str:
    return f", lines {lines[0]}-{lines[1]}" if lines else ""


def _lines(caller: Caller, chunk: StoredChunk, about: dict[str, Any], options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Lines of the artifact as it was indexed. Raises UsageError where it has no lines."""
    if chunk.lines is None or chunk.project:
        raise UsageError("this passage is not from a text with lines; read it without first_line and last_line")
    first = options.get("first_line", 1)
    last = min(options.get("last_line", first + MAX_LINES - 1), first + MAX_LINES - 1)
    everything = _document_lines(caller.db, chunk)
    wanted = everything[first - 1 : last]
    shown = _fitting([f"{line}\n" for line in wanted], options["max_tokens"] - 100)
    until = first + shown - 1
    left_out = max(0, min(options.get("last_line", len(everything)), len(everything)) - until)
    text = "\n".join(wanted[:shown])
    tail = f"\n({left_out} more lines did not fit into max_tokens)" if left_out else ""
    head = f"{_place(chunk.kind, '', chunk.path, (first, until))} of {len(everything)} lines"
    data = about | {"lines": [first, until], "text": text, "total_lines": len(everything), "left_out": left_out}
    return f"{head}\n{text}{tail}", data


def _document_lines(db: sqlite3.Connection, chunk: StoredChunk) -> list[str]:
    row = db.execute("SELECT rid FROM blob WHERE uuid=?", (chunk.hash,)).fetchone()
    source = Source(chunk.kind, chunk.hash, chunk.path, "", row[0] if row else 0, chunk.branch, chunk.user, chunk.mtime)
    return corpus.document(db, Reader(db).settings(), source).text.removesuffix("\n").split("\n")


_RUN: dict[str, Callable[[Caller, Mapping[str, Any]], tuple[str, dict[str, Any]]]] = {
    "semantic_search": _search, "read_hit": _read, "similar": _similar}
