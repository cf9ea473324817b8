"""What a search costs beside the dense scan alone: `python -m benchmarks.search_cost FILE.fossil`.

An indexed repository, warm: both arms, ranking and snippets, for a few kinds of question; medians in
milliseconds of processor time, which other work on the machine does not change; the stages are by the clock.
The scan is the dot product with every vector and the choice of the best hundred.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from vecsearch import embed
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.fuse import DEPTH, ranked
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.store.reader import Reader
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


def median_ms(work: Callable[[], object]) -> float:
    """Of ROUNDS runs after one that warms up."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="The cost of a search, warm, beside the dense scan alone.")
    parser.add_argument("repository", type=Path)
    db = open_readonly(parser.parse_args().repository)
    reader = Reader(db)
    provider = embed.get(reader.settings())
    shelf = reader.shelf(reader.state(), frozenset(KINDS))
    vector = provider.embed_query(QUESTIONS[0])
    scan = median_ms(lambda: ranked(shelf.similarity(vector), DEPTH))
    print(f"{len(shelf.ids)} chunks of {shelf.dim} numbers; dense scan alone {scan:.1f} ms; bar {max(4 * scan, 10):.1f} ms")
    for text in QUESTIONS:
        query = parse(text)
        whole = median_ms(lambda query=query: search(db, lambda: provider, query, KINDS))
        stages = search(db, lambda: provider, query, KINDS).took_ms
        print(f"{whole:7.1f} ms  {text:72s} " + "  ".join(f"{name} {ms:.1f}" for name, ms in stages.items()))


if __name__ == "__main__":
    main()
