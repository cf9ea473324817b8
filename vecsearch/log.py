"""One line per index run and per failed request, to where the setting `log` says: syslog or a file.
What visitors typed is only written where the setting `log-queries` asks for it.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from .config import SETTINGS
from .errors import VecsearchError
from .fossil.repository import open_readonly
from .store.reader import Reader

#: A value that stands in a line as it is; anything else is quoted, so that no text can forge a line.
_PLAIN = re.compile(r"[\w.:/@+,-]+", re.ASCII)

#: From the first quote to the last: what was typed may hold quotes itself.
_QUOTED = re.compile(r'".*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Log:
    """Where one repository's lines go. `destination` is "", "syslog" or the path of a file."""

    repository: str
    destination: str
    queries: bool
    errors: TextIO

    @classmethod
    def of(cls, path: Path | str, errors: TextIO = sys.stderr) -> Log:
        """By the repository's settings; by the defaults where they cannot be read, since a fault that
        cannot be logged where it should be must still be told: on `errors`."""
        try:
            db = open_readonly(path)
            try:
                settings = Reader(db).settings()
            finally:
                db.close()
        except (VecsearchError, sqlite3.Error):
            settings = {name: setting.default for name, setting in SETTINGS.items()}
        return cls(Path(path).name, settings["log"], settings["log-queries"] == "yes", errors)

    def run(self, verb: str, seconds: float, facts: Mapping[str, Any]) -> None:
        """A run that ended, well or not; nothing where no log is set, since the command prints it."""
        if self.destination:
            self._write(f"{verb} {self.repository}", {**facts, "seconds": f"{seconds:.1f}"})

    def request_failed(self, status: int, message: str, query: str) -> None:
        """A request that was answered by an error. Messages quote what was typed; not so in the log."""
        shown = message if self.queries else _QUOTED.sub('"..."', message)
        facts = {"status": status, "message": shown} | ({"query": query} if self.queries else {})
        self._write(f"request {self.repository}", facts)

    def _write(self, subject: str, facts: Mapping[str, Any]) -> None:
        text = " ".join([subject, *(f"{name}={_shown(value)}" for name, value in facts.items())])
        if self.destination == "syslog":
            import syslog

            syslog.openlog("vecsearch", 0, syslog.LOG_DAEMON)
            syslog.syslog(syslog.LOG_NOTICE, text)
        elif self.destination:
            self._append(text)
        else:
            print(f"vecsearch: {text}", file=self.errors)

    def _append(self, text: str) -> None:
        """One write per line, so that lines of several processes never mix. Opened anew each time, so
        that logrotate may move the file."""
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n".encode()
        try:
            file = os.open(self.destination, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o640)
            try:
                os.write(file, line)
            finally:
                os.close(file)
        except OSError as error:  # no fault of a log stops a run or an answer
            print(f"vecsearch: cannot log to {self.destination} ({error.strerror}): {text}", file=self.errors)


def _shown(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
