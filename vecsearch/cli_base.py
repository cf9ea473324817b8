"""What every command shares: one line for a foreseen fault, the right exit code, and -R."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import click

from .errors import RepositoryError, StoreError, UsageError, VecsearchError


class Group(click.Group):
    """Turns every foreseen error into one line on stderr: exit 1, or 2 for wrong usage."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except click.UsageError as error:
            _refuse(error)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            if sys.stdout:  # a job may run without any
                sys.stdout.flush()
            return result
        except click.UsageError as error:
            _refuse(error)
        except VecsearchError as error:
            fail(error)
        except sqlite3.Error as error:
            from .store.connection import explain

            fail(explain("repository", error))
        except BrokenPipeError:  # whoever reads has enough, as `head`; Python would try again at its end
            drop_output()
            sys.exit(0)
        except OSError as error:  # of a file that was named, or that stands beside one, or of a full disk
            drop_output()
            fail(VecsearchError(": ".join(filter(None, (str(error.filename or ""), error.strerror or str(error))))))


def drop_output() -> None:
    """What could not be written is not tried again at the end of Python, which would say so in its own words."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(error: VecsearchError) -> NoReturn:
    """One line that says what, where and what to do."""
    where = f"{error.file}: " if isinstance(error, StoreError) and error.file else ""
    click.echo(f"vecsearch: {where}{error}", err=True)
    sys.exit(2 if isinstance(error, UsageError) else 1)


def _refuse(error: click.UsageError) -> NoReturn:
    """What click says in four lines, in one. A command that has subcommands and got none shows its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        raise error
    command = error.ctx.command_path if error.ctx else "vecsearch"
    fail(UsageError(f"{error.format_message().rstrip('.')}; see: {command} --help"))


def exit_if_refused(faults: Iterable[str]) -> None:
    """What was done is done; each fault is a line, and any of them is exit 1."""
    faults = list(faults)
    for fault in faults:
        click.echo(f"vecsearch: {fault}", err=True)
    if faults:
        sys.exit(1)


class _FileName(click.Path):
    """A path as it was typed. Whether it can be used, the verb says in its own words and with its own exit
    code: click would call a file that may not be read wrong usage, and an empty name the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE_NAME = _FileName(readable=False, path_type=Path)


def repository_option(command: Callable) -> Callable:
    """-R FILE, or the repository of the check-out that one stands in."""
    return click.option("-R", "--repository", type=FILE_NAME, metavar="FILE",
                        help="The repository; default: that of the check-out you stand in.")(command)


def locate(repository: Path | None) -> Path:
    """The repository file that a command works on. Raises RepositoryError where there is none."""
    from .fossil.repository import find_repository

    if repository is not None:
        return repository
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise RepositoryError("the folder you stand in is gone; name a repository with -R FILE") from None
    return find_repository(here)
