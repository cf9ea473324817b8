"""Fossil's built-in help as a library: commands, web pages and settings of the `fossil` on the PATH.
Most of what people ask about settings stands only there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from ..errors import UsageError
from .python_api import Found

#: Fossil shows each topic itself.
TEMPLATE = "/help/{name}"

#: Options of `fossil help` that list names, and what such a name is.
_LISTS = (("-a", "command"), ("-x", "command"), ("-w", "web page"), ("-s", "setting"))


def topics() -> Iterator[Found]:
    """Each topic once. Raises UsageError where there is no `fossil` to ask."""
    for option, what in _LISTS:
        for name in _fossil("help", option).split():
            text = _fossil("help", name).strip()
            if text:
                yield name, f"fossil {name}" if what == "command" else f"{name} ({what})", text, "plain", None


def _fossil(*args: str) -> str:
    # Under a web server's variables `fossil` takes itself for a CGI.
    environ = {k: v for k, v in os.environ.items() if k != "GATEWAY_INTERFACE"}
    try:
        done = subprocess.run(["fossil", *args], capture_output=True, env=environ, timeout=30, check=False)
    except FileNotFoundError:
        raise UsageError("there is no fossil on the PATH whose help could be read; install it") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"fossil {' '.join(args)} does not answer") from None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
