"""The command line. Each command parses, calls one verb and prints; who runs it holds the
repository file and sees everything in it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import click

from . import __version__
from .cli_base import Group

#: Where the commands stand; a module is loaded when one of its commands is called, since each start pays for it.
MODULES = {
    "cli_index": ("index", "rebuild", "import", "normalize", "import-api"),
    "cli_search": ("search", "eval"),
    "cli_admin": ("install", "uninstall", "doctor", "serve", "hook", "watch", "worker", "status", "config", "media"),
    "cli_peer": ("peer",),
    "cli_programs": ("context", "contracts", "export", "mcp"),
}
#: The contract's names of the first five commands.
CONTRACT = {f"vec-{name}": name for name in ("index", "import", "normalize", "rebuild", "search")}


def load(name: str) -> click.Command | None:
    """The command of this name."""
    # numpy reads this when it is loaded: a pool of threads takes longer to start than a question has to multiply, and store/product.py
    # has a helper of its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    module = next((module for module, names in MODULES.items() if name in names), None)
    found = importlib.import_module(f".{module}", __package__).COMMANDS if module else ()
    return next((command for command in found if command.name == name), None)


class _Lazy(Group):
    """Loads a command when it is called. `called`: the name that it goes by here -> its own."""

    def __init__(self, *args: Any, called: Mapping[str, str], **extra: Any):
        super().__init__(*args, **extra)
        self.called = called
        self.commands = dict.fromkeys(called)  # from these click suggests a near name

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.called)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(self.called.get(cmd_name, ""))


@click.group(cls=_Lazy, called={name: name for names in MODULES.values() for name in names}, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vecsearch")
def main() -> None:
    """Semantic and keyword search for Fossil repositories.

    The index lives inside the repository file. Start with `vecsearch index`, then `vecsearch search
    WORDS`, then `vecsearch install` for the search page.
    """


@click.group("agent-tool", cls=_Lazy, called=CONTRACT)
def agent_tool() -> None:
    """The contract's names of the first five commands."""
