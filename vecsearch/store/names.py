"""Titles and symbols that begin as somebody types: suggestions, over the permitted kinds only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def code_with(db: sqlite3.Connection, typed: str, kinds: Iterable[str], limit: int) -> list[tuple[str, str, str, str, str]]:
    """(format, text, kind, hash, project) of code that holds the letters; a chunk may define several names."""
    wanted = sorted({"code", "api"} & set(kinds))
    return db.execute(
        "SELECT s.format, c.text, c.kind, c.hash, coalesce(c.project, '') FROM fx_vec_chunk c JOIN fx_vec_detail d ON d.chunk_id=c.id"
        f" JOIN fx_vec_source s ON s.id=d.source_id WHERE c.kind IN ({','.join('?' * len(wanted))}) AND instr(lower(c.text), ?)"
        " ORDER BY c.hash, c.seq LIMIT ?", (*wanted, typed.lower(), limit)).fetchall()


def beginning(db: sqlite3.Connection, typed: str, kinds: Iterable[str], limit: int) -> list[tuple[str, str, str, str]]:
    """(name, kind, hash, project), names that begin with what was typed before those that hold a word
    that does, then short before long."""
    wanted = sorted(kinds)
    pattern = typed.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    marks = ",".join("?" * len(wanted))
    return db.execute(
        "SELECT name, kind, hash, project FROM (SELECT CASE d.symbol WHEN '' THEN d.title ELSE d.symbol END AS name, c.kind, c.hash,"
        " coalesce(c.project, '') AS project FROM fx_vec_detail d JOIN fx_vec_chunk c ON c.id=d.chunk_id"
        f" WHERE c.kind IN ({marks}) AND (d.title LIKE ? ESCAPE '!' OR d.title LIKE ? ESCAPE '!' OR d.symbol LIKE ? ESCAPE '!'"
        " OR d.symbol LIKE ? ESCAPE '!'))"
        " ORDER BY name NOT LIKE ? ESCAPE '!', length(name), name, hash LIMIT ?",
        (*wanted, f"{pattern}%", f"% {pattern}%", f"{pattern}%", f"%.{pattern}%", f"{pattern}%", limit)).fetchall()
