"""Searches from 16 clients while check-ins arrive, the index runs and the worker is killed at random.

    python -m benchmarks.load [--minutes 10] [--clients 16] [--seed 8]

Every answer must be whole (200, JSON, the state that an index run leaves); a stranger must never be shown what only
the reader may see; a file that left the index must not be found by a request that begins after that run. Half of the clients
are logged in. Once a minute: memory and descriptors of the worker and of the server. Ends with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from vecsearch import resident
from vecsearch.install import worker_name

from . import served, synthetic

#: What only who is logged in may read here; the stranger has `o`.
CLOSED = {"wiki", "ticket", "technote", "forum"}
WORDS = synthetic.words(8000)


class Load:
    """What all threads share."""

    def __init__(self, site: served.Site, checkout: Path, cookie: str, seed: int, kill: float):
        self.site, self.checkout, self.cookie = site, checkout, cookie
        self.chance = random.Random(seed)
        self.kill = kill
        self.stop = threading.Event()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.slowest = 0.0
        #: word -> when the index run that removed its file had ended; word -> when the one that brought it had.
        self.gone: dict[str, float] = {}
        self.here: dict[str, float] = {}

    def client(self, number: int) -> None:
        chance, reader = random.Random(number), number % 2 == 0
        headers = served.BROWSER | ({"Cookie": self.cookie} if reader else {})
        while not self.stop.is_set():
            recent = [*list(self.gone)[-5:], *list(self.here)[-5:]]
            query = chance.choice(recent) if recent and chance.random() < 0.4 else " ".join(chance.choices(WORDS[:400], k=2))
            gone, here = self.gone.get(query), self.here.get(query)
            begun = time.monotonic()
            try:
                status, body = self.site.ask(served.our_search(query) + "&k=50", headers)
                self.check(query, status, body, reader, begun, gone, here)
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                self.faults.append(f"{query}: {type(error).__name__}: {error}")
            self.slowest = max(self.slowest, time.monotonic() - begun)

    def check(self, query: str, status: int, body: bytes, reader: bool, begun: float, gone: float | None, here: float | None) -> None:
        if status != 200:
            raise ValueError(f"status {status}: {body[:200]!r}")
        said = json.loads(body)
        if said["state"] not in ("ok", "stale"):
            raise ValueError(f"state {said['state']}: {said.get('message')}")
        kinds = {hit["kind"] for hit in said["hits"]} | set(said["facets"])
        if not reader and kinds & CLOSED:
            self.faults.append(f"{query}: a stranger was shown {kinds & CLOSED}")
        holding = [hit["path"] for hit in said["hits"] if query in hit["text"] and hit["kind"] == "doc"]
        if gone is not None and begun > gone and holding:
            self.faults.append(f"{query}: {holding} left the index {begun - gone:.1f} s before")
        if gone is None and here is not None and begun > here and query not in self.gone and not holding:
            self.faults.append(f"{query}: came {begun - here:.1f} s before and is not found")
        self.counts["reader" if reader else "stranger"] += 1
        self.counts["reader saw closed kinds"] += reader and bool(kinds & CLOSED)

    def commits(self, repository: Path) -> None:
        """A file with a word of its own comes, the one before it leaves; an index run after each check-in."""
        number, last = 0, ""
        while not self.stop.is_set():
            number += 1
            word = f"arrival{number}q{self.chance.randrange(10**6)}"
            (self.checkout / f"docs/{word}.md").write_text(f"# About {word}\n\nThe {word} is here.\n")
            served.run("fossil", "add", f"docs/{word}.md", cwd=self.checkout)
            if last:
                served.run("fossil", "rm", "--hard", f"docs/{last}.md", cwd=self.checkout)
                self.here.pop(last)
            self.commit(f"turn {number}")
            served.run(served.VECSEARCH, "index", "-R", repository)
            if last:
                self.gone[last] = time.monotonic()
            self.here[word], last = time.monotonic(), word
            self.counts["check-ins"] += 1

    def commit(self, comment: str) -> None:
        """Fossil gives up at once where two of its own processes want to write: again, as a person would."""
        for attempt in range(20):
            try:
                served.run("fossil", "commit", "--no-warnings", "-m", comment, cwd=self.checkout)
                return
            except subprocess.CalledProcessError as error:
                if "locked" not in error.stderr or attempt == 19:
                    raise
                self.counts["commits tried again"] += 1
                time.sleep(self.chance.uniform(0.1, 0.5))

    def killer(self) -> None:
        worker = worker_name()
        while self.kill and not self.stop.wait(self.chance.uniform(1, self.kill)):
            found = resident.state(worker)
            with suppress(ProcessLookupError):
                if found:
                    os.kill(found["pid"], signal.SIGKILL)
                    self.counts["kills"] += 1


def used(pid: int) -> str:
    """Megabytes of its own and open descriptors of a process."""
    with suppress(OSError):
        kilobytes = int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
        return f"{kilobytes >> 10} MB, {len(os.listdir(f'/proc/{pid}/fd'))} descriptors"
    return "none"


def login(site: served.Site) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    form = urllib.parse.urlencode({"u": "ida", "p": "secret", "in": "Login"})
    connection.request("POST", "/login", form, served.BROWSER | {"Content-Type": "application/x-www-form-urlencoded"})
    reply = connection.getresponse()
    reply.read()
    connection.close()
    cookies = [re.match("[^;]*", value)[0] for name, value in reply.getheaders() if name.lower() == "set-cookie"]
    if not cookies:
        raise SystemExit("could not log in")
    return "; ".join(cookies)


def prepare(folder: Path) -> tuple[Path, Path]:
    """(repository, check-out): 2,000 check-ins, 300 documents, and wiki pages that strangers may not read."""
    repository = synthetic.repository(folder / "load.fossil", 2000, 300, 3)
    served.run("fossil", "user", "new", "ida", "ida@example.org", "secret", "-R", repository)
    served.run("fossil", "user", "capabilities", "ida", "jorw2", "-R", repository)
    served.run("fossil", "user", "capabilities", "nobody", "o", "-R", repository)
    checkout = folder / "checkout"
    checkout.mkdir()
    served.run("fossil", "open", "--force", repository, cwd=checkout)
    for number in range(20):
        page = folder / "page.md"
        page.write_text(synthetic.text(random.Random(number), WORDS[:400], 2))
        served.run("fossil", "wiki", "create", f"Page {number}", page, "--mimetype", "markdown", "-R", repository)
    served.run(served.VECSEARCH, "index", "-R", repository)
    return repository, checkout


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--kill", type=float, default=6, metavar="SECONDS", help="the longest time between two kills of the worker; 0: none")
    parser.add_argument("--seed", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository, checkout = prepare(folder)
        with served.serving(repository, folder) as site:
            load = Load(site, checkout, login(site), options.seed, options.kill)
            work = [lambda n=n: load.client(n) for n in range(options.clients)] + [lambda: load.commits(repository), load.killer]
            threads = [threading.Thread(target=_noting(load, task)) for task in work]
            begun = time.monotonic()
            for thread in threads:
                thread.start()
            while (passed := time.monotonic() - begun) < options.minutes * 60:
                time.sleep(min(30, options.minutes * 60 - passed + 0.1))
                found = resident.state(worker_name())
                print(f"{time.monotonic() - begun:4.0f} s: {dict(load.counts)}, faults {len(load.faults)}, slowest {load.slowest:.1f} s; "
                      f"server {used(site.pid)}; worker {used(found['pid']) if found else 'none'}", flush=True)
            load.stop.set()
            for thread in threads:
                thread.join()
        for fault in load.faults[:20]:
            print(fault)
        log = (folder / "server.log").read_text("utf-8", "replace")
        print(f"{sum(load.counts[who] for who in ('reader', 'stranger'))} answers, {len(load.faults)} faults, {log.count('Traceback')} tracebacks in the server's log")
        sys.exit(bool(load.faults) or "Traceback" in log)


def _noting(load: Load, task: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            task()
        except subprocess.CalledProcessError as error:
            load.faults.append(f"{error.cmd}: {error.stderr.strip()[-300:]}")

    return run


if __name__ == "__main__":
    main()
