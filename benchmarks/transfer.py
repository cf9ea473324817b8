"""What the transfer store costs: time to publish and import against embedding, and bytes by layer.

    python benchmarks/transfer.py REPOSITORY.fossil [--provider builtin|hash] [--fossil PROGRAM]

Works on copies in a temporary folder, all in one run: index, clone over HTTP on loopback, import in
the clone, 20 queries on both, rebuild (everything embedded anew) in the clone, then a table of what
each table and file adds per 1,000 chunks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vecsearch import embed
from vecsearch.incoming import Incoming
from vecsearch.index import index
from vecsearch.publish.publisher import Publisher
from vecsearch.store import connection
from vecsearch.store.reader import Reader
from vecsearch.store.settings import store
from vecsearch.transfer import import_

QUERIES = ("error handling", "how to configure the server", "memory leak", "parse command line", "unit tests", "build on windows",
           "hash table", "replication", "documentation of settings", "string formatting", "file permissions", "time zone", "socket",
           "utf-8 decoding", "license", "release notes", "garbage collection", "linked list", "performance", "regular expression")


def configure(path: Path, **settings: str) -> None:
    db = connection.open_writable(path)
    with connection.transaction(db):
        for name, value in settings.items():
            store(db, name, value)
    db.close()


#: CPU seconds by what was clocked: other work on the machine does not count.
SPENT: dict[str, float] = {}


def clocked(owner: type, *names: str) -> None:
    """Count the seconds spent in these methods."""
    for name in names:
        setattr(owner, name, _clocked(getattr(owner, name), name))


def _clocked(method, name: str):
    def run(*args, **options):
        start = time.process_time()
        try:
            return method(*args, **options)
        finally:
            SPENT[name] = SPENT.get(name, 0) + time.process_time() - start

    return run


def timed(label: str, act) -> float:
    start, cpu = time.perf_counter(), time.process_time()
    result = act()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{label:44}{wall:8.1f} s{cpu:8.1f} s CPU   {result or ''}", flush=True)
    return cpu


def chunks_of(path: Path) -> int:
    with sqlite3.connect(path) as db:
        return db.execute("SELECT count(*) FROM fx_vec_chunk").fetchone()[0]


def answers(path: Path) -> list[dict]:
    command = Path(sys.executable).with_name("vecsearch")
    found = []
    for query in QUERIES:
        done = subprocess.run([command, "search", "-R", path, "--json", query], capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout)
        answer.pop("took_ms")
        found.append(answer)
    return found


def clone(fossil: str, site: Path, copy: Path, home: Path) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "HOME": str(home), "USER": "bench"}
    server = subprocess.Popen([fossil, "server", "--localhost", "--port", str(port), site], env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        subprocess.run([fossil, "clone", "--unversioned", f"http://127.0.0.1:{port}/", copy], env=env, check=True, capture_output=True)
    finally:
        server.terminate()
        server.wait()
    lists = [subprocess.run([fossil, "uv", "list", "-R", path], env=env, check=True, capture_output=True).stdout for path in (site, copy)]
    return f"uv list agrees: {lists[0] == lists[1]}, {lists[0].count(bytes([10]))} files"


def sizes(path: Path, chunks: int) -> None:
    """Bytes by table, indexes counted with their table, per 1,000 chunks."""
    with sqlite3.connect(path) as db:
        try:
            rows = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
        except sqlite3.OperationalError:
            print("this SQLite has no dbstat: no table of sizes")
            return
        owner = dict(db.execute("SELECT name, tbl_name FROM sqlite_schema"))
        files = db.execute("SELECT CASE WHEN name LIKE '%.bin' THEN 'vec/HASH.bin' WHEN name LIKE '%.pack' THEN 'vec/checkins-*.pack'"
                           " ELSE name END AS what, count(*), sum(sz), sum(length(content)) FROM unversioned"
                           " WHERE name LIKE 'vec/%' GROUP BY what").fetchall()
    total: dict[str, int] = {}
    for name, size in rows:
        table = owner.get(name, name)
        table = "fx_vec_fts" if table.startswith("fx_vec_fts") else table
        total[table] = total.get(table, 0) + size
    ours = {name: size for name, size in total.items() if name.startswith("fx_vec_") or name == "unversioned"}
    print("\n| layer | table | kB per 1,000 chunks |\n|---|---|---|")
    for name, size in sorted(ours.items(), key=lambda item: (item[0] == "unversioned", -item[1])):
        if size / chunks >= 1:
            print(f"| {'2' if name == 'unversioned' else '1'} | {name} | {size / chunks:.0f} |")
    print("\n| file | number | kB per 1,000 chunks | stored |\n|---|---|---|---|")
    for what, count, size, kept in files:
        print(f"| {what} | {count} | {size / chunks:.0f} | {kept / chunks:.0f} |")


def show(label: str, seconds: float, chunks: int) -> None:
    print(f"  {label:53}{seconds:8.1f} s CPU   {1e6 * seconds / chunks:.0f} us per chunk")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("repository", type=Path)
    options.add_argument("--provider", default="builtin")
    options.add_argument("--fossil", default="fossil")
    options.add_argument("--chunk-chars", default="1400", help="shorter chunks make more of them")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(given.repository, {"provider": given.provider, "chunk-chars": given.chunk_chars}, given.fossil, Path(folder))


def run(repository: Path, settings: dict[str, str], fossil: str, folder: Path) -> None:
    print(subprocess.run([fossil, "version"], capture_output=True, text=True, check=True).stdout.strip())
    site, copy = folder / "site.fossil", folder / "copy.fossil"
    shutil.copy(repository, site)
    configure(site, publish="public", **settings)
    clocked(Publisher, "begin", "put", "finish")
    clocked(Incoming, "records")
    timed("index", lambda: f"{index(site, embed.get).embedded} embedded")
    chunks = chunks_of(site)
    show("of which export", sum(SPENT.pop(name) for name in ("begin", "put", "finish")), chunks)
    timed("clone --unversioned over loopback", lambda: clone(fossil, site, copy, folder))
    configure(copy, provider=settings["provider"])  # the others come along
    imported = timed("import in the clone", lambda: f"{import_(copy).chunks} chunks")
    show("of which reading the blobs", SPENT.pop("records"), chunks)
    print(f"20 queries give identical JSON: {answers(site) == answers(copy)}")
    clocked(type(embed.get(Reader(connection.open_writable(copy)).settings())), "embed_documents")
    again = timed("rebuild in the clone: all embedded anew", lambda: f"{index(copy, embed.get, rebuild=True).embedded} embedded")
    show("of which the model", SPENT.pop("embed_documents"), chunks)
    print(f"import takes {imported / again:.2f} of the CPU time of a rebuild")
    sizes(site, chunks)


if __name__ == "__main__":
    main()
