"""Commands for programs that build on the index: agents, retrieval for language models, contracts, DuckDB."""

from __future__ import annotations

from pathlib import Path

import click

from .cli_base import Group, locate, repository_option
from .errors import UsageError


@click.group(cls=Group)
def contracts() -> None:
    """Contracts in code and documentation, [DEF:id:type] with @TAGS, and their relations."""


@contracts.command("list")
@repository_option
@click.option("--type", "type_", help="Only contracts of this type.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def contracts_list(repository: Path | None, type_: str | None, as_json: bool) -> None:
    """Each contract: id, type, place, purpose."""
    from .contracts import listing

    click.echo(listing(locate(repository), type_, json_lines=as_json))


@contracts.command("show")
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.argument("contract_id", metavar="ID")
def contracts_show(repository: Path | None, as_json: bool, contract_id: str) -> None:
    """A contract's tags, relations in both directions, and text."""
    from .contracts import show

    click.echo(show(locate(repository), contract_id, as_json_text=as_json))


@contracts.command("graph")
@repository_option
@click.option("--format", "form", default="text", show_default=True, type=click.Choice(["text", "dot", "json"]), help="Text, Graphviz or JSON.")
def contracts_graph(repository: Path | None, form: str) -> None:
    """All relations; those that name no contract are marked."""
    from .contracts import graph

    click.echo(graph(locate(repository), form))


@click.command()
@repository_option
@click.option("--duckdb", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A DuckDB database, new or old.")
def export(repository: Path | None, duckdb: Path) -> None:
    """Copy the index into a DuckDB database: the table `embeddings`, and `chunks` with native vectors."""
    from .export import export as run

    click.echo(run(locate(repository), duckdb))


@click.command()
@repository_option
@click.option("--name", default="vecsearch", show_default=True, help="What the server calls itself.")
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Serve http://127.0.0.1:PORT/mcp instead of stdio.")
def mcp(repository: Path | None, name: str, port: int | None) -> None:
    """Serve the index to language models: semantic_search, read_hit, similar (Model Context Protocol).

    docs/agents.md and deploy/agents/ have the configuration of the common clients. Whoever can speak to
    this server reads everything in the repository; for visitors of a site there is /ext/search/mcp.
    """
    try:
        from .mcp import server
    except ImportError as error:
        raise UsageError(f"this needs the MCP SDK ({error.name} is missing); run: pip install 'fossil-vecsearch[mcp]'") from None
    path = locate(repository)
    if port is None:
        server.serve_stdio(path, name)
    else:
        server.serve_http(path, name, port)


COMMANDS = (contracts, export, mcp)
