"""From a CGI environment to the Flask app, and back to what a CGI prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO, StringIO
from typing import Any, BinaryIO, TextIO
from wsgiref.handlers import SimpleHandler

from .web import create_app

#: Repositories whose app a long-lived process keeps.
KEPT = 16

_app = lru_cache(KEPT)(create_app)


class _Handler(SimpleHandler):
    """Prints `Status:` and headers, as a CGI does. Without this process's own environment: it may hold names
    that Fossil did not send, and is nobody's in a worker."""

    os_environ: dict[str, str] = {}
    origin_server = False


def answer(environ: Mapping[bytes, bytes], body: BinaryIO, errors: TextIO) -> bytes:
    """All that goes to standard output. What goes to the server's log is written to `errors`."""
    out = BytesIO()
    handler = _Handler(body, out, errors, wsgi_environ(environ), multithread=True, multiprocess=True)
    handler.run(_app(os.path.abspath(os.fsdecode(environ.get(b"FOSSIL_REPOSITORY", b"")))))
    return out.getvalue()


def wsgi_environ(environ: Mapping[bytes, bytes]) -> dict[str, Any]:
    """What the visitor sent as PEP 3333 wants it, in Latin-1; what Fossil says of its own as text."""
    return {os.fsdecode(name): os.fsdecode(value) if name.startswith(b"FOSSIL_") else value.decode("latin-1")
            for name, value in environ.items()}


def main() -> None:
    """One request of this process, for launchers of 0.1.0, which know no worker."""
    errors = StringIO()
    said = answer(os.environb, sys.stdin.buffer, errors)
    sys.stderr.write(errors.getvalue())
    sys.stdout.buffer.write(said)
