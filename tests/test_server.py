"""The search page in a real `fossil server`: links that open, three ways of serving, faults as pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import sysconfig
import urllib.parse
from pathlib import Path

import pytest
from serve import FossilServer

from vecsearch.install import interpreter_of
from vecsearch.plain import plain

QUERIES = [
    "restore one file", "how long are old versions kept", "power cut", "disk is full", "nightly backup with cron", "exFAT or ext4",
    "stolen laptop", "encryption key on paper", "Fehlermeldung Datenträger voll", "Buchhaltung", "stale .part files", "progress bar",
    "disk_free_bytes", "write_atomically", "Store.verify", "release 1.2", "format version byte", "large files cloud",
    "free space only when a block is new", "test that prune keeps the last week",
]


@pytest.fixture(scope="module")
def extroot(tmp_path_factory, demo_indexed) -> Path:
    folder = tmp_path_factory.mktemp("serve") / "ext"
    folder.mkdir()
    command = [str(Path(sys.executable).with_name("vecsearch")), "install", "--extroot", str(folder), "-R", str(demo_indexed)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def everything(path: Path) -> Path:
    """Whoever comes may read all."""
    set_caps(path, nobody="gjorz2")
    return path


def set_caps(path: Path, **caps: str) -> None:
    db = sqlite3.connect(path)
    for login, cap in caps.items():
        db.execute("UPDATE user SET cap=? WHERE login=?", (cap, login))
    db.commit()
    db.close()


def search(server: FossilServer, query: str, prefix: str = "", **args: object) -> dict:
    status, body, _ = server.get(f"{prefix}/ext/search?" + urllib.parse.urlencode({"q": query, "format": "json", **args}))
    assert status == 200, body
    return json.loads(body)


def test_install_leaves_one_file_that_starts_with_an_absolute_interpreter(extroot):
    assert [p.name for p in extroot.iterdir()] == ["search"]
    assert stat.S_IMODE((extroot / "search").stat().st_mode) == 0o755
    text = (extroot / "search").read_text()
    assert text.startswith("#!/bin/sh\n") and interpreter_of(extroot / "search").samefile(sys.executable)


def test_install_refuses_names_and_folders_that_fossil_would_not_serve(vecsearch, tmp_path, indexed):
    for name in (".hidden", "-x", "a b", "ä", "../up"):
        done = vecsearch("install", "--extroot", tmp_path, "--name", name, "-R", indexed)
        assert done.returncode == 2 and "Fossil serves no extension called" in done.stderr
    done = vecsearch("install", "--extroot", tmp_path / "none", "-R", indexed)
    assert done.returncode == 2 and "is no directory" in done.stderr


def test_every_link_of_every_hit_opens_and_holds_the_chunks_words(indexed, extroot):
    """20 queries, the first 50 hits of each: every kind that the demo holds."""
    seen: dict[str, dict] = {}
    with FossilServer(everything(indexed), extroot) as server:
        for query in QUERIES:
            for hit in search(server, query, k=50)["hits"]:
                seen[hit["url"]] = hit
        assert {h["kind"] for h in seen.values()} == {"doc", "wiki", "technote", "ticket", "forum", "code", "instruction", "media", "checkin"}
        for url, hit in seen.items():
            status, page, final = server.get(url.split("#")[0])
            assert status == 200 and "/login" not in final, url
            shown = re.sub(r"\W+", " ", plain("html", page))
            wanted = hit["title"] if hit["kind"] in ("checkin", "media") else plain("markdown", hit["text"])
            words = re.findall(r"\w{4,}", wanted)[:12]
            absent = [word for word in words if word not in shown]
            assert len(absent) <= len(words) // 3, (url, absent)


def test_the_page_wears_the_skin_and_escapes_what_was_typed(indexed, extroot):
    with FossilServer(everything(indexed), extroot) as server:
        status, page, _ = server.get("/ext/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22'")
        assert status == 200 and "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page
        assert "<title>tern: Search: &lt;script" in page or "Search: &lt;script&gt;" in page
        assert page.count("<html") == 1 and "mainmenu" in page
        _, page, _ = server.get("/ext/search?s=restore")
        assert "<mark>" in page and 'href="/doc/' in page


def test_links_carry_the_prefix_of_a_folder_of_repositories(indexed, extroot, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    shutil.copy(everything(indexed), folder / "demo.fossil")
    with FossilServer(folder, extroot) as server:
        hits = search(server, "restore", prefix="/demo")["hits"]
        assert hits and all(hit["url"].startswith("/demo/") for hit in hits)
        assert server.get(hits[0]["url"])[0] == 200
        _, page, _ = server.get("/demo/ext/search?q=restore")
        assert 'action="/demo/ext/search"' in page


def test_a_relative_repository_name_works(indexed, extroot):
    everything(indexed)
    with FossilServer(indexed.name, extroot, cwd=indexed.parent) as server:
        assert search(server, "restore")["hits"]


def test_fossil_itself_as_cgi(indexed, extroot, tmp_path):
    script = tmp_path / "repo.cgi"
    script.write_text(f"#!{shutil.which('fossil')}\nrepository: {everything(indexed)}\nextroot: {extroot}\n")
    script.chmod(0o755)
    env = {"GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_METHOD": "GET", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
           "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost", "SCRIPT_NAME": "/cgi/repo", "PATH_INFO": "/ext/search",
           "REQUEST_URI": "/cgi/repo/ext/search", "QUERY_STRING": "q=restore&format=json", "REMOTE_ADDR": "127.0.0.1"}
    done = subprocess.run([str(script)], env=env, capture_output=True, check=True)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    assert b"application/json" in head
    hits = json.loads(body)["hits"]
    assert hits and all(hit["url"].startswith("/cgi/repo/") for hit in hits)


@pytest.mark.parametrize(("args", "says"), [
    ("k=-1", "k must be a whole number from 1 to 100, not &#34;-1&#34;"), ("k=abc", "not &#34;abc&#34;"), ("k=0", "from 1 to 100"),
    ("kind=docs", "there is no kind &#34;docs&#34;"), ("format=xml", "there is no format &#34;xml&#34;"), ("offset=x", "offset must be"),
])
def test_wrong_parameters_are_named_as_page_and_as_json(indexed, extroot, args, says):
    with FossilServer(everything(indexed), extroot) as server:
        status, page, _ = server.get(f"/ext/search?q=x&{args}")
        assert status == 400 and says.lower() in page.lower()
        if "format" not in args:
            status, body, _ = server.get(f"/ext/search?q=x&{args}&format=json")
            assert status == 400 and json.loads(body)["error"]["code"] == "bad_request"
        assert "Traceback" not in server.log()


HOSTILE = ['"unbalanced', "AND", "NOT NEAR(", "a AND", "*", "-", "foo:bar", "c:\\temp", "backoffice-nodelay", "38.101", "don't", "(", "^x",
           "{a b}: c", "%", "_", "🔥", "שלום", "a\u0000b", "re\u200bbase", "", " ", "C++", "--flag", "a::b", "検索", "x" * 3000]


def test_whatever_is_typed_is_answered(indexed, extroot):
    with FossilServer(everything(indexed), extroot) as server:
        for number, query in enumerate(HOSTILE):
            form = ("html", "json")[number % 2]
            status, body, _ = server.get("/ext/search?" + urllib.parse.urlencode({"q": query, "format": form}))
            assert status == 200, (query, body)
        for raw in ("q=%FF", "q=%ED%A0%80", "q=%00", "q=a&q=b", "&&&", "q", "q[]=1", "q=%0d%0aX-Injected:%201"):
            status, body, _ = server.get(f"/ext/search?{raw}")
            assert status == 200 and "\ufffd\ufffd\ufffd\ufffd" not in body
        _, body, _ = server.get("/ext/search?format=json&q=" + urllib.parse.quote("word " * 4000))
        assert "too long" in json.loads(body)["message"]
        assert "Traceback" not in server.log()


def test_no_index_and_foreign_tables_are_pages_and_json(demo, extroot):
    with FossilServer(everything(demo), extroot) as server:
        status, page, _ = server.get("/ext/search?q=x")
        assert status == 200 and "run: vecsearch index" in page
        assert search(server, "x")["state"] == "no_index"
        db = sqlite3.connect(demo)
        db.execute("CREATE TABLE fx_vec_chunk(id INTEGER PRIMARY KEY, body TEXT)")
        db.commit()
        db.close()
        status, page, _ = server.get("/ext/search?q=x")
        assert status == 500 and "lacks" in page and "Traceback" not in page
        status, body, _ = server.get("/ext/search?q=x&format=json")
        assert status == 500 and json.loads(body)["error"]["code"] == "index"


def broken_launcher(extroot: Path, tmp_path: Path, old: str, new: str) -> Path:
    folder = tmp_path / "ext"
    folder.mkdir()
    text = (extroot / "search").read_text()
    assert re.search(old, text, re.MULTILINE)
    (folder / "search").write_text(re.sub(old, lambda _: new, re.sub("(?m)^worker=.*$", "worker=", text), flags=re.MULTILINE))
    (folder / "search").chmod(0o755)
    return folder


IMPORT = "from vecsearch.worker.shim import main"
PYTHON = "^python=.*$"


@pytest.mark.parametrize(("old", "new", "says", "log"), [
    (IMPORT, "from vecsearch.no_such_module import main", "failed before it could answer", "No module named"),
    (IMPORT, f"import site; site.main = lambda: None; {IMPORT}", "failed before it could answer", "No module named"),
    (IMPORT, "import site; site.main(); import vecsearch.web; vecsearch.web.create_app = None; " + IMPORT, "failed before it could answer", "TypeError"),
    (IMPORT, "import os; os.kill(os.getpid(), 9)", "failed before it could answer", ""),
    (PYTHON, "python=/opt/gone/bin/python3", "is gone or may not be run", "/opt/gone/bin/python3"),
    (PYTHON, "python=/etc/passwd", "is gone or may not be run", "/etc/passwd"),
    (PYTHON, "python=/bin/false", "failed before it could answer", ""),
], ids=["broken package", "missing library", "fault at start", "killed at start", "interpreter gone", "interpreter no program", "interpreter broken"])
def test_a_fault_before_the_header_is_a_500_with_a_sentence(indexed, extroot, tmp_path, old, new, says, log):
    with FossilServer(everything(indexed), broken_launcher(extroot, tmp_path, old, new)) as server:
        status, page, _ = server.get("/ext/search?q=restore")
        assert log in server.log() and "Traceback" not in server.log()
    assert status == 500 and says in page and "vecsearch install" in page
    assert "Traceback" not in page and "/opt/gone" not in page


def test_an_interpreter_of_any_path_is_started(indexed, extroot, tmp_path):
    odd = tmp_path / """it's "a" $HOME \\ path"""
    odd.mkdir()
    (odd / "python").symlink_to(sys.executable)
    launcher = broken_launcher(extroot, tmp_path, PYTHON, f"python={shlex.quote(str(odd / 'python'))}")
    assert interpreter_of(launcher / "search") == odd / "python"
    # A link beside no pyvenv.cfg is another interpreter's: it is told where the libraries are.
    text = (launcher / "search").read_text().replace("set -- ", f"set -- {sysconfig.get_path('purelib')} ", 1)
    (launcher / "search").write_text(text)
    with FossilServer(everything(indexed), launcher) as server:
        assert search(server, "restore")["hits"]


def test_unreadable_settings_are_a_500_with_a_sentence(indexed, extroot):
    db = sqlite3.connect(everything(indexed))
    db.execute("INSERT INTO fx_vec_config VALUES('provider', 'crystal-ball')")
    db.commit()
    db.close()
    with FossilServer(indexed, extroot) as server:
        status, page, _ = server.get("/ext/search?q=restore")
    assert status == 500 and "provider must be one of" in page


def test_a_search_answers_while_another_process_writes(indexed, extroot):
    holder = sqlite3.connect(everything(indexed), isolation_level=None)
    with FossilServer(indexed, extroot) as server:
        server.get("/ext/search")  # at its first request Fossil itself wants to write
        holder.execute("BEGIN IMMEDIATE")
        try:
            assert search(server, "restore")["hits"]
        finally:
            holder.execute("ROLLBACK")
            holder.close()


def test_the_wheel_carries_all_that_the_page_needs(tmp_path, indexed):
    """Built, installed into an empty venv, served."""
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path), str(root)], check=True, capture_output=True)
    [wheel] = tmp_path.glob("fossil_vecsearch-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True, capture_output=True)
    folder = tmp_path / "ext"
    folder.mkdir()
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run([str(tmp_path / "venv/bin/vecsearch"), "install", "--extroot", str(folder), "-R", str(indexed)], check=True,
                   capture_output=True, cwd=tmp_path, env=clean)
    with FossilServer(everything(indexed), folder) as server:
        status, page, _ = server.get("/ext/search?q=restore")
    assert status == 200 and "vs-hit" in page and str(tmp_path / "venv") in (folder / "search").read_text()


def test_raw_bytes_in_the_address_are_answered_like_encoded_ones(indexed, extroot):
    with FossilServer(everything(indexed), extroot) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /ext/search?q=\xff\xfe+restore&format=json HTTP/1.0\r\nHost: x\r\nUser-Agent: Mozilla/5.0 Firefox/128.0\r\n\r\n")
        reply = b""
        while piece := connection.recv(65536):
            reply += piece
        head, _, body = reply.partition(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0] and json.loads(body)["state"] == "ok"
        assert "Traceback" not in server.log()
