"""Index time and chunks per kind of a repository, the time of a run after one more check-in at two sizes,
and that of a run without anything to do.

    python benchmarks/corpora.py LARGE.fossil SMALL.fossil

Works on copies. SMALL should have about a tenth of LARGE's check-ins.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vecsearch import chunk as chunking
from vecsearch.config import default_settings
from vecsearch.embed.builtin import Builtin
from vecsearch.fossil import corpus
from vecsearch.fossil.repository import open_readonly
from vecsearch.types import KINDS

VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))


def fossil(*args: str, cwd: str | None = None) -> str:
    """Run `fossil` with a home of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "USER": "bench"}
    return subprocess.run(["fossil", *args], cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def per_kind(path: Path) -> None:
    """Seconds to read, chunk and embed each kind, without storing."""
    db, settings, embedder = open_readonly(path), default_settings(), Builtin()
    embedder.embed_query("warm")
    print(f"\n{path.name}\n{'kind':12}{'artifacts':>10}{'chunks':>9}{'list s':>9}{'read s':>9}{'chunk s':>9}{'embed s':>9}")
    for kind in KINDS:
        took = [0.0, 0.0, 0.0, 0.0]
        start = time.perf_counter()
        sources = list(corpus.sources(db, settings, kind))
        took[0] = time.perf_counter() - start
        chunks = 0
        for source in sources:
            start = time.perf_counter()
            document = corpus.document(db, settings, source)
            read = time.perf_counter()
            pieces = [] if document.skipped else chunking.split(document, settings)
            cut = time.perf_counter()
            embedder.embed_documents([chunking.embedding_text(source.path, piece, document.format) for piece in pieces])
            done = time.perf_counter()
            took[1:] = [took[1] + read - start, took[2] + cut - read, took[3] + done - cut]
            chunks += len(pieces)
        if sources:
            print(f"{kind:12}{len(sources):10}{chunks:9}" + "".join(f"{seconds:9.2f}" for seconds in took))
    db.close()


def full(path: Path) -> None:
    """A whole index run by the real command, with its peak memory."""
    start = time.perf_counter()
    process = subprocess.Popen([VECSEARCH, "index", "-R", str(path)], stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    print(f"{path.name}: full index {time.perf_counter() - start:.1f} s, peak {usage.ru_maxrss / 1024:.0f} MB\n{said}", end="")


def one_more(path: Path, folder: Path, times: int = 5) -> float:
    """Median seconds of a run after a check-in of three changed files."""
    work = folder / f"{path.name}.work"
    work.mkdir()
    fossil("user", "new", "bench", "", "bench", "-R", str(path))
    fossil("open", "--force", str(path), "trunk", "--workdir", str(work))
    taken = []
    for number in range(times):
        for name in "abc":
            (work / f"bench-{name}.md").write_text(f"# Note {name}\n\nRound {number} of the benchmark{'!' * number}\n")
        fossil("add", *(f"bench-{name}.md" for name in "abc"), cwd=str(work))
        fossil("commit", "--no-warnings", "--allow-older", "-m", f"Round {number}", cwd=str(work))
        start = time.perf_counter()
        subprocess.run([VECSEARCH, "index", "-R", str(path)], check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def nothing_to_do(path: Path, times: int = 15) -> tuple[float, float]:
    """Median seconds of a run that finds the index current, and of loading numpy and sqlite3, in turn."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for command, list_ in zip(([VECSEARCH, "index", "-R", str(path)], [sys.executable, "-c", "import numpy, sqlite3"]), taken, strict=True):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            list_.append(time.perf_counter() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def main() -> None:
    """Print all of it."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(shutil.copy(name, folder)) for name in sys.argv[1:]]
        for copy in copies:  # first: to the system a child's peak is at least what its parent held when it began
            full(copy)
        per_kind(copies[0])
        large, small = (one_more(copy, Path(folder)) for copy in copies)
        print(f"one more check-in of 3 files, median of 5: {large:.2f} s on {copies[0].name}, {small:.2f} s on {copies[1].name}, ratio {large / small:.2f}")
        idle, bare = nothing_to_do(copies[0])
        print(f"nothing to do: {idle:.3f} s, import numpy, sqlite3: {bare:.3f} s, ratio {idle / bare:.2f}")


if __name__ == "__main__":
    main()
