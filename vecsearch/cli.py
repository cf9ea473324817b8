"""The command line. Each command parses, calls one verb and prints; who runs it holds the
repository file and sees everything in it."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from . import __version__
from .errors import UsageError, VecsearchError
from .types import KINDS

MODES = ("hybrid", "semantic", "keyword")


class _Group(click.Group):
    """Turns every foreseen error into one line on stderr: exit 1, or 2 for wrong usage."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except VecsearchError as error:
            fail(error)
        except sqlite3.Error as error:
            from .store.connection import explain

            fail(explain("repository", error))
        except BrokenPipeError:
            sys.exit(0)


def fail(error: VecsearchError) -> NoReturn:
    """One line that says what, where and what to do."""
    click.echo(f"vecsearch: {error}", err=True)
    sys.exit(2 if isinstance(error, UsageError) else 1)


def repository_option(command: Callable) -> Callable:
    """-R FILE, or the repository of the check-out that one stands in."""
    return click.option("-R", "--repository", type=click.Path(path_type=Path), metavar="FILE",
                        help="The repository; default: that of the check-out you stand in.")(command)


def locate(repository: Path | None) -> Path:
    """The repository file that a command works on. Raises RepositoryError where there is none."""
    from .fossil.repository import find_repository

    return repository or find_repository(Path.cwd())


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vecsearch")
def main() -> None:
    """Semantic and keyword search for Fossil repositories.

    The index lives inside the repository file. Start with `vecsearch index`, then `vecsearch search
    WORDS`, then `vecsearch install` for the search page.
    """


@main.command()
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def index(repository: Path | None, as_json: bool) -> None:
    """Bring the index up to the repository: only what changed is embedded."""
    _index(locate(repository), rebuild=False, as_json=as_json)


@main.command()
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rebuild(repository: Path | None, as_json: bool) -> None:
    """Embed everything anew, after a change of model; until the end the old index answers."""
    _index(locate(repository), rebuild=True, as_json=as_json)


def _index(path: Path, rebuild: bool, as_json: bool) -> None:
    from . import embed
    from .index import index as run

    with _progress(as_json) as advance:
        report = run(path, embed.get, rebuild=rebuild, progress=advance)
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


@main.command("import")
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
    _exit_if_refused([*report.refused, *(f"not imported: {name}" for name in report.failed)])


@main.command()
@repository_option
def normalize(repository: Path | None) -> None:
    """Make stored vectors unit vectors and old blobs VE01; calls no model."""
    from .transfer import normalize as run

    report = run(locate(repository))
    click.echo(report.as_text())
    _exit_if_refused(report.refused)


def _exit_if_refused(faults: list[str]) -> None:
    for fault in faults:
        click.echo(f"vecsearch: {fault}", err=True)
    if faults:
        sys.exit(1)


@main.command()
@repository_option
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of content.")
@click.option("--project", help="Only this project; an empty one is this repository.")
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 100), help="At most so many hits.")
@click.option("--mode", default="hybrid", show_default=True, type=click.Choice(MODES), help="Which arms answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the hits as JSON.")
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
def search(repository: Path | None, kind: str | None, project: str | None, k: int, mode: str, as_json: bool,
           words: tuple[str, ...]) -> None:
    """Search the index. QUERY is words, "exact phrases", -word, word*, kind:K, path:GLOB, user:U,
    after:DATE, before:DATE, in:title."""
    from . import embed, present
    from .fossil.repository import open_readonly
    from .search.query import parse
    from .search.run import search as run
    from .store.reader import Reader

    options: dict[str, Any] = {"k": k, "mode": mode}
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


@main.command()
@repository_option
@click.option("--skipped", is_flag=True, help="Name each artifact that was skipped or needed a note.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def status(repository: Path | None, skipped: bool, as_json: bool) -> None:
    """What is indexed, by which model, and whether it is current."""
    from . import status as facts

    path = locate(repository)
    found = facts.collect(path)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    click.echo(facts.as_text(found, with_skipped=skipped), nl=False)


@main.command("import-api")
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


@main.command()
@repository_option
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Return the setting to its default.")
@click.option("--json", "as_json", is_flag=True, help="Print the settings as JSON.")
def config(repository: Path | None, name: str | None, value: str | None, unset: bool, as_json: bool) -> None:
    """Show all settings, show one, or set one. They live in the repository; lists are comma-separated."""
    from . import administration

    path = locate(repository)
    if name and (unset or value is not None):
        click.echo(administration.change_setting(path, name, None if unset else value))
    else:
        click.echo(administration.show_settings(path, name, as_json=as_json))


@main.group()
def media() -> None:
    """Remote media and their manifests."""


@media.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("manifest", type=click.Path(path_type=Path))
def verify(file: Path, manifest: Path) -> None:
    """Whether FILE is the asset that MANIFEST describes, by size and SHA3-256."""
    from . import administration

    click.echo(administration.verify_media(file, manifest))


@main.command()
@click.option("--extroot", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The directory that `fossil server --extroot` is given.")
@repository_option
@click.option("--name", default="search", show_default=True, help="File name of the launcher, and last part of its URL.")
def install(extroot: Path, repository: Path | None, name: str) -> None:
    """Write the launcher of the search page into an extension root."""
    from .install import install as run

    click.echo(run(extroot, name, repository), nl=False)


@main.group(cls=_Group)
def peer() -> None:
    """Search other repositories along with this one."""


@peer.command("add")
@repository_option
@click.option("--base-url", default="", metavar="URL", help="Where the peer's pages stand, if not at its own URL.")
@click.option("--trust", is_flag=True,
              help="Take also what only some may read there: who may read that kind here will see it.")
@click.argument("name")
@click.argument("location", metavar="FILE-OR-URL")
def peer_add(repository: Path | None, base_url: str, trust: bool, name: str, location: str) -> None:
    """Take in another repository's index under the project NAME."""
    from .peers import add

    _peer_reports([add(locate(repository), name, location, base_url=base_url, trusted=trust)])


@peer.command("list")
@repository_option
def peer_list(repository: Path | None) -> None:
    """Each peer, what came from it, and where from."""
    from .peers import listing

    for known, artifacts in listing(locate(repository)):
        base = f", opens at {known.base_url}" if known.base_url else ", hits have no link: no --base-url"
        click.echo(f"{known.name:20} {artifacts:7} artifacts from {known.location}{base}{', trusted' if known.trusted else ''}")


@peer.command("update")
@repository_option
@click.argument("names", nargs=-1)
def peer_update(repository: Path | None, names: tuple[str, ...]) -> None:
    """Bring the named peers, or all, up to date; what cannot be read stays as it was."""
    from .peers import update

    _peer_reports(update(locate(repository), names))


@peer.command("remove")
@repository_option
@click.argument("name")
def peer_remove(repository: Path | None, name: str) -> None:
    """Forget a peer and all that came from it."""
    from .peers import remove

    click.echo(f"{name}: {remove(locate(repository), name)} artifacts removed")


def _peer_reports(reports: list) -> None:
    for report in reports:
        click.echo(report.as_text())
    _exit_if_refused([fault for report in reports for fault in report.faults])


@click.group("agent-tool", cls=_Group)
def agent_tool() -> None:
    """The contract's names of the first five commands."""


for _name, _command in {"vec-index": index, "vec-import": import_, "vec-normalize": normalize, "vec-rebuild": rebuild, "vec-search": search}.items():
    agent_tool.add_command(_command, _name)
