"""`vecsearch watch`: what changed is found within 5 seconds, a storm costs few runs, a kill loses nothing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from conftest import VECSEARCH

from vecsearch import lock, watch
from vecsearch.folder import repositories
from vecsearch.fossil.repository import change_mark, open_readonly

#: On a machine that does nothing else the promise is 5 seconds; the suite shares its processors.
PATIENCE = 20.0


def until(true, seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def current(path: Path) -> bool:
    """Whether the index knows all that the repository holds."""
    with closing(open_readonly(path)) as db:
        try:
            row = db.execute("SELECT value FROM fx_vec_mark WHERE name='change'").fetchone()
        except sqlite3.OperationalError:
            return False
        return row is not None and row[0] == change_mark(db)


def write_wiki(fossil, path: Path, name: str, text: str) -> None:
    page = path.with_name(f"{name}.md")
    page.write_text(text)
    fossil("wiki", "create", name, page, "-R", path)


@pytest.fixture
def watching(tmp_path):
    """Start `vecsearch watch TARGET`; killed at the end if it still runs."""
    started = []

    def start(*args: object) -> subprocess.Popen:
        log = (tmp_path / "watch.log").open("ab")
        started.append(subprocess.Popen([VECSEARCH, "watch", *map(str, args)], stderr=log, stdout=log))
        log.close()
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def runs(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if " index " in line] if log.exists() else []


def test_a_watcher_makes_the_first_index_sees_changes_and_drains_on_sigterm(demo, fossil, watching):
    process = watching(demo)
    assert until(lambda: current(demo))
    write_wiki(fossil, demo, "zanzibarite", "A mineral.")
    assert not current(demo) and until(lambda: current(demo))
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_a_signal_ends_the_watcher_whatever_it_is_doing():
    """Two hundred times, each at a moment of its own."""
    code = """if True:
        import os, random, signal, threading
        from vecsearch import watch
        watch.POLL = 0
        for _ in range(200):
            end = threading.Timer(random.random() / 100, os.kill, [os.getpid(), signal.SIGTERM])
            watch.Watcher(lambda: end.start() or [], print).go()  # it looks for repositories once it minds signals
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_storm_costs_few_runs_and_a_killed_watcher_loses_nothing(indexed, vecsearch, watching, tmp_path):
    log = tmp_path / "runs.log"
    vecsearch("config", "-R", indexed, "log", log, check=True)
    process = watching(indexed)
    assert until(lambda: len(runs(log)) == 1)
    with closing(sqlite3.connect(indexed, isolation_level=None, timeout=30)) as db:
        started = time.monotonic()
        for number in range(100):
            db.execute("INSERT INTO shun VALUES(?, 1, 'storm')", (f"{number:040x}",))
            time.sleep(0.03)
        lasted = time.monotonic() - started
    assert until(lambda: current(indexed))
    assert len(runs(log)) <= 3 + lasted / watch.AT_MOST
    process.kill()
    process.wait()
    with closing(sqlite3.connect(indexed, isolation_level=None, timeout=30)) as db:
        db.execute("DELETE FROM shun")
    assert not current(indexed)
    watching(indexed)
    assert until(lambda: current(indexed))


def test_a_folder_is_watched_and_what_comes_later_too(demo, watching, tmp_path):
    folder = tmp_path / "many"
    (folder / "deeper").mkdir(parents=True)
    shutil.copy(demo, folder / "one.fossil")
    shutil.copy(demo, folder / "deeper/two.fossil")
    (folder / ".hidden.fossil").write_text("x")
    (folder / "broken.fossil").write_text("x")
    assert repositories(folder) == [folder / "broken.fossil", folder / "deeper/two.fossil", folder / "one.fossil"]
    watching(folder)
    assert until(lambda: current(folder / "one.fossil") and current(folder / "deeper/two.fossil"))
    shutil.copy(demo, folder / "three.fossil")
    assert until(lambda: current(folder / "three.fossil"))
    assert re.search(r"^vecsearch: \S+/broken.fossil: this .*; next try in 5 s$", (tmp_path / "watch.log").read_text(), re.MULTILINE)


def test_index_all_does_each_and_names_what_failed(demo, vecsearch, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    shutil.copy(demo, folder / "one.fossil")
    (folder / "broken.fossil").write_text("x")
    done = vecsearch("index", "--all", folder)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "broken.fossil" in done.stderr and current(folder / "one.fossil")
    (folder / "broken.fossil").unlink()
    assert vecsearch("index", "--all", folder, check=True).stdout == f"{folder}/one.fossil: nothing to do: the index is current\n"
    assert vecsearch("index", "--all", tmp_path / "none").returncode == 2


class Ended:
    """A process that is over, for `reap`."""

    def __init__(self, code: int, said: bytes = b""):
        self.returncode = code
        read, write = os.pipe()
        os.write(write, said)
        os.close(write)
        self.stderr = os.fdopen(read, "rb")

    def poll(self) -> int:
        return self.returncode


def test_failed_runs_are_tried_again_ever_later():
    one, waits = watch.Watched(Path("x.fossil")), []
    for _ in range(9):
        one.changed, one.process = None, Ended(1, b"vecsearch: ollama: cannot reach it\n")
        assert one.reap(1000.0).startswith("x.fossil: ollama: cannot reach it; next try in ")
        assert not one.due(1000.0 + one.retry_at - 1000 - 0.1) and one.due(one.retry_at + watch.AT_MOST)
        waits.append(one.retry_at - 1000.0)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 600, 600]
    one.process = Ended(0)
    assert one.reap(2000.0) == "" and (one.retry_at, one.retry_after) == (0.0, watch.FIRST_RETRY)


@pytest.mark.parametrize(("changed", "last", "now", "due"), [
    (None, 0, 100, False), (10, 10, 10.1, False), (10, 10, 10.1 + watch.QUIET, True), (10, 12, 12.1, False), (10, 12.4, 10 + watch.AT_MOST, True),
])
def test_a_run_waits_for_silence_but_not_for_ever(changed, last, now, due):
    assert watch.Watched(Path("x"), changed=changed, last=last).due(now) is due


def test_a_lock_is_held_by_one_and_gone_with_its_holder(tmp_path):
    path = tmp_path / "x.fossil"
    path.write_bytes(b"")
    code = f"from pathlib import Path; from vecsearch import lock; import time\nwith lock.exclusive(Path({str(path)!r}), 'run') as had: print(had, flush=True); time.sleep(60)"
    holder = subprocess.Popen([VECSEARCH.replace("/vecsearch", "/python3"), "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "True\n"
    assert not lock.is_free(path, "run") and lock.is_free(path, "watch")
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert lock.is_free(path, "run")
    assert [p.name for p in tmp_path.iterdir()] == ["x.fossil"]


def test_a_log_line_per_run_and_per_failed_request_cannot_be_forged(indexed, vecsearch, tmp_path):
    from vecsearch.log import Log

    log = tmp_path / "vecsearch.log"
    assert vecsearch("config", "-R", indexed, "log", "relative.log").returncode == 2
    vecsearch("config", "-R", indexed, "log", log, check=True)
    vecsearch("index", "-R", indexed, check=True)
    Log.of(indexed).request_failed(500, "a\nforged line", "secret words")
    Log.of(indexed).request_failed(400, 'there is no kind "secret "words""; kinds are: doc', "secret words")
    vecsearch("config", "-R", indexed, "log-queries", "yes", check=True)
    Log.of(indexed).request_failed(400, "bad", "shown words")
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time_) for time_, _ in lines)
    assert re.fullmatch(r"index demo.fossil artifacts=0 .* checkin=[0-9a-f]{16} seconds=\d+\.\d", lines[0][1])
    assert [text for _, text in lines[1:]] == ['request demo.fossil status=500 message="a\\nforged line"',
                                             'request demo.fossil status=400 message="there is no kind \\"...\\"; kinds are: doc"',
                                             'request demo.fossil status=400 message=bad query="shown words"']
    assert log.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["/dev/full", "/nowhere/at/all.log", "/dev/null/x"])
def test_no_fault_of_a_log_stops_a_run(indexed, vecsearch, name):
    vecsearch("config", "-R", indexed, "log", name, check=True)
    done = vecsearch("index", "-R", indexed)
    assert done.returncode == 0 and f"cannot log to {name}" in done.stderr and "Traceback" not in done.stderr


def test_a_folder_that_goes_away_is_waited_for(tmp_path):
    (tmp_path / "many").mkdir()
    said: list[str] = []
    watcher = watch.Watcher(lambda: repositories(tmp_path / "many"), said.append)
    watcher._rescan()
    (tmp_path / "many").rmdir()
    for _ in range(3):
        watcher._rescan()
    assert len(said) == 1 and "is no directory; looking again every" in said[0]
    (tmp_path / "many").mkdir()
    watcher._rescan()
    assert watcher.fault == ""
