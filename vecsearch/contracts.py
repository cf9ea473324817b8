"""Contracts in the index: listed, shown with what they rest on, drawn as a graph of their relations.

A relation names another contract by its id, with or without the type. What it names need not exist:
such a relation is told as unresolved, for that is what one looks for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .errors import UsageError
from .fossil.repository import open_readonly
from .store import contracts as stored
from .store.contracts import Contract
from .store.reader import Reader


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is an id; `target` too if `resolved`, else what the relation names."""

    source: str
    predicate: str
    target: str
    resolved: bool


def load(path: Path) -> list[Contract]:
    """Every contract of the repository's index. Raises NoIndexError."""
    with closing(open_readonly(path)) as db:
        Reader(db).state()
        return stored.load(db)


def edges(contracts: Sequence[Contract]) -> list[Edge]:
    """All relations, in the order of the contracts."""
    known = {contract.header.id: contract.header.id for contract in contracts}
    known |= {f"{c.header.id}:{c.header.type}": c.header.id for c in contracts}
    return [Edge(contract.header.id, predicate, known.get(target, target), target in known)
            for contract in contracts for predicate, target in contract.header.relations()]


def as_json(contract: Contract) -> dict:
    """One contract as data."""
    return {"id": contract.header.id, "type": contract.header.type, "tags": [list(tag) for tag in contract.header.tags],
            "kind": contract.kind, "project": contract.project, "path": contract.path, "hash": contract.hash,
            "seq": contract.seq, "lines": list(contract.lines) if contract.lines else None}


def listing(path: Path, type_: str | None, *, json_lines: bool) -> str:
    """Each contract on a line: id, type, where it stands, what it is for."""
    found = [c for c in load(path) if type_ in (None, c.header.type)]
    if json_lines:
        return json.dumps([as_json(c) for c in found], ensure_ascii=False)
    return "\n".join(_line(c) for c in found) or "no contracts: see docs/contracts.md for how to write one"


def _line(contract: Contract) -> str:
    purpose = dict(contract.header.tags).get("PURPOSE", "")
    return f"{contract.header.id}  ({contract.header.type}, {_place(contract)})" + (f"  {purpose}" if purpose else "")


def _place(contract: Contract) -> str:
    where = contract.path or contract.hash[:16]
    return f"{where}:{contract.lines[0]}" if contract.lines else where


def show(path: Path, id_: str, *, as_json_text: bool) -> str:
    """A contract with its tags, its relations in both directions and its text. Raises UsageError."""
    everything = load(path)
    found = [c for c in everything if id_ in (c.header.id, f"{c.header.id}:{c.header.type}")]
    if not found:
        raise UsageError(f'there is no contract "{id_}"; see: vecsearch contracts list')
    related = edges(everything)
    with closing(open_readonly(path)) as db:
        texts = [stored.text_of(db, contract) for contract in found]
    if as_json_text:
        return json.dumps([as_json(c) | {"relations": [_edge_json(e) for e in related if _touches(e, c)], "text": text}
                           for c, text in zip(found, texts, strict=True)], ensure_ascii=False)
    return "\n\n".join(_shown(c, related, text) for c, text in zip(found, texts, strict=True))


def _touches(edge: Edge, contract: Contract) -> bool:
    return edge.source == contract.header.id or (edge.resolved and edge.target == contract.header.id)


def _edge_json(edge: Edge) -> dict:
    return {"source": edge.source, "predicate": edge.predicate, "target": edge.target, "resolved": edge.resolved}


def _shown(contract: Contract, related: Sequence[Edge], text: str) -> str:
    id_ = contract.header.id
    lines = [f"{id_}:{contract.header.type}", f"{contract.kind} {_place(contract)} {contract.hash[:16]}"]
    lines += [f"  @{name} {value}" for name, value in contract.header.tags if name != "RELATION"]
    lines += [f"  {e.predicate} -> {e.target}{'' if e.resolved else '  (no such contract)'}" for e in related if e.source == id_]
    lines += [f"  {e.source} {e.predicate} -> this" for e in related if e.target == id_ and e.resolved]
    return "\n".join([*lines, "", text])


def graph(path: Path, form: str) -> str:
    """All relations: as text, as Graphviz `dot` or as JSON."""
    found = load(path)
    related = edges(found)
    if form == "json":
        return json.dumps({"contracts": [as_json(c) for c in found], "edges": [_edge_json(e) for e in related]}, ensure_ascii=False)
    if form == "dot":
        nodes = [f"  {_quoted(c.header.id)} [tooltip={_quoted(_place(c))}];" for c in found]
        arrows = [f"  {_quoted(e.source)} -> {_quoted(e.target)} [label={_quoted(e.predicate)}{'' if e.resolved else ', style=dashed'}];"
                  for e in related]
        return "\n".join(["digraph contracts {", "  rankdir=LR;", *nodes, *arrows, "}"])
    return "\n".join(f"{e.source} {e.predicate} -> {e.target}{'' if e.resolved else '  (no such contract)'}" for e in related)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
