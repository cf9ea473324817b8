"""Commands for programs that build on the index: agents, retrieval for language models, contracts, DuckDB."""

from __future__ import annotations

from pathlib import Path

import click

from .cli_base import FILE_NAME, Group, drop_output, locate, repository_option
from .errors import UsageError, VecsearchError


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

    _echo(listing(locate(repository), type_, json_lines=as_json), as_json)


@contracts.command("show")
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.argument("contract_id", metavar="ID")
def contracts_show(repository: Path | None, as_json: bool, contract_id: str) -> None:
    """A contract's tags, relations in both directions, and text."""
    from .contracts import show

    _echo(show(locate(repository), contract_id, as_json_text=as_json), as_json)


@contracts.command("graph")
@repository_option
@click.option("--format", "form", default="text", show_default=True, type=click.Choice(["text", "dot", "json"]), help="Text, Graphviz or JSON.")
def contracts_graph(repository: Path | None, form: str) -> None:
    """All relations; those that name no contract are marked."""
    from .contracts import graph

    _echo(graph(locate(repository), form), form == "json")


def _echo(text: str, as_json: bool) -> None:
    from .present import printable

    click.echo(text if as_json else printable(text))


@click.command()
@repository_option
@click.option("--duckdb", required=True, type=FILE_NAME, metavar="FILE", help="A DuckDB database, new or old.")
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


class _Silent(click.Command):
    """A command that stands in a hook before each prompt: whatever fails, the prompt must go through."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        said = list(args)
        try:
            return super().parse_args(ctx, _spread(args))
        except click.UsageError as error:
            _explain("-v" in said or "--verbose" in said, error.format_message())
            ctx.exit(0)

    def invoke(self, ctx: click.Context) -> None:
        try:
            super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except Exception as error:  # the contract: all failures are an empty block (docs/decisions.md)
            if isinstance(error, OSError):
                drop_output()
            _explain(ctx.params["verbose"], f"{error}" if isinstance(error, VecsearchError) else f"{type(error).__name__}: {error}")


def _spread(args: list[str]) -> list[str]:
    """`--files a b` as `--files a --files b`, likewise --kinds: up to the next option, or to the task, which is the
    one argument with blanks. Behind `--` nothing is an option."""
    end = args.index("--") if "--" in args else len(args)
    spread: list[str] = []
    many = ""
    for argument in args[:end]:
        if argument.startswith("-") or " " in argument:
            many = argument if argument in ("--files", "--kinds") else ""
            spread += [] if many else [argument]
        else:
            spread += [many, argument] if many else [argument]
    return spread + args[end:]


def _explain(verbose: bool, reason: str) -> None:
    if verbose and reason:
        click.echo(f"vecsearch: {reason}", err=True)


@click.command(cls=_Silent)
@repository_option
@click.option("--files", multiple=True, metavar="FILE...", help="Files that are being worked on.")
@click.option("--kinds", multiple=True, metavar="KIND...", help="Only these kinds.")
@click.option("--budget", default=1500, show_default=True, type=click.IntRange(1), metavar="TOKENS", help="Most tokens of the block.")
@click.option("--format", "form", default="md", show_default=True, type=click.Choice(["md", "json"]), help="Markdown or JSON.")
@click.option("--style", default="related", show_default=True, type=click.Choice(["related", "decisions"]),
              help="Passages as they stand, or statements with a type and a confidence.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr why nothing is printed, or not all.")
@click.argument("task", nargs=-1)
def context(repository: Path | None, files: tuple[str, ...], kinds: tuple[str, ...], budget: int, form: str, style: str, verbose: bool,
            task: tuple[str, ...]) -> None:
    """Print what the repository knows about TASK, to stand before a language model's prompt.

    Nothing relevant, no index, no provider: prints nothing. Always exits with 0.
    """
    from . import context as retrieval
    from .search.query import known_kind

    wanted = [known_kind(kind) for part in kinds for kind in part.split(",") if kind]
    form = "json" if form == "json" else style
    block = retrieval.gather(locate(repository), " ".join(task), files=files, kinds=wanted, budget=budget, form=form)
    click.echo(retrieval.as_text(block, form), nl=False)
    _explain(verbose, block.reason)


COMMANDS = (context, contracts, export, mcp)
