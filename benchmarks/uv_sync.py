"""What Fossil takes to carry many small unversioned files, against the same bytes packed by month.

    python benchmarks/uv_sync.py [FOSSIL]

For 1,000, 5,000 and 20,000 blobs of a check-in's size, and 20,000 in 150 packs: clone --unversioned over
loopback, a sync with nothing to do, and a sync after one change.
"""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vecsearch.store import unversioned

#: A check-in: 300 bytes of text and a vector of 256 numbers.
BLOB_BYTES = 300 + 4 * 256
MONTHS = 150


def run(fossil: str, home: Path, *args: object) -> float:
    """Seconds that the command took."""
    env = {**os.environ, "HOME": str(home), "USER": "bench"}
    start = time.perf_counter()
    subprocess.run([fossil, *map(str, args)], env=env, check=True, capture_output=True)
    return time.perf_counter() - start


def put(path: Path, files: dict[str, bytes]) -> None:
    with sqlite3.connect(path) as db:
        for name, data in files.items():
            unversioned.put(db, name, data)


def blob(count: int = 1) -> bytes:
    return secrets.token_bytes(BLOB_BYTES * count)


def measure(fossil: str, folder: Path, number: int, packed: bool) -> None:
    site, copy = folder / "site.fossil", folder / "copy.fossil"
    for path in (site, copy):
        path.unlink(missing_ok=True)
    run(fossil, folder, "init", site)
    names = [f"vec/checkins-{i}.pack" for i in range(MONTHS)] if packed else [f"vec/{secrets.token_hex(32)}.bin" for _ in range(number)]
    put(site, {name: blob(number // len(names)) for name in names})
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([fossil, "server", site, "--localhost", "--port", str(port)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})
    url = f"http://127.0.0.1:{port}/"
    try:
        time.sleep(0.5)
        clone = run(fossil, folder, "clone", "--unversioned", url, copy)
        idle = run(fossil, folder, "uv", "sync", url, "-R", copy)
        put(site, {names[0]: blob(number // len(names) + packed)})
        changed = run(fossil, folder, "uv", "sync", url, "-R", copy)
    finally:
        server.terminate()
        server.wait()
    print(f"| {number:,} in {len(names):,} files | {clone:.1f} | {idle:.2f} | {changed:.2f} |", flush=True)


def main(fossil: str) -> None:
    version = subprocess.run([fossil, "version"], capture_output=True, text=True, check=True).stdout.split()[4]
    print(f"| Fossil {version} | clone, s | idle sync, s | sync of one change, s |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, packed in ((1000, False), (5000, False), (20000, False), (20000, True)):
            measure(fossil, Path(folder), number, packed)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "fossil")
