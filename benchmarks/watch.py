"""How soon a change is found, what a storm costs, what fifty repositories cost.

    python benchmarks/watch.py latency    seconds from each kind of change to its hit at /ext/search, by hook and by watch
    python benchmarks/watch.py cold       the same by hook, each change in a repository where no hook has run before, 4 s after a page was viewed
    python benchmarks/watch.py storm      1,000 check-ins, one after the other: index runs, and how long after the last it is current
    python benchmarks/watch.py fifty      memory and processor time of one watcher over 50 repositories
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from serve import FossilServer  # noqa: E402

from vecsearch.fossil.repository import change_mark, open_readonly  # noqa: E402

VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))


def run(*command: object, cwd: Path | None = None) -> str:
    env = {**os.environ, "USER": "ann", "HOME": tempfile.gettempdir()}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


def current(path: Path) -> bool:
    with closing(open_readonly(path)) as db:
        try:
            row = db.execute("SELECT value FROM fx_vec_mark WHERE name='change'").fetchone()
        except sqlite3.OperationalError:
            return False
        return row is not None and row[0] == change_mark(db)


def seconds_until(true: Callable[[], bool], limit: float = 120.0) -> float:
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > limit:
            return float("inf")
        time.sleep(0.05)
    return time.monotonic() - start


class Site:
    """The demo with everything open, an extension root, and a check-out."""

    def __init__(self, folder: Path):
        self.folder, self.path, self.extroot, self.work = folder, folder / "demo.fossil", folder / "ext", folder / "work"
        self.extroot.mkdir()
        self.work.mkdir()
        run(sys.executable, ROOT / "deploy/demo.py", self.path)
        with closing(sqlite3.connect(self.path)) as db:
            db.execute("UPDATE user SET cap='gijkorz234' WHERE login='nobody'")
            db.execute("INSERT OR REPLACE INTO config(name, value, mtime) VALUES('anon-login-enable-captcha', '0', 0)")
            db.commit()
        run("fossil", "user", "password", "ann", "pw", "-R", self.path)
        run(VECSEARCH, "index", "-R", self.path)
        run(VECSEARCH, "install", "--extroot", self.extroot, "-R", self.path)
        run("fossil", "open", self.path, "--workdir", self.work)

    def commit(self, word: str, server: FossilServer) -> None:
        (self.work / f"{word}.md").write_text(f"The {word} is a mineral.\n")
        run("fossil", "add", f"{word}.md", cwd=self.work)
        run("fossil", "commit", "--no-warnings", "-m", word, cwd=self.work)

    def wiki(self, word: str, server: FossilServer) -> None:
        page = self.folder / "page.md"
        page.write_text(f"The {word} is a mineral.\n")
        run("fossil", "wiki", "create", word, page, "-R", self.path)
        server.get("/wcontent")  # an editor in the browser sees the page; on the command line nothing follows

    def ticket(self, word: str, server: FossilServer) -> None:
        run("fossil", "ticket", "add", "title", f"The {word} is lost", "-R", self.path)
        server.get("/ticket")

    def forum(self, word: str, server: FossilServer) -> None:
        server.login("ann", "pw")
        # Fossil takes a form only from its own pages.
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(server.jar))
        opener.addheaders = [("User-Agent", "Mozilla/5.0 Firefox/128.0"), ("Referer", f"{server.base}/forumnew")]
        fields = {"title": f"Who has a {word}?", "content": f"The {word} was here.", "mimetype": "text/x-markdown", "submit": "Submit"}
        opener.open(f"{server.base}/forume1", urllib.parse.urlencode(fields).encode()).close()

    def sync(self, word: str, server: FossilServer) -> None:
        clone, page = self.folder / "clone.fossil", self.folder / "page.md"
        if not clone.exists():
            run("fossil", "clone", server.base, clone)
        page.write_text(f"The {word} is a mineral.\n")
        run("fossil", "wiki", "create", word, page, "-R", clone)
        run("fossil", "sync", "-R", clone)


def found(server: FossilServer, word: str) -> bool:
    _, body, _ = server.get("/ext/search?" + urllib.parse.urlencode({"q": word, "format": "json", "mode": "keyword"}))
    return any(word in hit["text"] or word in hit["title"] for hit in json.loads(body).get("hits", []))


def latency(folder: Path) -> None:
    print(f"{'':10}{'commit':>8}{'wiki':>8}{'ticket':>8}{'forum':>8}{'sync':>8}")
    for way in ("hook", "watch"):
        (folder / way).mkdir()
        site = Site(folder / way)
        watcher = None
        if way == "hook":
            run(VECSEARCH, "hook", "install", "-R", site.path)
        else:
            watcher = subprocess.Popen([VECSEARCH, "watch", str(site.path)])
            time.sleep(3)
        with FossilServer(site.path, site.extroot) as server:
            took = []
            for number, change in enumerate((site.commit, site.wiki, site.ticket, site.forum, site.sync)):
                word = f"{'zyxwv'[number]}anzibarite{way}"
                change(word, server)
                took.append(seconds_until(lambda: found(server, word), 30))
        print(f"{way:10}" + "".join(f"{seconds:8.1f}" for seconds in took), flush=True)
        if watcher:
            watcher.terminate()
            watcher.wait()


def cold(folder: Path) -> None:
    for number, name in enumerate(("commit", "wiki", "ticket", "forum", "sync")):
        (folder / name).mkdir()
        site, word = Site(folder / name), f"{'zyxwv'[number]}anzibaritecold"
        run(VECSEARCH, "hook", "install", "-R", site.path)
        with FossilServer(site.path, site.extroot) as server:
            server.get("/timeline")
            time.sleep(4)
            getattr(site, name)(word, server)
            print(f"{name:10}{seconds_until(lambda: found(server, word), 30):8.1f}", flush=True)


def storm(folder: Path) -> None:
    site, log = Site(folder), folder / "runs.log"
    run(VECSEARCH, "config", "-R", site.path, "log", log)
    watcher = subprocess.Popen([VECSEARCH, "watch", str(site.path)])
    time.sleep(3)
    started = time.monotonic()
    for number in range(1000):
        run("fossil", "commit", "--no-warnings", "--allow-empty", "-m", f"Storm {number}", cwd=site.work)
    lasted = time.monotonic() - started
    after = seconds_until(lambda: current(site.path))
    lines = log.read_text().splitlines()
    print(f"1000 check-ins in {lasted:.0f} s: {len(lines)} index runs, current {after:.1f} s after the last")
    watcher.terminate()
    watcher.wait()


def tree_rss(pid: int) -> int:
    """kB of resident memory of a process and its children; pages that they share are counted twice."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout.splitlines()
    table = {int(row[0]): (int(row[1]), int(row[2])) for row in map(str.split, listed)}
    return sum(rss for process, (parent, rss) in table.items() if pid in (process, parent))


def fifty(folder: Path) -> None:
    one, many = folder / "one.fossil", folder / "many"
    many.mkdir()
    run(sys.executable, ROOT / "deploy/demo.py", one)
    paths = [Path(shutil.copy(one, many / f"r{number:02}.fossil")) for number in range(50)]
    watcher = subprocess.Popen([VECSEARCH, "watch", str(many)])
    peak = 0

    def all_current() -> bool:
        nonlocal peak
        peak = max(peak, tree_rss(watcher.pid))
        return all(current(path) for path in paths)

    took = seconds_until(all_current, 300)
    print(f"50 repositories without an index: all current after {took:.0f} s, peak {peak >> 10} MB with the runs")
    time.sleep(3)
    ticks = cpu(watcher.pid)
    time.sleep(20)
    print(f"at rest: {tree_rss(watcher.pid) >> 10} MB, {(cpu(watcher.pid) - ticks) / 20:.1%} of one processor")
    run("fossil", "wiki", "create", "late", one.with_name("page.md") if one.with_name("page.md").write_text("Late.") else "", "-R", paths[25])
    print(f"a change in one of them: current after {seconds_until(all_current):.1f} s, peak {peak >> 10} MB")
    watcher.terminate()
    watcher.wait()


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        {"latency": latency, "cold": cold, "storm": storm, "fifty": fifty}[sys.argv[1]](Path(scratch))
