"""The command line where something is wrong: one line, the right exit code, never a traceback."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys

import pytest
from conftest import VECSEARCH

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can try what another user may do")


def test_a_name_that_is_empty_or_names_nothing(vecsearch, tmp_path):
    for words, code, says in [
        (("status", "-R", ""), 2, "the name is empty"),
        (("install", "--extroot", ""), 2, "the name is empty"),
        (("watch", "none"), 1, "vecsearch: none: there is no such file or folder\n"),
        (("eval", "-R", "none", "--set", "none"), 1, "vecsearch: none: "),
    ]:
        done = vecsearch(*words, cwd=tmp_path)
        assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr, words


@pytest.mark.parametrize("query", ["", "  "])
def test_an_empty_query_is_told_from_one_that_finds_nothing(vecsearch, indexed, query):
    done = vecsearch("search", "-R", indexed, query)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "vecsearch: there are no words to search for; type some\n")
    found = json.loads(vecsearch("search", "-R", indexed, "--json", query).stdout)
    assert (found["hits"], found["state"], found["message"]) == ([], "ok", "there are no words to search for; type some")
    assert vecsearch("search", "-R", indexed, "sourdough bread").stdout == "nothing relevant found\n"


def test_a_folder_that_is_gone_is_said(indexed):
    script = f'mkdir gone && cd gone && rmdir ../gone && "$0" status; "$0" doctor -R {indexed}; echo $?'
    done = subprocess.run(["/bin/sh", "-c", script, VECSEARCH], cwd=indexed.parent, capture_output=True, text=True, check=False)
    assert done.stderr == "vecsearch: the folder you stand in is gone; name a repository with -R FILE\n" and done.stdout == "0\n"


def test_a_reader_that_has_enough_is_no_fault(indexed):
    script = '"$0" status -R "$1" | true; "$0" config -R "$1" | head -n 1'
    done = subprocess.run(["/bin/sh", "-c", script, VECSEARCH, indexed], capture_output=True, text=True, check=False)
    assert done.stderr == "" and done.stdout.startswith("branch")


def test_a_word_to_leave_out_is_written_behind_two_dashes(vecsearch, indexed):
    done = vecsearch("search", "-R", indexed, "restore", "-backup")
    assert done.returncode == 2 and 'vecsearch search -- restore -backup' in done.stderr
    found = vecsearch("search", "-R", indexed, "--json", "--", "restore", "-backup", check=True).stdout
    assert '"hits": [{' in found


@as_root
@pytest.mark.parametrize(("words", "says"), [
    (["uninstall", "-R", "{repository}", "--extroot", "{extroot}"], "cannot remove "),
    (["install", "-R", "{repository}", "--extroot", "{extroot}"], "cannot write "),
    (["hook", "install", "-R", "{repository}"], "the repository cannot be written; run this as its owner"),
    (["status", "-R", "{closed}"], "you may not "),
    (["index", "--all", "{shut}"], "Permission denied"),
    (["watch", "{shut}"], "Permission denied"),
])
def test_what_another_user_may_not_do_is_one_line_and_exit_1(indexed, open_tmp_path, vecsearch, words, says):
    """In a process that gives up root once Python has loaded everything: nobody need not be able to read it."""
    folder = open_tmp_path
    (folder / "ext").mkdir()
    vecsearch("install", "--extroot", folder / "ext", "-R", indexed, check=True)
    (folder / "closed.fossil").write_bytes(indexed.read_bytes())
    (folder / "closed.fossil").chmod(0o600)
    (folder / "shut").mkdir(0o700)
    places = {"repository": indexed, "extroot": folder / "ext", "closed": folder / "closed.fossil", "shut": folder / "shut"}
    everything = "[importlib.import_module(each.name) for each in pkgutil.walk_packages(vecsearch.__path__, 'vecsearch.') if not each.name.endswith('__main__')]"
    code = f"import importlib, os, pkgutil\nimport vecsearch.cli\n{everything}\nos.setresgid(65534, 65534, 65534)\nos.setresuid(65534, 65534, 65534)\nvecsearch.cli.main()"
    done = subprocess.run([sys.executable, "-c", code, *(word.format(**places) for word in words)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1) and done.stderr.startswith("vecsearch: ") and says in done.stderr


def test_agents_have_the_five_names_of_the_contract():
    from vecsearch.cli import agent_tool

    names = agent_tool.list_commands(None)
    assert {name: agent_tool.get_command(None, name).name for name in names} == {
        f"vec-{name}": name for name in ("index", "import", "normalize", "rebuild", "search")}


def test_a_full_disk_is_one_line(indexed):
    done = subprocess.run(["sh", "-c", '"$0" search -R "$1" restore >/dev/full', VECSEARCH, indexed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "vecsearch: No space left on device\n")


@pytest.mark.parametrize(("words", "says"), [
    (["--nosuch"], "No such option '--nosuch'; see: vecsearch --help"),
    (["nosuch"], "No such command 'nosuch'; see: vecsearch --help"),
    (["serch"], "Did you mean one of: 'search', 'serve'?"),
    (["hook", "nosuch"], "No such command 'nosuch'; see: vecsearch hook --help"),
    (["index", "-k"], "No such option '-k'; see: vecsearch index --help"),
    (["search", "-k", "abc", "x"], "Invalid value for '-k'"),
    (["search"], "Missing argument 'QUERY'; see: vecsearch search --help"),
    (["search", "-R", "", "x"], "the name is empty"),
])
def test_wrong_usage_is_one_line_and_exit_2(vecsearch, words, says):
    done = vecsearch(*words)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_that_has_commands_shows_them(vecsearch):
    done = vecsearch("hook")
    assert done.returncode == 2 and "Usage: vecsearch hook" in done.stdout + done.stderr and "install" in done.stdout + done.stderr


def test_every_command_that_is_listed_is_there():
    """The list is kept apart from the commands, so that a start loads one module of them."""
    from vecsearch import cli

    for module, names in cli.MODULES.items():
        assert tuple(command.name for command in importlib.import_module(f"vecsearch.{module}").COMMANDS) == names
    assert all(cli.load(name) for names in cli.MODULES.values() for name in names) and cli.load("nosuch") is None
