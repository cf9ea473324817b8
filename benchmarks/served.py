"""A real `fossil server` with our launchers beside a bare one, and clients that ask it."""

from __future__ import annotations

import http.client
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))
BARE = f"#!{sys.executable} -I\nimport flask, numpy\nprint('Content-Type: application/json\\n\\n{{}}')\n"
#: Without a browser's name Fossil takes the visitor for a robot.
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0"}


def run(*command: object, cwd: Path | None = None) -> str:
    env = {**os.environ, "USER": "bench", "HOME": str(cwd or "/tmp")}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


def prepared(repository: Path, folder: Path, *, code: bool = True) -> Path:
    """A copy that everybody may read, indexed by us and by Fossil, over the same files: those that hold a chunk of ours. Without `code`
    Fossil's documents are those that are documentation by their names."""
    copy = folder / ("bench.fossil" if code else "documentation.fossil")
    shutil.copy(repository, copy)
    run(VECSEARCH, "index", "-R", copy)
    with closing(sqlite3.connect(copy)) as db:
        files = [Path(path) for (path,) in db.execute("SELECT DISTINCT path FROM fx_vec_chunk WHERE project='' AND path NOT NULL AND kind IN ('doc', 'code', 'instruction')")]
        globs = ",".join(sorted({f"*{file.suffix}" if file.suffix else str(file) for file in files if "," not in file.name})) if code else "*.md,*.wiki,*.txt"
        db.execute("UPDATE user SET cap='gjorz2' WHERE login='nobody'")
        db.execute("INSERT OR REPLACE INTO config(name, value, mtime) VALUES('doc-glob', ?, 0)", (globs,))
        db.commit()
    run("fossil", "fts-config", "enable", "cdtwe", "-R", copy)
    run("fossil", "fts-config", "index", "on", "-R", copy)
    run("fossil", "fts-config", "reindex", "-R", copy)
    return copy


def questions(repository: Path, count: int, length: int) -> list[str]:
    """So many words that stand together in a check-in comment, none twice: what both searches can find."""
    with closing(sqlite3.connect(repository)) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        comments = [row[0] for row in db.execute("SELECT coalesce(ecomment, comment) FROM event WHERE type='ci' ORDER BY objid")]
    chance, found = random.Random(8 + length), {}
    while len(found) < count:
        words = [word for word in re.findall(r"[A-Za-z]{4,12}", chance.choice(comments)) if word.islower()]
        if len(words) >= 4:
            first = chance.randrange(len(words) - length + 1)
            found[" ".join(words[first : first + length])] = True
    return list(found)


class Site:
    """Where the server listens, and its process."""

    def __init__(self, port: int, pid: int):
        self.port, self.pid = port, pid

    def ask(self, path: str, headers: dict[str, str] = BROWSER) -> tuple[int, bytes]:
        """(status, body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request("GET", path, headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def seconds(self, path: str) -> float:
        begun = time.perf_counter()
        status, body = self.ask(path)
        assert status == 200, (path, status, body[:500])
        return time.perf_counter() - begun


@contextmanager
def serving(repository: Path, folder: Path, name: str = "ext") -> Iterator[Site]:
    """/ext/search with a worker, /ext/alone without, /ext/bare only imports flask and numpy. `name`: of the folder with these."""
    extroot = folder / name
    extroot.mkdir(exist_ok=True)
    run(VECSEARCH, "install", "--extroot", extroot, "-R", repository)
    run(VECSEARCH, "install", "--extroot", extroot, "--name", "alone", "--no-worker", "-R", repository)
    (extroot / "bare").write_text(BARE)
    (extroot / "bare").chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["fossil", "server", "--localhost", "--nojail", "--port", str(port), "--extroot", str(extroot), str(repository)]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env={"PATH": os.environ["PATH"], "HOME": str(folder), "USER": "bench"})
        try:
            for _ in range(100):
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield Site(port, process.pid)
        finally:
            process.kill()
            process.wait()
            run(VECSEARCH, "worker", "stop")


def fossil_search(query: str) -> str:
    return "/search?" + urlencode({"s": query, "y": "all"})


def our_search(query: str, form: str = "json", name: str = "search") -> str:
    return f"/ext/{name}?" + urlencode({"q": query, "format": form})


def seconds(columns: Sequence[Sequence[tuple[Site, str]]]) -> list[list[float]]:
    """How long each address of each column took, asked in turns."""
    times: list[list[float]] = [[] for _ in columns]
    for row in zip(*columns, strict=True):
        for place, (site, path) in zip(times, row, strict=True):
            place.append(site.seconds(path))
    return times


def per_second(site: Site, paths: Sequence[str], clients: int, seconds: float) -> float:
    """Answers per second to so many clients at once, each with questions of its own."""
    end, done = time.monotonic() + seconds, [0] * clients

    def client(number: int) -> None:
        at = number
        while time.monotonic() < end:
            site.seconds(paths[at % len(paths)])
            done[number] += 1
            at += clients

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begun)
