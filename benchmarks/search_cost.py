"""What a search costs beside the dense scan alone: `python -m benchmarks.search_cost FILE.fossil [--chunks 20000]`.

An indexed repository, or a copy from which artifacts were taken at random until so many chunks are left; the
process is warm: both arms, ranking and snippets, for a few kinds of question. Medians in milliseconds by the clock and of
processor time, and the least processor time, which other work on the machine changes least. `known`: words that were asked before; `new`: nothing is
remembered but vectors and model. The scan is the dot product with every vector and the choice of the best.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vecsearch import embed
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.fuse import DEPTH, ranked
from vecsearch.search.memory import MOST_RANKED, Recent
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.store import connection
from vecsearch.store.reader import Reader
from vecsearch.store.shelf import Shelf
from vecsearch.store.writer import Writer
from vecsearch.types import KINDS

QUESTIONS = (
    "how do I restore a file to an earlier version",
    "why does the server refuse to start after an upgrade of the web server",
    "where is the password of a new user checked",
    "timeline",
    "parse_command_line",
    '"exact phrase" in a document',
    "rename branch -merge",
)
ROUNDS = 15


def measured(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> tuple[float, ...]:
    """Milliseconds of ROUNDS runs after one that warms up: median by the clock, median and least of the processor."""
    work()
    taken = []
    for _ in range(ROUNDS):
        before()
        wall, processor = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - wall, time.process_time() - processor))
    wall, processor = zip(*taken, strict=True)
    return 1000 * statistics.median(wall), 1000 * statistics.median(processor), 1000 * min(processor)


def reduced(repository: Path, chunks: int, folder: Path) -> Path:
    """A copy with artifacts taken away at random, always the same ones, until so many chunks are left."""
    copy = folder / "sample.fossil"
    shutil.copyfile(repository, copy)
    db = connection.open_writable(copy)
    sizes = db.execute("SELECT s.id, count(d.chunk_id) FROM fx_vec_source s LEFT JOIN fx_vec_detail d ON d.source_id=s.id GROUP BY s.id").fetchall()
    random.Random(6).shuffle(sizes)
    kept, going = 0, []
    for source, size in sizes:
        if kept + size <= chunks:
            kept += size
        else:
            going.append(source)
    with connection.transaction(db):
        writer = Writer(db)
        writer.remove(going)
        writer.forget_words()
    db.close()
    return copy


def forget_questions(shelf: Shelf) -> None:
    """Known words in a question that nobody has asked."""
    if "memory" in shelf.derived:
        shelf.derived["memory"].rankings = Recent(MOST_RANKED)


def report(repository: Path) -> None:
    """Print the table."""
    db = open_readonly(repository)
    reader = Reader(db)
    provider = embed.get(reader.settings())
    shelf = reader.shelf(reader.state(), frozenset(KINDS))
    vector = provider.embed_query(QUESTIONS[0])
    scan = measured(lambda: ranked(shelf.similarity(vector), DEPTH))
    print(f"{len(shelf.ids)} chunks of {shelf.dim} numbers; dense scan alone {scan[0]:.1f} ms by the clock, {scan[1]:.1f} of the processor, at least"
          f" {scan[2]:.1f}; the bar is {max(4 * scan[2], 10):.1f}")
    print("known: clock   cpu least new: clock   cpu least   question, stages by the clock")
    whole = []
    for text in QUESTIONS:
        query = parse(text)
        known = measured(lambda query=query: search(db, lambda: provider, query, KINDS), lambda: forget_questions(shelf))
        forget_questions(shelf)
        stages = search(db, lambda: provider, query, KINDS).took_ms
        new = measured(lambda query=query: search(db, lambda: provider, query, KINDS), shelf.derived.clear)
        whole.append((*known, *new))
        print(f"{known[0]:11.1f} {known[1]:5.1f} {known[2]:5.1f} {new[0]:10.1f} {new[1]:5.1f} {new[2]:5.1f}   {text:72s} "
              + "  ".join(f"{name} {ms:.1f}" for name, ms in stages.items()))
    middle = [statistics.median(column) for column in zip(*whole, strict=True)]
    print(f"{middle[0]:11.1f} {middle[1]:5.1f} {middle[2]:5.1f} {middle[3]:10.1f} {middle[4]:5.1f} {middle[5]:5.1f}   median; times the scan, least of"
          f" the processor: known {middle[2] / scan[2]:.1f}, new {middle[5] / scan[2]:.1f}")
    db.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="The cost of a search, warm, beside the dense scan alone.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--chunks", type=int, help="on a copy with so many chunks")
    arguments = parser.parse_args()
    if not arguments.chunks:
        report(arguments.repository)
        return
    with tempfile.TemporaryDirectory() as folder:
        report(reduced(arguments.repository, arguments.chunks, Path(folder)))


if __name__ == "__main__":
    main()
