"""What every command shares: one line for a foreseen fault, the right exit code, and -R."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from .errors import UsageError, VecsearchError


class Group(click.Group):
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
