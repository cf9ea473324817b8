"""The command line. Each command parses, calls one verb and prints; who runs it holds the
repository file and sees everything in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from . import __version__
from .cli_admin import COMMANDS as ADMIN_COMMANDS
from .cli_base import Group, locate, repository_option
from .cli_programs import COMMANDS as PROGRAM_COMMANDS
from .errors import UsageError
from .types import KINDS

MODES = ("hybrid", "semantic", "keyword")


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vecsearch")
def main() -> None:
    """Semantic and keyword search for Fossil repositories.

    The index lives inside the repository file. Start with `vecsearch index`, then `vecsearch search
    WORDS`, then `vecsearch install` for the search page.
    """


@main.command()
@repository_option
@click.option("--all", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Every repository (*.fossil) below DIR instead.")
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

    _exit_if_refused([str(fault) for fault in runs.all_below(folder, one)])


@main.command()
@repository_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rebuild(repository: Path | None, as_json: bool) -> None:
    """Embed everything anew, after a change of model; until the end the old index answers."""
    _index(locate(repository), rebuild=True, as_json=as_json)


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


@main.command("eval")
@repository_option
@click.option("--set", "set_file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE", help="Questions and the paths that answer them, as JSON lines.")
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


@main.group(cls=Group)
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


@click.group("agent-tool", cls=Group)
def agent_tool() -> None:
    """The contract's names of the first five commands."""


for _name, _command in {"vec-index": index, "vec-import": import_, "vec-normalize": normalize, "vec-rebuild": rebuild, "vec-search": search}.items():
    agent_tool.add_command(_command, _name)

for _command in (*ADMIN_COMMANDS, *PROGRAM_COMMANDS):
    main.add_command(_command)
