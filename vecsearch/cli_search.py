"""The commands that ask the index: search, eval."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from .cli_base import FILE_NAME, locate, repository_option
from .errors import UsageError
from .types import KINDS

MODES = ("hybrid", "semantic", "keyword")


class _Search(click.Command):
    """A word to leave out looks like an option: say how it is written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            error.message = f'{error.message} To leave out a word, write the query behind "--": vecsearch search -- restore -backup'
            raise


@click.command(cls=_Search)
@repository_option
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of content.")
@click.option("--project", help="Only this project; an empty one is this repository.")
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 100), help="At most so many hits.")
@click.option("--mode", default="hybrid", show_default=True, type=click.Choice(MODES), help="Which arms answer.")
@click.option("--files", multiple=True, metavar="FILE", help="A file in hand: what is near to it counts more; repeatable.")
@click.option("--explain", is_flag=True, help="Say of each hit what put it where it stands.")
@click.option("--json", "as_json", is_flag=True, help="Print the hits as JSON.")
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
def search(repository: Path | None, kind: str | None, project: str | None, k: int, mode: str, files: tuple[str, ...], explain: bool,
           as_json: bool, words: tuple[str, ...]) -> None:
    """Search the index. QUERY is words, "exact phrases", -word, word*, kind:K, path:GLOB, user:U,
    after:DATE, before:DATE, in:title."""
    from . import embed, present
    from .fossil.repository import open_readonly
    from .search.query import parse
    from .search.run import search as run
    from .store.reader import Reader

    options: dict[str, Any] = {"k": k, "mode": mode, "files": files, "explain": explain}
    if kind:
        options["kinds"] = frozenset({kind})
    if project is not None:
        options["project"] = project
    db = open_readonly(locate(repository))
    try:
        result = run(db, lambda: embed.get(Reader(db).settings()), parse(" ".join(words), **options), KINDS)
    finally:
        db.close()
    if as_json:
        click.echo(json.dumps(present.result_json(result, result.next), ensure_ascii=False))
    else:
        click.echo(present.result_text(result), nl=False)
    if result.message:
        click.echo(f"vecsearch: {result.message}", err=True)
    if result.state == "no_index":
        sys.exit(1)


@click.command("eval")
@repository_option
@click.option("--set", "set_file", type=FILE_NAME, metavar="FILE", help="Questions and the paths that answer them, as JSON lines.")
@click.option("--from-history", is_flag=True, help="Make the set from this repository's check-ins: comment -> files changed.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these kinds may answer; repeatable.")
@click.option("--provider", "providers", multiple=True, help="Also score this provider's vectors, in memory; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def eval_(repository: Path | None, set_file: Path | None, from_history: bool, kinds: tuple[str, ...], providers: tuple[str, ...],
          as_json: bool) -> None:
    """Measure how well searches are answered, by arm and by provider. Needs --set or --from-history."""
    from . import evaluate

    if (set_file is None) == (not from_history):
        raise UsageError("give one of --set FILE and --from-history")
    report, notes = evaluate.run(locate(repository), set_file, frozenset(kinds), providers)
    click.echo(json.dumps(report, ensure_ascii=False) if as_json else "\n".join(evaluate.table(report)))
    for note in notes:
        click.echo(f"vecsearch: {note}", err=True)


COMMANDS = (search, eval_)
