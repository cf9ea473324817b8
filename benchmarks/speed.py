"""Every bar of speed, as a table of ratios.

    python -m benchmarks.speed [REPOSITORY] [--rows serving,index,memory,scan] [--folder DIR]

REPOSITORY: a Fossil repository of 10,000 or more check-ins; without one, one is made. It is copied. Each ratio is of
medians of runs that take turns, so whatever else the machine does meets both sides.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from . import served, synthetic

Row = tuple[str, float, float | None, str]
#: A bar is met below its limit, or above it where the limit is negative; without a limit it is told only.
IMPORTS = (sys.executable, "-c", "import numpy, sqlite3")


def serving(repository: Path, folder: Path) -> Iterator[Row]:
    """Requests through a real server. Limits are for Fossil's search over the same files and questions of all three lengths; what it takes over
    documentation alone is told beside."""
    whole, part = served.prepared(repository, folder), served.prepared(repository, folder, code=False)
    asked = {length: served.questions(whole, 220, length) for length in (1, 2, 3)}
    mixed = [question for several in zip(*asked.values(), strict=True) for question in several]
    with served.serving(part, folder, "documentation") as small, served.serving(whole, folder) as site:
        for _ in range(3):  # wake the worker, and all caches of the system
            small.seconds(served.fossil_search("warm"))
            site.seconds(served.our_search("warm"))
            site.seconds(served.fossil_search("warm"))
            time.sleep(1.5)
        taken = {length: served.seconds(_ways(site, small, some)) for length, some in asked.items()}
        for said, lengths in (("one word", [1]), ("two words", [2]), ("three words", [3]), ("all of these", [1, 2, 3])):
            fossil, less, *ours = (statistics.median(one for length in lengths for one in taken[length][way]) for way in range(6))
            for form, limit, mine in zip(("JSON, asked before", "HTML, asked before", "JSON, new", "HTML, new"), (0.5, 0.6, 0.5, 0.6), ours, strict=True):
                yield f"{form}, {said} : Fossil's /search", mine / fossil, limit if len(lengths) == 3 else None, f"{mine * 1e3:.1f} : {fossil * 1e3:.1f} ms"
                yield f"{form}, {said} : over documentation alone", mine / less, None, f"{mine * 1e3:.1f} : {less * 1e3:.1f} ms"
        rates: dict[str, list[float]] = {"fossil": [], "less": [], "ours": [], "again": []}
        for turn in range(3):
            some = mixed[270 + turn * 130 : 400 + turn * 130]
            rates["fossil"].append(served.per_second(site, list(map(served.fossil_search, some)), 16, 4))
            rates["less"].append(served.per_second(small, list(map(served.fossil_search, some)), 16, 4))
            rates["ours"].append(served.per_second(site, list(map(served.our_search, some)), 16, 4))
            rates["again"].append(served.per_second(site, list(map(served.our_search, some[:32])), 16, 4))
        fossil, less, *ours = map(statistics.median, rates.values())
        for said, mine in zip(("new", "asked before"), ours, strict=True):
            yield f"16 clients, {said}, requests per second : Fossil's /search", mine / fossil, -2, f"{mine:.0f} : {fossil:.0f} a second"
            yield f"16 clients, {said} : over documentation alone", mine / less, None, f"{mine:.0f} : {less:.0f} a second"
        for form in ("json", "html"):
            ways = [(site, "/ext/bare")] * 15, [(site, served.our_search(q, form, "alone")) for q in mixed[:15]]
            bare, alone = map(statistics.median, served.seconds(ways))
            yield f"no worker, {form} : a CGI that imports flask and numpy", alone / bare, 1.3, f"{alone * 1e3:.0f} : {bare * 1e3:.0f} ms"


def _ways(site: served.Site, small: served.Site, questions: list[str]) -> list[list[tuple[served.Site, str]]]:
    """Fossil's search over the same files and over fewer; ours of questions asked before, as JSON and as a page, and of new ones."""
    known, new, others = questions[:30], questions[30:60], questions[60:90]
    for question in known:
        site.ask(served.our_search(question))
    return [[(site, served.fossil_search(q)) for q in known], [(small, served.fossil_search(q)) for q in known],
            *([(site, served.our_search(q, form)) for q in known] for form in ("json", "html")),
            [(site, served.our_search(q)) for q in new], [(site, served.our_search(q, "html")) for q in others]]


def index(repository: Path, folder: Path) -> Iterator[Row]:
    """Index runs that have little to do."""
    copy = folder / "nothing.fossil"
    shutil.copy(repository, copy)
    served.run(served.VECSEARCH, "index", "-R", copy)
    with closing(sqlite3.connect(copy)) as db:
        artifacts = db.execute("SELECT count(*) FROM blob").fetchone()[0]
    ours, theirs = _in_turn(9, lambda: _seconds(served.VECSEARCH, "index", "-R", copy), lambda: _seconds(*IMPORTS))
    yield "index, nothing to do : import numpy, sqlite3", ours / theirs, 3, f"{ours * 1e3:.0f} : {theirs * 1e3:.0f} ms, {artifacts} artifacts"
    large, small = (_with_checkout(synthetic.repository(folder / f"grown{n}.fossil", n, n // 10, 3), folder) for n in (10_000, 1_000))
    turn = iter(range(1000))
    ours, theirs = _in_turn(5, lambda: _one_more(large, next(turn)), lambda: _one_more(small, next(turn)))
    yield "one more check-in of 3 files : in a repository of a tenth", ours / theirs, 1.5, f"{ours * 1e3:.0f} : {theirs * 1e3:.0f} ms"


def memory(_: Path, folder: Path) -> Iterator[Row]:
    """The most that a full index takes."""
    peaks = []
    for chunks in (100_000, 10_000):
        path = synthetic.repository(folder / f"chunks{chunks}.fossil", 1, chunks // 20, 20)
        served.run(served.VECSEARCH, "config", "-R", path, "provider", "hash")
        peaks.append(_peak_megabytes(served.VECSEARCH, "index", "-R", path))
        path.unlink()
    yield "peak memory, 100,000 chunks : 10,000 (hash)", peaks[0] / peaks[1], 1.3, f"{peaks[0]:.0f} : {peaks[1]:.0f} MB"


def scan(_: Path, __: Path) -> Iterator[Row]:
    """Vectors alone."""
    from .scan import measure

    yield from measure()


ROWS: dict[str, Callable[[Path, Path], Iterator[Row]]] = {"serving": serving, "index": index, "memory": memory, "scan": scan}


def _seconds(*command: object) -> float:
    begun = time.perf_counter()
    served.run(*command)
    return time.perf_counter() - begun


def _in_turn(times: int, one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float]:
    pairs = [(one(), other()) for _ in range(times)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def _with_checkout(repository: Path, folder: Path) -> Path:
    served.run(served.VECSEARCH, "index", "-R", repository)
    checkout = folder / repository.stem
    checkout.mkdir()
    served.run("fossil", "open", "--force", repository, cwd=checkout)
    return checkout


def _one_more(checkout: Path, turn: int) -> float:
    for number in range(3):
        with (checkout / f"docs/d{number}/f{number}.md").open("a") as file:
            file.write(f"\n## Turn {turn}\n\nOne more line about turn {turn}, file {number}.\n")
    served.run("fossil", "commit", "--no-warnings", "-m", f"turn {turn}", cwd=checkout)
    return _seconds(served.VECSEARCH, "index", "-R", checkout.with_suffix(".fossil"))


def _peak_megabytes(*command: object) -> float:
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit(f"{command} failed")
    return used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.split("\n", 1)[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--folder", type=Path, help="where copies are made; default: a temporary folder")
    options = parser.parse_args()
    libraries = " ".join(f"{name} {version(name)}" for name in ("flask", "numpy", "waitress"))
    print(f"{served.run('fossil', 'version').strip()}; Python {platform.python_version()}; SQLite {sqlite3.sqlite_version}; {libraries}; {os.cpu_count()} cores\n")
    print("| bar | ratio | limit | |\n|---|---|---|---|")
    missed = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        repository = options.repository or synthetic.repository(folder / "made.fossil", 12_000, 1_500, 8)
        for group in options.rows.split(","):
            for bar, ratio, limit, note in ROWS[group](repository, folder):
                met = limit is None or (ratio <= limit if limit > 0 else ratio >= -limit)
                missed += not met
                wanted = f"{'at least' if limit < 0 else 'at most'} {abs(limit):g}" if limit else ""
                print(f"| {bar} | {ratio:.2f} | {wanted}{'' if met else ' MISSED'} | {note} |", flush=True)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
