"""The web surface: pages and data at /ext/search, for whoever is allowed to see what.

    asked    what the address asks for; the address is the only state
    page     the search page            formats  the same answer for programs
    map      the picture of the store   replies  headers, ETag, faults as page or JSON
    visit    the repository and the visitor's rights

Fossil wraps an answer in the site's skin because its body is one <div class='fossil-doc'>. Most requests
are a process of their own, so what only some of them need is loaded by those.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

from flask import Flask, Response
from flask.templating import Environment
from werkzeug.exceptions import HTTPException

from ..errors import VecsearchError
from . import page, replies
from .compiled import compiled_templates
from .resources import add_filters, resource_folder

__all__ = ["create_app", "resource_folder"]


class _App(Flask):
    def create_jinja_environment(self) -> Environment:
        """Called by Flask before the first page; JSON does without."""
        made = super().create_jinja_environment()
        made.trim_blocks = made.lstrip_blocks = True
        made.bytecode_cache = compiled_templates()
        add_filters(made.filters)
        return made


def create_app(repository_path: str) -> Flask:
    """The app for one repository. Nothing is opened before the first request."""
    app = _App("vecsearch", template_folder=str(resource_folder("templates")), static_folder=None)
    app.config.update(REPOSITORY=repository_path, MAX_CONTENT_LENGTH=1 << 20)
    app.add_url_rule("/", "search", page.page)
    app.add_url_rule("/map", "map", _map)
    app.add_url_rule("/openapi.json", "openapi", _openapi)
    app.add_url_rule("/mcp", "mcp", _programs, methods=["GET", "POST", "DELETE"])
    app.register_error_handler(VecsearchError, replies.failed)
    app.register_error_handler(sqlite3.Error, replies.database_failed)
    app.register_error_handler(HTTPException, replies.http_failed)
    app.register_error_handler(Exception, replies.broken)
    app.wsgi_app = _with_path(app.wsgi_app)
    return app


def _map() -> Response:
    from . import map

    return map.page()


def _openapi() -> Response:
    from . import formats

    return formats.openapi()


def _programs() -> Response:
    from ..mcp import endpoint

    return endpoint.reply()


def _with_path(wsgi: Callable) -> Callable:
    """`/ext/search` arrives with an empty PATH_INFO, which Flask would redirect to `/ext/search/`; and a
    query string may hold raw bytes, which it would take for UTF-8 or fail."""

    def call(environ: dict[str, Any], start_response: Callable) -> Any:
        asked = re.sub("[^\x00-\x7f]", lambda raw: f"%{ord(raw[0]):02X}", environ.get("QUERY_STRING", ""))
        return wsgi({**environ, "PATH_INFO": environ.get("PATH_INFO") or "/", "QUERY_STRING": asked}, start_response)

    return call
