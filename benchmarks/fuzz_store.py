"""Garbage in each column of each table of an index: every command must answer or fail in one line.

    python -m benchmarks.fuzz_store REPOSITORY      every column with every value; a few minutes
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner, Result

from vecsearch.cli import main as command_line
from vecsearch.store import schema

VALUES = (None, b"\0", b"\xff" * 40, "abc", "", "\ud7ff<\u202e", -1, 1 << 62, -(1 << 62), 0, 1.5)
COMMANDS = (("search", "restore a backup"), ("search", "--json", "-k", "50", "restore"), ("status", "--skipped"), ("doctor",), ("index",))


def cases(path: Path) -> list[tuple[str, str, object]]:
    """(table, column, value) of every column of every table of ours that is no part of SQLite's own."""
    with closing(sqlite3.connect(path)) as db:
        tables = sorted(name for name in schema.table_names(db) if not name.startswith("fx_vec_fts"))
        return [(table, column, value) for table in tables for _, column, *_ in db.execute(f"PRAGMA table_info({table})").fetchall()
                for value in VALUES]


def plant(path: Path, table: str, column: str, value: object, rng: random.Random) -> bool:
    """Put the value into one row, or into all; whether SQLite took it."""
    with closing(sqlite3.connect(path)) as db:
        key = next(name for _, name, *_, primary in db.execute(f"PRAGMA table_info({table})") if primary or table == "fx_vec_state")
        keys = [row[0] for row in db.execute(f"SELECT {key} FROM {table} ORDER BY 1")]
        if not keys:
            return False
        try:
            if rng.random() < 0.5:
                db.execute(f"UPDATE {table} SET {column}=?", (value,))
            else:
                db.execute(f"UPDATE {table} SET {column}=? WHERE {key}=?", (value, rng.choice(keys)))
        except (sqlite3.IntegrityError, sqlite3.OperationalError):
            return False
        changed = db.total_changes > 0
        db.commit()
    return changed


def run(path: Path, most: int | None = None, seed: int = 1) -> tuple[int, list[str]]:
    """(cases that SQLite took, faults); `most`: only so many, drawn at random."""
    rng, tried, found = random.Random(seed), 0, []
    todo = cases(path)
    rng.shuffle(todo)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "r.fossil"
        for table, column, value in todo:
            shutil.copy(path, copy)
            if not plant(copy, table, column, value, rng):
                continue
            tried += 1
            found += [f"{table}.{column}={value!r}: {fault}" for fault in _faults(copy, table != "fx_vec_config")]
            if most and tried >= most:
                break
    return tried, found


def _faults(path: Path, mended: bool) -> Iterator[str]:
    """Of the commands one after the other; a rebuild must mend what any of them complains of, but for
    settings, which are the user's."""
    for command, *rest in COMMANDS:
        yield from _one(path, command, *rest)
    yield from _one(path, "rebuild", fine=mended)
    yield from _one(path, "search", "restore", fine=mended)


def call(path: Path, command: str, *rest: str) -> Result:
    """One command in this process."""
    return CliRunner().invoke(command_line, [command, "-R", str(path), *rest])


def _one(path: Path, command: str, *rest: str, fine: bool = False) -> Iterator[str]:
    done = call(path, command, *rest)
    if done.exception and not isinstance(done.exception, SystemExit):
        where = traceback.extract_tb(done.exception.__traceback__)
        ours = [frame for frame in where if "vecsearch" in frame.filename and "cli" not in frame.filename] or where
        yield f"{command}: {type(done.exception).__name__}: {str(done.exception)[:100]} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"
    elif done.exit_code and len(done.stderr.strip().splitlines()) != 1 and command != "doctor":
        yield f"{command}: more than a line: {done.stderr[:200]!r}"
    elif fine and done.exit_code:
        yield f"{command}: not mended: {done.stderr.strip()}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--most", type=int)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    tried, found = run(args.repository, args.most, args.seed)
    print("\n".join(found))
    print(f"{tried} cases, {len(found)} faults")


if __name__ == "__main__":
    main()
