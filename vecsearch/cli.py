"""The command line. Each command parses, calls one verb and prints; who runs it holds the
repository file and sees everything in it."""

from __future__ import annotations

import click

from . import __version__, cli_admin, cli_index, cli_peer, cli_programs, cli_search
from .cli_base import Group


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vecsearch")
def main() -> None:
    """Semantic and keyword search for Fossil repositories.

    The index lives inside the repository file. Start with `vecsearch index`, then `vecsearch search
    WORDS`, then `vecsearch install` for the search page.
    """


@click.group("agent-tool", cls=Group)
def agent_tool() -> None:
    """The contract's names of the first five commands."""


for _module in (cli_index, cli_search, cli_admin, cli_peer, cli_programs):
    for _command in _module.COMMANDS:
        main.add_command(_command)

for _name in ("index", "import", "normalize", "rebuild", "search"):
    agent_tool.add_command(main.commands[_name], f"vec-{_name}")
