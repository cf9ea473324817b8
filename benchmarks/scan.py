"""The exact scan of all vectors, from the file and in memory, beside those of others.

    python -m benchmarks.scan [--peers PYTHON] [--small] [--clock]

Random unit vectors in a table as an index run leaves it. Runs of ours and of the peers are interleaved, so that
whatever else the machine does meets all; each figure is the median of processor time, with one thread for everybody,
which on an idle machine is what a clock shows. PYTHON is an interpreter with numpy, loadable extensions for SQLite,
sqlite-vec and usearch, this one by default; `--clock` is the clock instead, for an idle machine: then the peers have all threads that they
want, and ours what the launcher gives it, one of BLAS and its own helper; `--small` is a tenth of the rows, to see whether all works.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: (bar, what is measured, against what, limit)
BARS = (
    ("file, 100,000 x 768, cold process, against vec0", "file", "vec0-file", 0.4),
    ("memory, 100,000 x 768, against vec0", "memory", "vec0-memory", 0.12),
    ("memory, 100,000 x 768, against numpy product and argpartition", "memory", "numpy", 1.1),
    ("file, against sqlite-vec's scalar function over rows", "file", "scalar-file", None),
    ("file, against reading the rows of fx_vec_embedding", "file", "rows-file", None),
    ("memory, against usearch exact", "memory", "usearch", None),
)
ROUNDS = 9
TOP = 10

Row = tuple[str, float, float | None, str]


def measure(peers: str = sys.executable, scale: int = 1) -> list[Row]:
    """(bar, ratio, limit, note) of each bar; a bar without a limit is for information."""
    return list(_bars(peers, scale))


def _bars(peers: str, scale: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _against_peers(Path(folder), peers, scale)
    with tempfile.TemporaryDirectory() as folder:
        yield from _growth(Path(folder), scale)


def _against_peers(folder: Path, peers: str, scale: int) -> list[Row]:
    count, dim = 100_000 // scale, 768
    ours, theirs = folder / "ours.db", folder / "theirs.db"
    _run(sys.executable, "make", ours, count, dim)
    versions = json.loads(_run(peers, "make-peers", theirs, ours, dim))
    times: dict[str, list[float]] = {}
    workers = {name: _worker(python, name, ours if name in ("memory", "numpy", "usearch") else theirs, dim)
               for name, python in (("memory", sys.executable), ("numpy", sys.executable), ("vec0-memory", peers), ("usearch", peers))}
    try:
        for _ in range(ROUNDS):
            for name, python, path in (("file", sys.executable, ours), ("vec0-file", peers, theirs), ("scalar-file", peers, theirs),
                                       ("rows-file", sys.executable, ours)):
                times.setdefault(name, []).append(float(_run(python, name, path, dim)))
            for _ in range(3):
                for name, worker in workers.items():
                    times.setdefault(name, []).append(_ask(worker))
    finally:
        for worker in workers.values():
            worker.communicate()
    return _rows(times, versions)


def _rows(times: Mapping[str, Sequence[float]], versions: Mapping[str, str]) -> list[Row]:
    middle = {name: statistics.median(some) for name, some in times.items()}
    said = f"sqlite-vec {versions['sqlite-vec']}, usearch {versions['usearch']}, numpy {versions['numpy']}"
    return [(bar, middle[one] / middle[other], limit, f"{1000 * middle[one]:.1f} ms : {1000 * middle[other]:.1f} ms; {said}")
            for bar, one, other, limit in BARS]


def _growth(folder: Path, scale: int) -> list[Row]:
    small, large = folder / "small.db", folder / "large.db"
    _run(sys.executable, "make", small, 100_000 // scale, 256)
    _run(sys.executable, "make", large, 1_000_000 // scale, 256)
    workers = {name: _worker(sys.executable, "memory", path, 256) for name, path in (("small", small), ("large", large))}
    times: dict[str, list[float]] = {"small": [], "large": []}
    try:
        for _ in range(2 * ROUNDS):
            for name, worker in workers.items():
                times[name].append(_ask(worker))
    finally:
        grown = [json.loads(worker.communicate("memory\n")[0]) for worker in workers.values()]
    middle = {name: statistics.median(some) for name, some in times.items()}
    bare = 4 * 256 * (1_000_000 // scale)
    return [("memory of 1,000,000 x 256, against the bare matrix", grown[1] / bare, 1.2, f"{grown[1] / 1e6:.0f} MB : {bare / 1e6:.0f} MB"),
            ("time of 1,000,000 x 256, against 100,000 x 256", middle["large"] / middle["small"], 11.0,
             f"{1000 * middle['large']:.1f} ms : {1000 * middle['small']:.1f} ms")]


def _run(python: str, what: str, *values: object) -> str:
    """One process of benchmarks/scan_one.py; what it prints."""
    return subprocess.run([python, str(ROOT / "benchmarks/scan_one.py"), what, *map(str, values)], check=True, text=True, stdout=subprocess.PIPE,
                          env=_environment(what)).stdout


def _worker(python: str, what: str, *values: object) -> subprocess.Popen:
    process = subprocess.Popen([python, str(ROOT / "benchmarks/scan_one.py"), what, *map(str, values)], text=True, env=_environment(what),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it is ready
    return process


def _ask(worker: subprocess.Popen) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write("scan\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


#: As the launcher starts us. Without a clock all are run so: two threads that fight for a busy processor measure the fight.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
OURS = ("memory", "file", "rows-file")
_common = {**os.environ, "PYTHONPATH": str(ROOT)}


def _environment(what: str) -> dict[str, str]:
    return _common | ONE_THREAD if what in OURS or "SCAN_BY_THE_CLOCK" not in _common else _common


def table(rows: Sequence[Row]) -> str:
    """One line for each bar."""
    return "\n".join(f"{'ok  ' if limit is None or ratio <= limit else 'OVER'} {ratio:8.3f} x  {f'at most {limit:g} x' if limit else '':16} {bar}  ({note})"
                     for bar, ratio, limit, note in rows)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--clock", action="store_true")
    args = parser.parse_args()
    if args.clock:
        for name in ONE_THREAD:
            _common.pop(name, None)
        _common["SCAN_BY_THE_CLOCK"] = "1"
    print(f"SQLite {sqlite3.sqlite_version}")
    for row in _bars(args.peers, 10 if args.small else 1):
        print(table([row]), flush=True)


if __name__ == "__main__":
    main()
