"""`vecsearch doctor` finds each planted fault and says the fix; on a healthy set-up it is silent."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from conftest import ROOT, VECSEARCH
from serve import free_port

import vecsearch
from vecsearch import embed
from vecsearch.doctor import Finding, Setup, as_text, examine, exit_code, running
from vecsearch.index import index


@pytest.fixture(scope="module")
def original(tmp_path_factory, demo_indexed) -> Path:
    """A whole set-up: ext/search, demo.fossil with index and hooks."""
    folder = tmp_path_factory.mktemp("healthy")
    shutil.copy(demo_indexed, folder / "demo.fossil")
    (folder / "ext").mkdir()
    for args in (["install", "--extroot", folder / "ext"], ["hook", "install"]):
        subprocess.run([VECSEARCH, *map(str, args), "-R", str(folder / "demo.fossil")], check=True, capture_output=True)
    return folder


@pytest.fixture
def setup(original, open_tmp_path) -> Setup:
    site = Path(shutil.copytree(original, open_tmp_path / "site"))
    return Setup(site / "demo.fossil", site / "ext")


def sql(*statements: str) -> Callable[[Setup], None]:
    def plant(setup: Setup) -> None:
        with closing(sqlite3.connect(setup.repository)) as db:
            for statement in statements:
                db.execute(statement)
            db.commit()
    return plant


def launcher(change: Callable[[str], str]) -> Callable[[Setup], None]:
    def plant(setup: Setup) -> None:
        target = setup.extroot / "search"
        target.write_text(change(target.read_text()))
    return plant


def without_waitress(setup: Setup) -> None:
    """The library that the launcher names stands beside a copy of the package that cannot have waitress."""
    library = setup.extroot.parent / "library"
    shutil.copytree(Path(vecsearch.__file__).parent, library / "vecsearch", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("templates", "static", "ext"):
        shutil.copytree(ROOT / name, library / name)
    module = library / "vecsearch/worker/serve.py"
    module.write_text(module.read_text().replace("import waitress", "raise ModuleNotFoundError(\"No module named 'waitress'\")", 1))
    launcher(lambda text: re.sub("(?m)^set -- .*$", f"set -- {library}", text))(setup)


def configured(**settings: str) -> Callable[[Setup], None]:
    rows = ", ".join(f"('{name.replace('_', '-')}', '{value}')" for name, value in settings.items())
    return sql(f"INSERT OR REPLACE INTO fx_vec_config VALUES {rows}")


def key_for_all(setup: Setup) -> None:
    key = setup.extroot / "key"
    key.write_text("secret")
    key.chmod(0o644)
    configured(provider_key_file=str(key))(setup)


def interpreter(new: str) -> Callable[[str], str]:
    return lambda text: re.sub("(?m)^python=.*$", f"python={new}", text)


def by_version_0_1(first: str) -> Callable[[str], str]:
    return lambda _: f"{first}\nfrom vecsearch.cgi import main\nmain()\n"


#: (what is planted, how, severity, check, a part of what is said, a part of the fix)
FAULTS = [
    ("no extension root", lambda s: shutil.rmtree(s.extroot), "broken", "extroot", "is no directory", "mkdir"),
    ("no launcher", lambda s: (s.extroot / "search").unlink(), "broken", "launcher", "/ext/search is a 404", "vecsearch install"),
    ("not executable", lambda s: (s.extroot / "search").chmod(0o644), "broken", "launcher", "not executable", "chmod 755"),
    ("env in place of a path", launcher(interpreter("python3")), "broken", "launcher", "gives it no PATH", "vecsearch install"),
    ("interpreter gone", launcher(interpreter("/opt/gone/python")), "broken", "launcher", "/opt/gone/python", "vecsearch install"),
    ("env in an old launcher", launcher(by_version_0_1("#!/usr/bin/env python3")), "broken", "launcher", "gives it no PATH", "vecsearch install"),
    ("interpreter of an old launcher gone", launcher(by_version_0_1("#!/opt/gone/python -I")), "broken", "launcher", "/opt/gone/python", "vecsearch install"),
    ("library gone", launcher(lambda t: t.replace("from vecsearch.worker", "import site; site.main = lambda: None; from vecsearch.worker")),
     "broken", "launcher", "does not run with an empty environment", "vecsearch install"),
    ("no waitress", without_waitress, "warning", "worker", "No module named 'waitress'", "pip install"),
    ("another program's file", lambda s: (s.extroot / "search").write_text("#!/bin/sh\n"), "broken", "launcher", "not a launcher of vecsearch", "--name"),
    ("public file", lambda s: (s.extroot / "notes.txt").write_text("x"), "warning", "public", "served to everybody", "move it out"),
    ("writable by all", lambda s: (s.extroot / "search").chmod(0o757), "broken", "public", "every user of this machine may write", "chmod o-w"),
    ("repository closed to the server", lambda s: s.repository.chmod(0o600), "broken", "user", "cannot read", "chmod"),
    ("index lost", sql("DROP TABLE fx_vec_embedding", "DROP TABLE fx_vec_chunk", "DROP TABLE fx_vec_state"), "broken", "index",
     "table fx_vec_chunk is missing", "do what it says"),
    ("newer format", sql("UPDATE fx_vec_mark SET value='999' WHERE name='schema'"), "broken", "index", "newer vecsearch", "do what it says"),
    ("vector lost", sql("DELETE FROM fx_vec_embedding WHERE chunk_id=(SELECT min(chunk_id) FROM fx_vec_embedding)"),
     "broken", "consistent", "1 chunks without a vector", "vecsearch rebuild"),
    ("chunk lost", sql("DELETE FROM fx_vec_chunk WHERE id=(SELECT min(id) FROM fx_vec_chunk)"), "broken", "consistent", "1 vectors without a chunk", "vecsearch rebuild"),
    ("vector cut short", sql("UPDATE fx_vec_embedding SET v=substr(v, 5) WHERE chunk_id=(SELECT min(chunk_id) FROM fx_vec_embedding)"),
     "broken", "vectors", "1 vectors are not of", "vecsearch rebuild"),
    ("vector of zeros", sql("UPDATE fx_vec_embedding SET v=zeroblob(length(v)) WHERE chunk_id=(SELECT min(chunk_id) FROM fx_vec_embedding)"),
     "broken", "vectors", "not of unit length", "vecsearch normalize"),
    ("full-text row lost", sql("DELETE FROM fx_vec_fts_docsize WHERE id=(SELECT max(id) FROM fx_vec_fts_docsize)"), "broken", "keywords", "1 full-text rows are missing",
     "vecsearch rebuild"),
    ("full-text index lost", sql("DROP TABLE fx_vec_fts"), "broken", "keywords", "no full-text index", "vecsearch rebuild"),
    ("index stale", sql("INSERT INTO shun VALUES('00ff', 1, 'x')"), "warning", "current", "has changed since", "vecsearch hook install"),
    ("wrong setting", configured(provider="crystal-ball"), "broken", "settings", "provider must be one of", "vecsearch config"),
    ("another model", configured(provider="hash"), "broken", "model", "configured is hash", "vecsearch rebuild"),
    ("provider down", configured(provider="openai", provider_url="http://127.0.0.1:9", provider_model="m"), "broken", "model", "configured is openai:m", "vecsearch rebuild"),
    ("key readable by all", key_for_all, "broken", "key", "every user of this machine may read", "chmod 640"),
    ("log cannot be written", configured(log="/nowhere/at/all.log"), "warning", "log", "no folder /nowhere/at", "config log syslog"),
    ("published too much", sql("UPDATE user SET cap='' WHERE login='nobody'"), "broken", "published", "anyone can fetch these files", "withdraws"),
    ("hook's interpreter gone", sql("UPDATE config SET value=json_array(json_object('type', 'after-receive', 'seq', 1,"
                                    " 'cmd', '/opt/gone/python -I -m vecsearch hook run')) WHERE name='hooks'"), "broken", "hook", "/opt/gone/python, which is gone", "vecsearch hook install"),
    ("backoffice disabled", sql("INSERT OR REPLACE INTO config(name, value, mtime) VALUES('backoffice-disable', '1', 0)"), "warning", "hook", "no after-receive hook ever runs",
     "vecsearch watch"),
    ("two states", sql("INSERT INTO fx_vec_state SELECT * FROM fx_vec_state"), "broken", "consistent", "2 rows in place of one", "vecsearch rebuild"),
    ("no state", sql("DELETE FROM fx_vec_state"), "broken", "index", "first index run has not finished", "vecsearch index"),
    ("branches forgotten", sql("DELETE FROM fx_vec_tip"), "broken", "consistent", "no branch has a check-in", "vecsearch rebuild"),
    ("an artifact left out", sql(*(f"DELETE FROM {table} WHERE {key} IN (SELECT chunk_id FROM fx_vec_detail WHERE source_id=1)" for table, key in (
        ("fx_vec_embedding", "chunk_id"), ("fx_vec_fts_docsize", "id"), ("fx_vec_chunk", "id"), ("fx_vec_detail", "chunk_id"))), "DELETE FROM fx_vec_source WHERE id=1"),
     "broken", "complete", "1 artifacts are not in the index", "vecsearch rebuild"),
    ("table lost", sql("DROP TABLE fx_vec_detail"), "broken", "index", "table fx_vec_detail is missing; run: vecsearch rebuild", "do what it says"),
    ("artifacts lost", sql("DROP TABLE fx_vec_source"), "broken", "index", "table fx_vec_source is missing; run: vecsearch rebuild", "do what it says"),
    ("names lost", sql("DROP TABLE fx_vec_alias"), "broken", "index", "tables are missing: fx_vec_alias", "vecsearch rebuild"),
    ("full-text table lost", sql("DROP TABLE fx_vec_fts_config"), "broken", "damaged", "cannot be read", "vecsearch rebuild"),
    ("full-text tables damaged", sql("DELETE FROM fx_vec_fts_data"), "broken", "damaged", "cannot be read", "vecsearch rebuild"),
    ("catalog lost", sql("DELETE FROM unversioned WHERE name='vec/index.json'"), "broken", "published", "get no index", "vecsearch rebuild"),
    ("catalog damaged", sql("UPDATE unversioned SET content=x'00' WHERE name='vec/index.json'"), "broken", "published", "vec/index.json: ", "vecsearch index"),
    ("blobs lost", sql("DELETE FROM unversioned WHERE name LIKE 'vec/%.bin'"), "broken", "published", "are gone or of another moment", "vecsearch rebuild"),
    ("a blob damaged", sql("UPDATE unversioned SET content=x'00' WHERE name=(SELECT min(name) FROM unversioned WHERE name LIKE 'vec/%.bin')"),
     "broken", "published", "1 unversioned files are damaged", "fossil uv rm vec/"),
    ("robots are asked", sql("INSERT INTO config(name, value, mtime) VALUES('robot-restrict', 'timeline,ext/*', 0)"), "warning", "robots", "a question in place of hits",
     "take ext out"),
]
#: Checks that look at what is named with --extroot.
SERVED = ("extroot", "launcher", "worker", "public", "user", "key", "robots")


@pytest.mark.parametrize(("plant", "severity", "check", "says", "fix"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS])
def test_each_planted_fault_is_found_with_its_fix(setup, plant, severity, check, says, fix):
    plant(setup)
    user = "nobody" if check == "user" and os.getuid() == 0 else None
    if check == "user" and user is None:
        pytest.skip("only root can try what another user may do")
    served = check in SERVED
    findings = examine(Setup(setup.repository, setup.extroot if served else None, user=user))
    assert any((f.severity, f.check) == (severity, check) and says in f.says and fix in f.fix for f in findings), as_text(findings)
    assert exit_code(findings) in ((1,) if severity == "broken" else (3, 1))


@pytest.mark.parametrize("plant", [fault[1] for fault in FAULTS if fault[5] == "vecsearch rebuild" and fault[3] != "model"],
                         ids=[fault[0] for fault in FAULTS if fault[5] == "vecsearch rebuild" and fault[3] != "model"])
def test_a_rebuild_mends_what_it_is_said_to_mend(setup, plant):
    plant(setup)
    index(setup.repository, embed.get, rebuild=True)
    assert examine(Setup(setup.repository)) == []


def test_a_healthy_setup_is_silent(setup, vecsearch):
    done = vecsearch("doctor", "-R", setup.repository, "--extroot", setup.extroot)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(vecsearch("doctor", "-R", setup.repository, "--json").stdout) == {"healthy": True, "findings": []}


def test_a_relative_extension_root_is_named_absolutely(setup):
    [finding] = examine(Setup(setup.repository, Path("ext")))
    assert finding.check == "extroot" and str(Path("ext").resolve()) in finding.fix


def test_a_jail_without_python_is_told(setup):
    findings = examine(Setup(setup.repository, setup.extroot, jail=setup.repository.parent))
    assert [f.check for f in findings] == ["jail", "hook"] and "no shell" in findings[1].says and "is not in the jail" in findings[0].says and "--nojail" in findings[0].fix
    findings = examine(Setup(setup.repository, setup.extroot, jail=setup.extroot))
    assert "is outside of the jail" in findings[0].says


@pytest.fixture
def server(setup):
    """Start `fossil server` as an administrator would; stopped at the end."""
    started = []

    def start(*options: str, cwd: Path | None = None) -> None:
        command = ["fossil", "server", "--localhost", "--port", str(free_port()), *options]
        started.append(subprocess.Popen([*command, str(setup.repository)], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        while not list(running.servers(setup.repository)):
            time.sleep(0.02)

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_server_at_work_is_asked_how_it_was_started(setup, server):
    server("--nojail", "--extroot", str(setup.extroot))
    assert examine(setup) == []
    for options, says in [((), "has no --extroot"), (("--extroot", "ext"), "a relative path"), (("--extroot=/usr",), "another extension root, /usr")]:
        server("--nojail", *options)
        assert any(f.check == "server" and says in f.says and f"--extroot {setup.extroot}" in f.fix for f in examine(setup)), says


@pytest.mark.skipif(os.getuid() != 0, reason="only root is locked into a jail")
def test_a_jail_is_seen_without_being_named(setup, server):
    server("--extroot", "/ext")
    [jail, hook] = examine(setup)
    assert (jail.severity, jail.check) == ("broken", "jail") and str(setup.repository.parent) in jail.says and "--nojail" in jail.fix and hook.check == "hook"
    assert [f.check for f in examine(Setup(setup.repository))] == ["hook"]  # of the page nothing was asked


@pytest.mark.skipif(os.getuid() != 0, reason="only root can try what another user may do")
def test_the_servers_user_must_be_able_to_write(setup):
    findings = examine(Setup(setup.repository, user="nobody"))
    assert [(f.check, "user nobody" in f.says, "chown nobody" in f.fix) for f in findings] == [("writable", True, True)] * 2


def test_a_mount_that_starts_nothing_is_told(setup, monkeypatch):
    real = os.statvfs(setup.extroot)
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((*real[:8], os.ST_NOEXEC, real[9])))
    assert any(f.check == "extroot" and "noexec" in f.says for f in examine(setup))


def test_a_held_lock_is_a_warning(setup):
    with closing(sqlite3.connect(setup.repository, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert [(f.severity, f.check) for f in examine(setup)] == [("warning", "lock")]


def test_what_is_no_repository_ends_the_examination(vecsearch, tmp_path):
    (tmp_path / "x").write_text("x")
    done = vecsearch("doctor", "-R", tmp_path / "x", "--json")
    assert done.returncode == 1 and [f["check"] for f in json.loads(done.stdout)["findings"]] == ["repository"]


def test_warnings_alone_are_exit_3(setup, vecsearch):
    (setup.extroot / "notes.txt").write_text("x")
    done = vecsearch("doctor", "-R", setup.repository, "--extroot", setup.extroot)
    assert done.returncode == 3 and done.stdout.startswith("warning: public: ") and "\n    fix: " in done.stdout


def test_the_worst_comes_first():
    found = [Finding("warning", "a", "", ""), Finding("broken", "b", "", "")]
    assert exit_code(found) == 1 and exit_code(found[:1]) == 3 and exit_code([]) == 0
