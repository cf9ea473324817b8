"""Download the packages of sources.tsv: `python -m training.fetch DIR`.

One archive per package below DIR/ECOSYSTEM/PACKAGE/. What is there already is kept, so a broken
run goes on where it stopped. A package whose version is blank is taken at its newest.
Debian needs `deb-src` lines in the sources of apt.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).with_name("sources.tsv")
TIMEOUT = 240  # seconds a package may take; the largest are about 100 MB


def read_sources(path: Path = SOURCES) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def folder(root: Path, source: dict[str, str]) -> Path:
    return root / source["ecosystem"] / source["package"].replace("/", "__")


def command(source: dict[str, str]) -> list[str]:
    name, version = source["package"], source["version"]
    if source["ecosystem"] == "debian":
        return ["apt-get", "source", "-qq", "--download-only", f"{name}={version}" if version else name]
    if source["ecosystem"] == "debian-doc":
        return ["apt-get", "download", "-qq", f"{name}={version}"]
    if source["ecosystem"] == "npm":
        return ["npm", "pack", "--silent", f"{name}@{version}" if version else name]
    wanted = f"{name}=={version}" if version else name
    return [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", wanted]


def fetch(root: Path, source: dict[str, str]) -> str:
    """The reason why a package could not be had; empty when it is there."""
    target = folder(root, source)
    done = target / ".done"
    if done.exists():
        return ""
    target.mkdir(parents=True, exist_ok=True)
    try:
        run = subprocess.run(command(source), cwd=target, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"{source['package']}: no answer within {TIMEOUT} s"
    if run.returncode:
        return f"{source['package']}: {run.stderr.strip().splitlines()[-1:]}"
    done.touch()
    return ""


def main(root: Path) -> None:
    sources = read_sources()
    with ThreadPoolExecutor(6) as pool:
        failures = [why for why in pool.map(lambda s: fetch(root, s), sources) if why]
    print(f"{len(sources) - len(failures)} packages in {root}")
    for why in failures:
        print("  without", why)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
