"""From Fossil's CGI environment to the Flask app, once per process. The only reader of os.environ
on this surface."""

from __future__ import annotations

import os
import sys
from wsgiref.handlers import CGIHandler

FAILED = b"""Status: 500 Internal Server Error\r
Content-Type: text/html; charset=utf-8\r
\r
<div class='fossil-doc' data-title='Search failed'><p>The search failed before it could answer. What
went wrong stands in the server's error log.</p></div>
"""


class _Handler(CGIHandler):
    """Without the server's own environment: it may hold names that Fossil did not send."""

    os_environ: dict[str, str] = {}


def main() -> None:
    """Answer one request on stdout. A fault before the header becomes a 500 with a sentence, never
    the blank 200 that Fossil makes of silence; so here, and only here, everything is caught."""
    try:
        from .web import create_app

        app = create_app(_repository_path())
    except BaseException as error:
        print(f"vecsearch: {type(error).__name__}: {error}", file=sys.stderr)
        sys.stdout.buffer.write(FAILED)
        return
    _Handler().run(app)


def _repository_path() -> str:
    """FOSSIL_REPOSITORY may be relative to the working directory that Fossil runs us in."""
    return os.path.abspath(os.environ.get("FOSSIL_REPOSITORY", ""))
