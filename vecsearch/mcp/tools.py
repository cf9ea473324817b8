"""The three tools: what a model is told about them, and how a call is checked. What they answer: answers.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import NoIndexError, VecsearchError
from ..search.query import DEFAULT_K, MAX_K
from ..store.connection import explain
from ..types import KINDS
from . import answers
from .answers import Caller

DEFAULT_TOKENS = 8000
MAX_TOKENS = 50_000

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
_SEQ = {"type": "integer", "minimum": 0, "maximum": answers.LAST_SEQ, "description": "The hit's seq."}


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
    """The arguments with defaults, amounts kept in their range; null for what need not be given is not given.
    Raises MalformedError on what the schema does not have."""
    known = schema["properties"]
    unknown = [name for name in arguments if name not in known]
    if unknown:
        raise MalformedError(f"Invalid arguments: there is no {unknown[0][:80]}; known are {', '.join(known)}")
    given = {name: value for name, value in arguments.items() if value is not None or name in schema["required"]}
    missing = [name for name in schema["required"] if name not in given]
    if missing:
        raise MalformedError(f"Invalid arguments: {', '.join(missing)} is missing")
    defaults = {name: facts["default"] for name, facts in known.items() if "default" in facts}
    return {**defaults, **{name: _value(name, value, known[name]) for name, value in given.items()}}


def _value(name: str, value: Any, facts: Mapping[str, Any]) -> Any:
    """An argument of the right type. An amount, which is what has a default, is meant as the end of its range
    where it lies outside; a number that names something is never another one."""
    if facts["type"] == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # for JSON Schema 3.0 is an integer
    if not isinstance(value, _TYPES[facts["type"]]) or isinstance(value, bool):
        raise MalformedError(f"Invalid arguments: {name} must be of type {facts['type']}")
    if facts["type"] == "integer" and "default" in facts:
        return max(facts["minimum"], min(value, facts["maximum"]))
    return value


_RUN = {"semantic_search": answers.search_for, "read_hit": answers.read, "similar": answers.alike}
