"""The command line. Each command parses, calls one verb and prints; who runs it holds the
repository file and sees everything in it."""

from __future__ import annotations

import importlib

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
    module = next((module for module, names in MODULES.items() if name in names), None)
    found = importlib.import_module(f".{module}", __package__).COMMANDS if module else ()
    return next((command for command in found if command.name == name), None)


class _Commands(Group):
    """Those of MODULES."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for names in MODULES.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name)


class _Contract(Group):
    """Those of CONTRACT."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(CONTRACT)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(CONTRACT.get(cmd_name, ""))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vecsearch")
def main() -> None:
    """Semantic and keyword search for Fossil repositories.

    The index lives inside the repository file. Start with `vecsearch index`, then `vecsearch search
    WORDS`, then `vecsearch install` for the search page.
    """


@click.group("agent-tool", cls=_Contract)
def agent_tool() -> None:
    """The contract's names of the first five commands."""
