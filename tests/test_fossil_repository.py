"""Opening a repository: what is right, and one clear line for each thing that is wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from looking import forge  # noqa: F401

from vecsearch.errors import RepositoryError
from vecsearch.fossil.repository import config_value, find_repository, has_table, open_readonly, project_name


def test_a_connection_reads_and_cannot_write(forge):  # noqa: F811
    db = open_readonly(forge.path)
    assert project_name(db) == "forge"
    assert config_value(db, "no-such", "default") == "default"
    assert (has_table(db, "blob"), has_table(db, "no_such")) == (True, False)
    for statement in ("DELETE FROM blob", "CREATE TABLE x(y)", "INSERT INTO config VALUES('a','b',0)"):
        with pytest.raises(sqlite3.OperationalError, match="readonly|query_only"):
            db.execute(statement)
    db.close()


@pytest.mark.parametrize("name", ["a b.fossil", "100%.fossil", "q?mode=rwc.fossil", "#hash.fossil", "ä&ö.fossil"])
def test_any_file_name_opens(forge, tmp_path, name):  # noqa: F811
    copy = Path(shutil.copy(forge.path, tmp_path / name))
    db = open_readonly(copy)
    assert project_name(db) == "forge"
    db.close()
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == sorted([name, "r.fossil"])


def wrong_files(folder: Path) -> dict[str, Path]:
    text = folder / "text"
    text.write_text("no database at all\n" * 100)
    other = folder / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t(x)")
    db.close()
    (folder / "nothing").write_bytes(b"")
    return {"there is no such file": folder / "missing", "this is a directory": folder, "no SQLite database": text,
            "this SQLite file is no Fossil repository": other, "is no Fossil": folder / "nothing",
            "cannot be read": Path("a\0b")}


def test_what_is_no_repository_is_said_in_one_line(tmp_path):
    for message, path in wrong_files(tmp_path).items():
        with pytest.raises(RepositoryError, match=message) as caught:
            open_readonly(path)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "missing").exists()


def test_what_is_not_a_file_is_not_waited_for(tmp_path, vecsearch):
    os.mkfifo(tmp_path / "pipe.fossil")
    for command, path in (("status", tmp_path / "pipe.fossil"), ("index", "/dev/null")):
        done = vecsearch(command, "-R", path)
        assert done.returncode == 1 and "this is no regular file" in done.stderr


def test_looking_at_a_repository_drops_no_lock_that_this_process_holds_on_it(forge):  # noqa: F811
    """POSIX locks belong to the process: closing any descriptor of the file gives all of them up."""
    holder = sqlite3.connect(forge.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    open_readonly(forge.path).close()
    code = f"import sqlite3; sqlite3.connect({str(forge.path)!r}, timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    holder.close()
    assert "database is locked" in other.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try what another user may do")
@pytest.mark.parametrize(("plant", "says"), [
    (lambda path: path.chmod(0o600), "you may not read this file"),
    (lambda path: path.parent.chmod(0o600), "you may not enter its folder"),
    (lambda path: turn_to_wal(path), "its journal mode is WAL"),
    (lambda path: leave_a_journal(path), "a write was cut short here"),
])
def test_what_another_user_may_not_read_is_said(forge, open_tmp_path, plant, says):  # noqa: F811
    site = open_tmp_path / "site"
    site.mkdir(0o755)
    path = Path(shutil.copy(forge.path, site / "r.fossil"))
    plant(path)
    code = f"import os\nfrom vecsearch.fossil.repository import open_readonly\nos.seteuid(65534)\nopen_readonly({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith(f"vecsearch.errors.RepositoryError: {path}: ") and says in done.stderr


def turn_to_wal(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.close()


def leave_a_journal(path: Path) -> None:
    """What a killed writer leaves."""
    code = (f"import os, sqlite3; db = sqlite3.connect({str(path)!r}, isolation_level=None); db.execute('PRAGMA cache_size=1');"
            " db.execute('BEGIN IMMEDIATE'); db.execute('CREATE TABLE much AS SELECT randomblob(100000) FROM config'); os._exit(0)")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_write_that_was_cut_short_is_undone_by_whoever_may_write(forge, vecsearch):  # noqa: F811
    leave_a_journal(forge.path)
    assert Path(f"{forge.path}-journal").stat().st_size
    with closing(open_readonly(forge.path)) as db:
        assert not has_table(db, "much")
        with pytest.raises(sqlite3.OperationalError):
            db.execute("DROP TABLE blob")
    leave_a_journal(forge.path)
    done = vecsearch("index", "-R", forge.path)  # a killed run is completed by the next, without a word of Fossil's between
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_said(forge):  # noqa: F811
    forge.path.chmod(0)
    with pytest.raises(RepositoryError, match="you may not read"):
        open_readonly(forge.path)


def test_a_damaged_file_is_said(forge):  # noqa: F811
    content = bytearray(forge.path.read_bytes())
    content[100:2000] = b"\xff" * 1900
    forge.path.write_bytes(content)
    with pytest.raises(RepositoryError, match="damaged"):
        open_readonly(forge.path)


def test_a_locked_database_is_said_after_the_busy_timeout(forge, monkeypatch):  # noqa: F811
    monkeypatch.setattr("vecsearch.fossil.repository.BUSY_MS", 50)
    holder = sqlite3.connect(forge.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(RepositoryError, match="locked by another process"):
        open_readonly(forge.path)
    holder.close()


def test_the_repository_is_found_from_within_a_checkout(forge, tmp_path):  # noqa: F811
    (forge.checkout / "a/b").mkdir(parents=True)
    for folder in (forge.checkout, forge.checkout / "a/b"):
        assert find_repository(folder).resolve() == forge.path.resolve()
    # A folder of that name, or a file that is no check-out database, is passed over, as by fossil.
    (forge.checkout / "a/.fslckout").write_bytes(b"something else" * 400)
    assert find_repository(forge.checkout / "a/b").resolve() == forge.path.resolve()
    with pytest.raises(RepositoryError, match="not within a check-out"):
        find_repository(tmp_path)


def test_a_relative_repository_is_relative_to_the_checkout(forge, tmp_path):  # noqa: F811
    database = next(forge.checkout.glob(".fslckout"))
    with sqlite3.connect(database) as db:
        db.execute("UPDATE vvar SET value='../r.fossil' WHERE name='repository'")
    db.close()
    database.rename(forge.checkout / "_FOSSIL_")
    (forge.checkout / "deep").mkdir()
    assert find_repository(forge.checkout / "deep").resolve() == forge.path.resolve()
    assert forge.fossil("info", cwd=forge.checkout / "deep").count("r.fossil") >= 1
