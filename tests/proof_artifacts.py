"""Reads every artifact of a repository, and proves each against its own hash.

    python -m tests.proof_artifacts REPOSITORY [--fossil N]

With --fossil, every N-th artifact is also compared with what `fossil artifact` prints.
"""

from __future__ import annotations

import argparse
import resource
import sqlite3
import subprocess
import time
from collections.abc import Iterator

from vecsearch.errors import ArtifactError
from vecsearch.fossil import artifact
from vecsearch.fossil.repository import open_readonly


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("--fossil", type=int, default=0, metavar="N")
    options = parser.parse_args()
    db = open_readonly(options.repository)
    rows = list(bases_first(db))
    deltas = db.execute("SELECT count(*) FROM delta").fetchone()[0]
    total, failed, compared, began = 0, [], 0, time.perf_counter()
    for number, (rid, hash_) in enumerate(rows):
        try:
            content = artifact.read(db, rid)
        except ArtifactError as error:
            failed.append(str(error))
            continue
        total += len(content)
        if options.fossil and number % options.fossil == 0:
            compared += 1
            shown = subprocess.run(["fossil", "artifact", hash_, "-R", options.repository], capture_output=True, check=True).stdout
            if shown != content:
                failed.append(f"artifact {hash_}: fossil prints other bytes")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{len(rows)} artifacts ({deltas} deltas), {total / 1e6:.0f} MB, {time.perf_counter() - began:.1f} s, {peak} MB at most, "
          f"{compared} compared with fossil, {len(failed)} failed")
    print("\n".join(failed[:20]))
    raise SystemExit(bool(failed))


def bases_first(db: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    """(rid, hash) of every artifact, a delta right after the one it is made from."""
    names = dict(db.execute("SELECT rid, uuid FROM blob WHERE size>=0"))
    children: dict[int, list[int]] = {}
    for rid, base in db.execute("SELECT rid, srcid FROM delta"):
        children.setdefault(base, []).append(rid)
    deltas = {rid for found in children.values() for rid in found}
    waiting = [rid for rid in names if rid not in deltas]
    while waiting:
        rid = waiting.pop()
        yield rid, names[rid]
        waiting += children.get(rid, ())


if __name__ == "__main__":
    main()
