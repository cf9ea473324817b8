"""The resident worker: the same answers as without it, whatever happens to it, and for nobody but the visitor."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlencode

import pytest
from conftest import ROOT, VECSEARCH
from serve import FossilServer

from vecsearch import resident
from vecsearch.install import try_launcher

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
IMPORT = "from vecsearch.worker.shim import main"


class Launcher:
    """An installed launcher whose worker no other test shares; CGI requests straight to it."""

    def __init__(self, folder: Path, repository: Path, installed: Path):
        self.repository, self.extroot = repository, folder / "ext"
        self.extroot.mkdir()
        shutil.copy(installed, self.extroot)
        self.path = self.extroot / "search"
        self.worker = f"test{os.getpid()}x{time.monotonic_ns()}"
        self.change("(?m)^worker=.*$", f"worker={self.worker}")

    def change(self, old: str, new: str) -> None:
        text = self.path.read_text()
        assert re.search(old, text)
        self.path.write_text(re.sub(old, lambda _: new, text))

    def change_shims(self, folder: Path, place: Path | None = None, patience: int = 10, silent: float = 5.0) -> None:
        """Both shims look for the worker's folder elsewhere, or wait for less time."""
        where = f"resident._path = lambda user: {json.dumps(str(place))}; " if place else ""
        self.change(IMPORT, f"from vecsearch.worker import shim; resident = shim.resident; {where}"
                            f"shim.PATIENCE = {patience}; resident.SILENT = {silent}; {IMPORT}")
        asker = (ROOT / "vecsearch/worker/ask.pl").read_text()
        for old, new in (("(10, 5);", f"({patience}, {silent});"), ('"/tmp/vecsearch-$>"', json.dumps(str(place)) if place else '"/tmp/vecsearch-$>"')):
            assert old in asker
            asker = asker.replace(old, new)
        (folder / "ask.pl").write_text(asker)
        self.change(r'"\$1/vecsearch/worker/ask.pl"', str(folder / "ask.pl"))

    def ask(self, query: str = "q=restore", *, worker: bool = True, body: bytes = b"", **environ: str) -> subprocess.CompletedProcess:
        facts = {"FOSSIL_REPOSITORY": str(self.repository), "REQUEST_METHOD": "POST" if body else "GET", "QUERY_STRING": query, "SERVER_NAME": "localhost",
                 "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.0", "SCRIPT_NAME": "/ext/search", "PATH_INFO": "", "FOSSIL_NONCE": "n0nce",
                 "CONTENT_LENGTH": str(len(body)), **environ} | ({} if worker else {"VECSEARCH_WORKER": "off"})
        return subprocess.run([self.path], env=facts, input=body, capture_output=True, timeout=60, check=True)

    def wake(self) -> int:
        """The process of the worker, started if need be."""
        for _ in range(200):
            if found := resident.state(self.worker):
                return found["pid"]
            self.ask("format=opensearch")
            time.sleep(0.1)
        raise AssertionError("no worker came up")

    @property
    def socket(self) -> Path:
        return Path(resident.folder()) / self.worker

    def end(self) -> None:
        with suppress(TypeError, ProcessLookupError):
            os.kill(resident.state(self.worker)["pid"], signal.SIGKILL)
        for file in Path(resident.folder()).glob(f"{self.worker}*"):
            file.unlink()


@pytest.fixture(scope="module")
def installed(tmp_path_factory, demo_indexed) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([VECSEARCH, "install", "--extroot", str(folder), "-R", str(demo_indexed)], check=True, capture_output=True)
    return folder / "search"


@pytest.fixture
def launcher(tmp_path, indexed, installed) -> Iterator[Launcher]:
    everything(indexed)
    made = Launcher(tmp_path, indexed, installed)
    yield made
    made.end()


@pytest.fixture(params=["perl", "python"])
def either(launcher, request) -> Launcher:
    """The launcher with each of the two ways to the worker."""
    found = re.search("(?m)^perl=(.+)$", launcher.path.read_text())
    if request.param == "python":
        launcher.change("(?m)^perl=.*$", "perl=")
    elif not found:
        pytest.skip("no perl here")
    return launcher


def everything(path: Path, nobody: str = "gjorz2") -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE user SET cap=? WHERE login='nobody'", (nobody,))
        db.commit()


def stable(answer: bytes) -> str:
    """Without what differs between two answers of the same process: how long it took, and when it was."""
    text = re.sub(rb'"took_ms": \{[^}]*\}', b"", answer).decode()
    return re.sub(r"(?m)^(Content-Length|Date): .*$", "", text)


def test_the_bytes_are_the_same(either):
    asked = [("q=restore&format=json&explain=1", {}), ("q=restore&format=atom", {}), ("q=re&format=suggest", {}),
             ("q=%FF\xff&kind=wiki&k=2", {"FOSSIL_URI": "/demo"}), ("k=abc&format=json", {}), ("", {"PATH_INFO": "/map"}), ("", {"REQUEST_METHOD": "PUT"}),
             ("", {"PATH_INFO": "/mcp", "body": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'}), ("q=x", {"FOSSIL_REPOSITORY": "/nowhere"})]
    without = [either.ask(query, worker=False, **more) for query, more in asked]
    either.wake()
    served = resident.state(either.worker)["requests"]
    for (query, more), alone in zip(asked, without, strict=True):
        warm = either.ask(query, **more)
        assert (stable(warm.stdout), stable(warm.stderr)) == (stable(alone.stdout), stable(alone.stderr)), (query, more)
    assert resident.state(either.worker)["requests"] == served + len(asked) - 1  # it does not see the one that is nowhere


def test_the_first_request_starts_it_and_waits_neither_for_it_nor_for_its_pipes(launcher):
    request = b"GET /ext/search?q=restore&format=json HTTP/1.0\r\nHost: localhost\r\n\r\n"
    done = subprocess.run(["fossil", "http", "--nojail", "--extroot", launcher.extroot, launcher.repository], input=request, capture_output=True, timeout=60, check=True)
    assert b'"hits": [' in done.stdout
    pid = launcher.wake()
    assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"}
    assert b"FOSSIL_" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_sixteen_first_requests_start_one(launcher):
    threads = [threading.Thread(target=launcher.ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pid = launcher.wake()
    mine = [path for path in Path("/proc").glob("[0-9]*/cmdline") if launcher.worker.encode() in read(path)]
    assert [int(path.parent.name) for path in mine] == [pid]


def read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def test_killed_at_any_moment_no_answer_fails(either):
    wanted = stable(either.ask(worker=False).stdout)
    for wait in (0.005, 0.02):
        pid = either.wake()
        threading.Timer(wait, os.kill, (pid, signal.SIGKILL)).start()
        for _ in range(3):
            assert stable(either.ask().stdout) == wanted
    assert either.wake() != pid


def stale(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def reply_once(listening: socket.socket, reply: bytes) -> None:
    listening.settimeout(20)
    with listening, suppress(OSError), listening.accept()[0] as connection:
        connection.recv(1 << 16)
        connection.sendall(reply)


def answering(reply: bytes, user: int | None = None) -> Callable[[Path], None]:
    def serve(path: Path) -> None:
        """Somebody else at the socket; the kernel notes who it was at listen()."""
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            if user is not None:
                os.seteuid(user)
            listening.listen(8)
            if user is not None:
                os.seteuid(0)
            threading.Thread(target=reply_once, args=(listening.dup(), reply), daemon=True).start()
    return serve


FORGED = b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\nX-Errors: 0\r\n\r\nforged"


@pytest.mark.parametrize("plant", [
    stale, lambda path: path.write_text("no socket"), lambda path: path.symlink_to("/nowhere"), lambda path: path.mkdir(),
    answering(FORGED.replace(b"200", b"503")), answering(FORGED[:-2]), answering(b"nonsense"), answering(b""),
    pytest.param(answering(FORGED, pwd.getpwnam("nobody").pw_uid), marks=as_root),
], ids=["stale socket", "file", "link to nowhere", "folder", "refusal", "half an answer", "no HTTP", "nothing", "another user"])
def test_what_is_not_our_worker_is_not_believed(either, plant):
    wanted = stable(either.ask(worker=False).stdout)
    plant(either.socket)
    try:
        assert stable(either.ask().stdout) == wanted
    finally:
        if either.socket.is_dir() and not either.socket.is_symlink():
            either.socket.rmdir()


def linked(place: Path) -> None:
    place.with_name("elsewhere").mkdir(0o700)
    place.symlink_to(place.with_name("elsewhere"))


def of_another(place: Path) -> None:
    place.mkdir(0o700)
    os.chown(place, pwd.getpwnam("nobody").pw_uid, -1)


@pytest.mark.parametrize("plant", [
    linked, lambda place: place.mkdir(0o755), lambda place: place.write_text(""), lambda place: place.parent.rename(place.parent.with_name("gone")),
    pytest.param(of_another, marks=as_root),
], ids=["symbolic link", "open to others", "a file", "cannot be made", "another user's"])
def test_a_folder_that_is_not_surely_ours_is_not_used(either, tmp_path, plant):
    place = tmp_path / "run" / "vecsearch"
    place.parent.mkdir()
    plant(place)
    either.change_shims(tmp_path, place)
    for _ in range(2):
        assert b'"hits": [{' in either.ask("q=restore&format=json").stdout
    assert not place.is_dir() or list(place.iterdir()) == []


def test_only_one_visitor_waits_for_a_worker_that_hangs(either, tmp_path):
    pid = either.wake()
    either.change_shims(tmp_path, patience=1, silent=0.5)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert b"vs-hit" in either.ask().stdout
        assert not either.socket.exists()
        assert b"vs-hit" in either.ask().stdout
    finally:
        os.kill(pid, signal.SIGCONT)
    gone(pid)  # it sees that its socket is gone
    assert either.wake() != pid


def gone(pid: int) -> None:
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or b"\nState:\tZ" in read(Path(f"/proc/{pid}/status")):
            return
        time.sleep(0.1)
    raise AssertionError("the old worker is still there")


def test_other_code_is_another_worker(launcher, tmp_path):
    library = tmp_path / "library"
    for name in ("vecsearch", "templates", "static"):
        shutil.copytree(ROOT / name, library / name, ignore=shutil.ignore_patterns("__pycache__"))
    launcher.change("(?m)^set -- .*$", f"set -- {library}")
    pid = launcher.wake()
    style = library / "static/search.css"
    style.write_text(style.read_text() + "/* Of the new version. */")
    assert b"Of the new version." in launcher.ask().stdout
    gone(pid)
    assert launcher.wake() != pid
    assert b"Of the new version." in launcher.ask().stdout


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_each_change_is_noticed_at_once(launcher, vecsearch, fossil, tmp_path, journal):
    repository = launcher.repository
    with closing(sqlite3.connect(repository)) as db:
        db.execute(f"PRAGMA journal_mode={journal}")
    launcher.wake()

    def found(word: str) -> list[str]:
        answer = launcher.ask(f"q={word}&format=json&mode=keyword").stdout
        return [hit["path"] for hit in json.loads(answer.split(b"\n\n" if b"\r" not in answer else b"\r\n\r\n", 1)[1])["hits"]]

    checkout = tmp_path / "checkout"
    checkout.mkdir()
    fossil("open", repository, cwd=checkout)
    assert found("quokka") == []
    (checkout / "quokka.md").write_text("# Quokka\n\nThe quokka smiles.\n")
    fossil("add", "quokka.md", cwd=checkout)
    fossil("commit", "--no-warnings", "-m", "An animal", cwd=checkout)
    vecsearch("index", "-R", repository, check=True)
    assert found("quokka")[0] == "quokka.md"
    fossil("rm", "--hard", "quokka.md", cwd=checkout)
    fossil("commit", "--no-warnings", "-m", "None", cwd=checkout)
    vecsearch("index", "-R", repository, check=True)
    assert "quokka.md" not in found("quokka")
    everything(repository, nobody="")
    assert found("restore") == []
    everything(repository)
    assert found("restore")
    shutil.copy(repository, tmp_path / "other.fossil")  # another file takes the place of the one that is open
    ours = "SELECT name FROM sqlite_schema WHERE type='table' AND name GLOB 'fx_vec_*' AND name NOT GLOB 'fx_vec_fts_*'"
    with closing(sqlite3.connect(tmp_path / "other.fossil", isolation_level=None)) as db:
        for (name,) in db.execute(ours).fetchall():
            db.execute(f"DROP TABLE {name}")
    (tmp_path / "other.fossil").rename(repository)
    for beside in ("-wal", "-shm"):  # a log belongs to the file that it was written for
        Path(f"{repository}{beside}").unlink(missing_ok=True)
    assert b'"state": "no_index"' in launcher.ask("q=restore&format=json").stdout


def test_two_visitors_at_once_get_each_their_own(either, fossil):
    everything(either.repository, nobody="o")
    fossil("user", "new", "ida", "ida@example.org", "secret", "-R", either.repository)
    fossil("user", "capabilities", "ida", "jorw2", "-R", either.repository)
    either.wake()
    seen: dict[str, set[str]] = {"stranger": set(), "reader": set()}
    with FossilServer(either.repository, either.extroot) as stranger:
        reader = FossilServer.__new__(FossilServer)
        reader.base, reader.jar = stranger.base, type(stranger.jar)()
        reader.login("ida", "secret")

        def visit(name: str, server: FossilServer) -> None:
            for query in ("restore", "disk full", "Buchhaltung", "release", "backup") * 2:
                _, body, _ = server.get("/ext/search?" + urlencode({"q": query, "format": "json", "k": 50}))
                seen[name] |= {hit["kind"] for hit in json.loads(body)["hits"]} | set(json.loads(body)["facets"])

        threads = [threading.Thread(target=visit, args=args) for args in (("stranger", stranger), ("reader", reader)) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    open_to_all = {"doc", "code", "instruction", "media", "checkin", "api"}
    assert seen["stranger"] <= open_to_all and {"wiki", "ticket", "forum"} <= seen["reader"]
    assert resident.state(either.worker)["requests"] >= 30


def test_uninstall_stops_it_and_try_launcher_starts_none(launcher, vecsearch):
    assert try_launcher(launcher.path, launcher.repository, None) == ""
    assert resident.state(launcher.worker) is None
    pid = launcher.wake()
    said = vecsearch("uninstall", "-R", launcher.repository, "--extroot", launcher.extroot, check=True).stdout
    assert "and stopped its worker" in said
    gone(pid)


def test_without_a_worker_none_is_started(vecsearch, indexed, tmp_path):
    (tmp_path / "ext").mkdir()
    vecsearch("install", "--extroot", tmp_path / "ext", "-R", indexed, "--no-worker", check=True)
    assert "\nworker=\n" in (tmp_path / "ext/search").read_text()


def modules(code: str, *flags: str) -> set[str]:
    command = [sys.executable, "-I", *flags, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(*sys.modules, file=sys.stderr)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


def test_the_shim_loads_next_to_nothing():
    loaded = modules("from vecsearch.worker import shim", "-S") - modules("pass", "-S")
    assert loaded <= {"__future__", "vecsearch", "vecsearch.resident", "vecsearch.worker", "vecsearch.worker.shim"}


#: What a search page or its JSON may load of ours and of others.
OURS = {"cgi", "config", "embed", "errors", "fossil", "located", "log", "plain", "present", "resident", "search", "store", "terms", "types", "web"}
OTHERS = {"flask", "werkzeug", "jinja2", "markupsafe", "click", "blinker", "itsdangerous", "numpy"}


@pytest.mark.parametrize("query", ["q=restore", "q=restore&format=json"])
def test_a_search_loads_what_it_needs(indexed, query):
    everything(indexed)
    environ = {b"FOSSIL_REPOSITORY": os.fsencode(indexed), b"REQUEST_METHOD": b"GET", b"QUERY_STRING": query.encode(), b"SERVER_NAME": b"x",
               b"SERVER_PORT": b"80", b"SERVER_PROTOCOL": b"HTTP/1.0", b"SCRIPT_NAME": b"/ext/search", b"PATH_INFO": b""}
    loaded = modules(f"import io; from vecsearch.cgi import answer; said = answer({environ!r}, io.BytesIO(), io.StringIO()); assert b'200 OK' in said and b'restore' in said")
    ours = {name.split(".")[1] for name in loaded if name.startswith("vecsearch.")}
    top = {name.split(".")[0] for name in loaded}
    third = {name for name in top - sys.stdlib_module_names if name[0] != "_" and "site-packages" in (getattr(sys.modules.get(name), "__file__", None) or find(name))}
    assert ours <= OURS and third <= OTHERS
    assert not {"vecsearch.embed.remote", "vecsearch.web.map", "urllib.request", "sqlite3.dump"} & loaded


def find(name: str) -> str:
    from importlib.util import find_spec

    with suppress(ValueError, ImportError):
        return str(getattr(find_spec(name), "origin", ""))
    return ""
