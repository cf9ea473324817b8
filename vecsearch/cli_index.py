"""The commands that make and mend the index: index, rebuild, import, normalize, import-api."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from .cli_base import FILE_NAME, exit_if_refused, locate, repository_option


@click.command()
@repository_option
@click.option("--all", "folder", type=FILE_NAME, metavar="DIR", help="Every repository (*.fossil) below DIR instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def index(repository: Path | None, folder: Path | None, as_json: bool) -> None:
    """Bring the index up to the repository: only what changed is embedded."""
    if folder is None:
        _index(locate(repository), rebuild=False, as_json=as_json)
        return
    from . import runs

    def one(path: Path) -> None:
        click.echo("" if as_json else f"{path}: ", nl=False)
        _index(path, rebuild=False, as_json=as_json)

    exit_if_refused([str(fault) for fault in runs.all_below(folder, one)])


@click.command()
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rebuild(repository: Path | None, as_json: bool) -> None:
    """Embed everything anew, after a change of model; until the end the old index answers."""
    from . import runs

    path = locate(repository)
    _index(path, rebuild=True, as_json=as_json)
    for line in runs.to_take_in_again(path):
        click.echo(f"vecsearch: {line}", err=True)


def _index(path: Path, rebuild: bool, as_json: bool) -> None:
    from . import runs

    with _progress(as_json) as advance:
        report = runs.run(path, rebuild=rebuild, progress=advance,
                          waiting=lambda: click.echo("vecsearch: another run is at work on this repository; waiting for it", err=True))
    if as_json:
        click.echo(json.dumps(report.as_dict(), ensure_ascii=False))
    else:
        click.echo(report.as_text())
    for name in report.failed:
        click.echo(f"vecsearch: not indexed: {name}", err=True)


class _progress:
    """A bar on a terminal, nothing when piped."""

    def __init__(self, quiet: bool):
        self.quiet, self.bar = quiet or not sys.stderr.isatty(), None

    def __enter__(self) -> Callable[[int, int], None]:
        return self.advance

    def advance(self, done: int, expected: int) -> None:
        if self.quiet:
            return
        if self.bar is None:
            self.bar = click.progressbar(length=expected, label="indexing", file=sys.stderr)
            self.bar.__enter__()
        self.bar.update(done - self.bar.pos)

    def __exit__(self, *failure: object) -> None:
        if self.bar is not None:
            self.bar.__exit__(*failure)


@click.command("import")
@repository_option
@click.option("--model", default="", metavar="ID", help="The blobs' model, where there is no vec/index.json to name it.")
@click.option("--replace", is_flag=True, help="Take them even if the tables hold an index by another model.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_(repository: Path | None, model: str, replace: bool, as_json: bool) -> None:
    """Fill the index from vec/*.bin, after a clone, a sync or a loss of the tables; calls no model."""
    from .transfer import import_ as run

    with _progress(as_json) as advance:
        report = run(locate(repository), model=model, replace_index=replace, progress=advance)
    click.echo(json.dumps(report.as_dict(), ensure_ascii=False) if as_json else report.as_text())
    exit_if_refused([*report.refused, *(f"not imported: {name}" for name in report.failed)])


@click.command()
@repository_option
def normalize(repository: Path | None) -> None:
    """Make stored vectors unit vectors and old blobs VE01; calls no model."""
    from .transfer import normalize as run

    report = run(locate(repository))
    click.echo(report.as_text())
    exit_if_refused(report.refused)


@click.command("import-api")
@repository_option
@click.argument("name")
@click.argument("source", required=False)
@click.option("--url-template", default="", metavar="URL", help="Address of a definition; {name} stands for its name.")
@click.option("--remove", is_flag=True, help="Forget the library instead.")
def import_api(repository: Path | None, name: str, source: str | None, url_template: str, remove: bool) -> None:
    """Take in a library's public definitions as kind api, under the project NAME.

    SOURCE is a directory or an installed Python distribution. `vecsearch import-api fossil` reads the
    built-in help of the installed fossil: its commands, pages and settings.
    """
    from . import embed, library

    if remove:
        click.echo(f"removed {library.forget_library(locate(repository), name)} definitions of {name}")
        return
    total, embedded = library.import_library(locate(repository), name, source or name, url_template, embed.get)
    click.echo(f"{name}: {total} definitions ({embedded} embedded)")


COMMANDS = (index, rebuild, import_, normalize, import_api)
