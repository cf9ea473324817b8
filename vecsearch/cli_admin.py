"""The commands of whoever looks after a server: install, uninstall, doctor, serve, hook, watch, status, config, media."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from .cli_base import FILE_NAME, Group, locate, repository_option
from .errors import RepositoryError

extroot_option = click.option("--extroot", type=FILE_NAME, metavar="DIR",
                              help="The directory that `fossil server --extroot` is given.")
name_option = click.option("--name", default="search", show_default=True, help="File name of the launcher, and last part of its URL.")
user_option = click.option("--user", metavar="NAME", help="The user that Fossil runs as; default: the repository's owner if you are root.")


@click.command()
@click.option("--extroot", required=True, type=FILE_NAME, metavar="DIR",
              help="The directory that `fossil server --extroot` is given.")
@repository_option
@name_option
@user_option
@click.option("--menu", is_flag=True, help="Also add Search to the site's menu (the setting mainmenu).")
@click.option("--no-worker", is_flag=True, help="Answer each request by a process of its own; nothing stays in memory between two.")
def install(extroot: Path, repository: Path | None, name: str, user: str | None, menu: bool, no_worker: bool) -> None:
    """Write the launcher of the search page into an extension root."""
    from . import install as verb

    click.echo(verb.install(extroot, name, locate(repository) if menu else repository, user, worker=not no_worker), nl=False)
    if menu:
        click.echo(verb.add_to_menu(locate(repository), name))


@click.command()
@extroot_option
@repository_option
@name_option
@click.option("--purge", is_flag=True, help="Also drop the index, our settings, and the unversioned files vec/*.")
def uninstall(extroot: Path | None, repository: Path | None, name: str, purge: bool) -> None:
    """Undo `install` and `hook install`: the launcher, the menu entry and the hooks go."""
    from . import uninstall as verb

    click.echo(verb.uninstall(locate(repository), extroot, name, purge=purge))


@click.command()
@repository_option
@extroot_option
@name_option
@user_option
@click.option("--jail", type=FILE_NAME, metavar="DIR", help="The directory that Fossil locks itself into, if it does.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(repository: Path | None, extroot: Path | None, name: str, user: str | None, jail: Path | None, as_json: bool) -> None:
    """Look for all that is known to go wrong, and say what to do. Silent when all is well.

    Exit code: 0 healthy, 3 warnings only, 1 something is broken.
    """
    from . import doctor as verb

    findings = verb.examine(verb.Setup(locate(repository), extroot, name, user, jail))
    click.echo(verb.as_json(findings) if as_json else verb.as_text(findings), nl=as_json)
    sys.exit(verb.exit_code(findings))


@click.command()
@repository_option
@click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port of the server.")
def serve(repository: Path | None, port: int) -> None:
    """Serve the search page of a repository to this machine, by `fossil server` with an extension root of its own."""
    from . import serve as verb

    verb.serve(locate(repository), port, lambda line: click.echo(line))


@click.group(cls=Group)
def hook() -> None:
    """Let Fossil itself start index runs, by its after-receive and before-commit hooks."""


@hook.command("install")
@repository_option
def hook_install(repository: Path | None) -> None:
    """Add the hooks to the repository."""
    from . import hooks

    click.echo(hooks.install(locate(repository)))


@hook.command("uninstall")
@repository_option
def hook_uninstall(repository: Path | None) -> None:
    """Take our hooks away; other hooks stay."""
    from . import hooks

    click.echo(hooks.uninstall(locate(repository)) or "there was no hook of vecsearch")


@hook.command("run")
@click.option("-R", "--repository", required=True, type=FILE_NAME, metavar="FILE", help="The repository.")
@click.option("--commit", is_flag=True, help="Called before a check-in, so without a list on standard input.")
def hook_run(repository: Path, commit: bool) -> None:
    """What the hooks call: returns at once and keeps the index current for a minute from now."""
    from . import hooks

    hooks.run(repository, commit=commit, say=lambda _: None)


@click.command()
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 64), help="At most so many index runs at once.")
@click.argument("target", type=FILE_NAME, metavar="FILE-OR-DIR")
def watch(target: Path, jobs: int) -> None:
    """Keep the index of a repository, or of every *.fossil below a directory, current until stopped.

    SIGTERM ends it when the runs at work are done; SIGHUP tries failed repositories again at once.
    """
    from .folder import repositories
    from .watch import Watcher

    if not target.exists():
        raise RepositoryError(f"{target}: there is no such file or folder")
    find = (lambda: repositories(target)) if target.is_dir() else (lambda: [target])
    find()
    Watcher(find, lambda line: click.echo(f"vecsearch: {line}", err=True), jobs).go()


@click.command()
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


@click.command()
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


@click.group(cls=Group)
def media() -> None:
    """Remote media and their manifests."""


@media.command()
@click.argument("file", type=FILE_NAME)
@click.argument("manifest", type=FILE_NAME)
def verify(file: Path, manifest: Path) -> None:
    """Whether FILE is the asset that MANIFEST describes, by size and SHA3-256."""
    from . import administration

    click.echo(administration.verify_media(file, manifest))


@click.group(cls=Group)
def worker() -> None:
    """The process that answers for the launcher, started by the first request; it leaves after ten minutes without one.

    As the user that Fossil runs as: each user has a worker of their own.
    """


@worker.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def worker_status(as_json: bool) -> None:
    """Whether a worker of this installation runs, and what it takes."""
    from . import install as verb, resident

    found = resident.state(verb.worker_name())
    if as_json:
        click.echo(json.dumps(found))
    elif found:
        click.echo("process {pid} for {seconds} s: {requests} requests, {megabytes} MB".format(**found))
    else:
        click.echo("no worker runs" if resident.folder() else f"no worker can run: {resident.unusable()}")


@worker.command("stop")
def worker_stop() -> None:
    """End it; the next request starts another."""
    from . import install as verb, resident

    click.echo("stopped" if resident.stop(verb.worker_name()) else "no worker runs")


COMMANDS = (install, uninstall, doctor, serve, hook, watch, worker, status, config, media)
