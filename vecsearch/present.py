"""Results as JSON, one shape on every surface (docs/api.md), and as text for a terminal."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from .search.run import Result
from .types import Hit


def hit_json(hit: Hit) -> dict[str, Any]:
    """The frozen hit shape and the fields that were added to it."""
    data = asdict(hit)
    data["lines"] = list(hit.lines) if hit.lines else None
    return data


def result_json(result: Result, next_: str | int | None) -> dict[str, Any]:
    """One object; `next` is how to ask for the following page, None at the end."""
    return {
        "query": result.query.text,
        "hits": [hit_json(hit) for hit in result.hits],
        "total": result.total,
        "state": result.state,
        "message": result.message,
        "model": result.model,
        "checkin": result.checkin,
        "took_ms": result.took_ms,
        "next": next_,
    }


def result_text(result: Result) -> str:
    """Hits for a terminal: rank, score, kind, where; then a line or two of what matched."""
    if not result.hits:
        return "" if result.state == "no_index" else "nothing relevant found\n"
    return "".join(_hit_text(hit) for hit in result.hits)


def _hit_text(hit: Hit) -> str:
    where = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}" if hit.path and hit.lines else hit.path or hit.hash[:16]
    project = f"{hit.project}: " if hit.project else ""
    passage = textwrap.fill(hit.snippet.striptags(), 96, initial_indent="     ", subsequent_indent="     ")
    return _printable(f"{hit.rank:2}.  {hit.title}\n     {hit.kind}  {project}{where}  {hit.score:.2f}\n{passage}\n")


def _printable(text: str) -> str:
    """Repository content must not steer the terminal: no control characters but line ends."""
    return "".join(c if c == "\n" or c.isprintable() else "?" for c in text)
