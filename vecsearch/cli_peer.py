"""The commands about other repositories' indexes."""

from __future__ import annotations

from pathlib import Path

import click

from .cli_base import Group, exit_if_refused, locate, repository_option


@click.group(cls=Group)
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
    from .peer_http import without_login
    from .peer_offer import is_url
    from .peers import listing

    for known, artifacts in listing(locate(repository)):
        place = without_login(known.location) if is_url(known.location) else known.location
        base = f", opens at {known.base_url}" if known.base_url else ", hits have no link: no --base-url"
        click.echo(f"{known.name:20} {artifacts:7} artifacts from {place}{base}{', trusted' if known.trusted else ''}")


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
    exit_if_refused([fault for report in reports for fault in report.faults])


COMMANDS = (peer,)
