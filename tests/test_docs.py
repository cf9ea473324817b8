"""The documentation is true: its commands run, and it names every setting and every command.

    python tests/test_docs.py     writes docs/settings.md anew
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from conftest import ROOT, VECSEARCH
from serve import free_port

from vecsearch.cli import main
from vecsearch.config import SETTINGS

DOCS = ROOT / "docs"
PAGES = {path.stem: path for path in [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]}
#: What needs root, the network or no end is replaced. sudo drops its word; a server or watcher gets two seconds.
STAND_INS = {
    "sudo": 'case "$*" in *apt-get*|*/opt/*) echo "stand-in: $*";; *) exec "$@";; esac',
    "fossil": 'case "$1" in server) timeout 1.5 {fossil} "$@"; [ $? = 124 ];; *) exec {fossil} "$@";; esac',
    "pip": 'echo "stand-in: $*"',
    "curl": 'echo "stand-in: $*"',
    "sh": 'case "$1" in deploy/*) echo "stand-in: $*";; *) exec /bin/sh "$@";; esac',
    "python3": 'case "$*" in "-m venv "*) mkdir -p .venv/bin && : > .venv/bin/activate;; *) exec {python} "$@";; esac',
    "vecsearch": 'case "$1" in watch|mcp) timeout 2 {vecsearch} "$@"; [ $? -le 124 ];; *) exec {vecsearch} "$@";; esac',
}


def blocks(name: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", PAGES[name].read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def shell(tmp_path, indexed):
    """Runs a block as a newcomer would, in a folder with project.fossil."""
    indexed.rename(tmp_path / "project.fossil")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in STAND_INS.items():
        (tools / name).write_text("#!/bin/sh\n" + text.replace("{fossil}", shutil.which("fossil")).replace("{vecsearch}", VECSEARCH).replace("{python}", sys.executable) + "\n")
        (tools / name).chmod(0o755)
    (tmp_path / "ext").mkdir()
    env = {"PATH": f"{tools}:{Path(VECSEARCH).parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "USER": "ann"}
    subprocess.run(["vecsearch", "install", "--extroot", "ext", "-R", "project.fossil"], cwd=tmp_path, env=env, check=True, capture_output=True)

    def run(block: str) -> subprocess.CompletedProcess:
        return subprocess.run(["/bin/sh", "-eu", "-c", block], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL)

    return run


@pytest.mark.parametrize("name", [name for name in PAGES if blocks(name)])
def test_every_command_of_the_documentation_runs(shell, name):
    for block in blocks(name):
        done = shell(block.replace("8089", str(free_port())).replace("8765", str(free_port())))
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"


def commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_every_command_has_help_and_is_documented():
    text = "\n".join(path.read_text("utf-8") for path in [*DOCS.glob("*.md"), ROOT / "README.md"])
    everything = dict(commands(main, "vecsearch"))
    assert [name for name in everything if not re.search(rf"{name}\b", text)] == []
    assert [name for name, command in everything.items() if not command.help] == []
    options = [(name, o.name) for name, command in everything.items() for o in command.params if isinstance(o, click.Option) and not o.help]
    assert options == []


def settings_page() -> str:
    lines = ["# Settings", "", "Made by `python tests/test_docs.py` from the table in `vecsearch/config.py`.", "",
             "They live in the repository, because Fossil empties the environment of an extension. `vecsearch config` shows all,",
             "`vecsearch config NAME` one, `vecsearch config NAME VALUE` sets it, `--unset` returns to the default. Lists are",
             "comma-separated.", "", "| setting | default | meaning |", "|---|---|---|"]
    for name, setting in SETTINGS.items():
        default = ", ".join(setting.default) if isinstance(setting.default, tuple) else str(setting.default)
        limits = f" One of: {', '.join(setting.choices)}." if setting.choices else f" From {setting.low} to {setting.high}." if setting.high else ""
        lines.append(f"| `{name}` | {f'`{default}`' if default else ''} | {(setting.help + limits).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def test_the_page_of_settings_is_that_of_the_table():
    assert (DOCS / "settings.md").read_text("utf-8") == settings_page(), "run: python tests/test_docs.py"


def test_links_between_the_pages_lead_somewhere():
    for name, path in PAGES.items():
        for target in re.findall(r"\]\(([^)#:\s]+)\)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{name}.md -> {target}"
    for file in re.findall(r"`(?:deploy/)?([\w-]+\.(?:conf|service))`", (DOCS / "quickstart.md").read_text("utf-8") + (DOCS / "administration.md").read_text("utf-8")):
        assert (ROOT / "deploy" / file).exists(), file


def test_the_quickstart_says_that_its_port_is_taken_before_it_installs_anything():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(["sh", str(ROOT / "deploy/quickstart")], env={**os.environ, "PORT": str(port)}, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (1, "") and f"port {port} cannot be had; choose another" in done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_reads_the_units():
    for unit in ("fossil", "vecsearch-watch"):
        done = subprocess.run(["systemd-analyze", "verify", str(ROOT / f"deploy/{unit}.service")], capture_output=True, text=True, check=False)
        assert not re.search(rf"{unit}\.service:\d+: ", done.stderr), done.stderr


if __name__ == "__main__":
    (DOCS / "settings.md").write_text(settings_page(), "utf-8")
    sys.exit(0)
