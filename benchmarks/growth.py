"""Peak memory of a full index by the hash provider at two sizes.

    python benchmarks/growth.py [CHUNKS ...]      default: 10000 100000

Repositories are made on the way: pages of twenty sections, and a hundred check-ins.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))
SECTIONS = 20


def make(path: Path, chunks: int) -> None:
    """A repository of about so many chunks."""
    env = {"PATH": os.environ["PATH"], "HOME": str(path.parent), "USER": "bench"}
    process = subprocess.Popen(["fossil", "import", "--git", "-f", str(path)], stdin=subprocess.PIPE, env=env, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    history(process.stdin.write, 100, (chunks - 100) // SECTIONS)
    process.stdin.close()
    if process.wait():
        raise RuntimeError("fossil import failed")


def history(write: Callable[[bytes], object], checkins: int, pages: int) -> None:
    """For `git fast-import`: the first check-in brings all pages."""

    def data(text: str) -> None:
        write(b"data %d\n%b\n" % (len(text), text.encode()))

    for number in range(checkins):
        write(b"commit refs/heads/trunk\ncommitter bench <bench> %d +0000\n" % (1_500_000_000 + 3600 * number))
        data(f"Commit number {number} changes thing {number * 13 % 997} and {number * 7 % 1009}")
        for page in range(0 if number else pages):
            write(b"M 100644 inline docs/%d/%d.md\n" % (page % 50, page))
            data("\n".join(f"# Section {page}-{k}\n\n" + " ".join(f"w{(page * 31 + k * 17 + j * j) % 5000}" for j in range(64)) + "\n"
                           for k in range(SECTIONS)))
        write(b"\n")


def peak(path: Path) -> tuple[str, float]:
    """(what the run said, megabytes)."""
    subprocess.run([VECSEARCH, "config", "provider", "hash", "-R", str(path)], check=True, capture_output=True)
    process = subprocess.Popen([VECSEARCH, "index", "-R", str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return said.split("\n")[0], usage.ru_maxrss / 1024


def main() -> None:
    """Print each size, and the ratio of the last to the first."""
    sizes = [int(size) for size in sys.argv[1:]] or [10_000, 100_000]
    peaks = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "growth.fossil"
            make(path, size)
            said, megabytes = peak(path)
            peaks.append(megabytes)
            print(f"{said}: peak {megabytes:.0f} MB", flush=True)
    print(f"ratio {peaks[-1] / peaks[0]:.2f}")


if __name__ == "__main__":
    main()
