"""Responses: the headers of all, 304 for an answer that the visitor holds already, and faults as a page
or as JSON, whichever was asked for."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from flask import Response, current_app, render_template, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from ..errors import VecsearchError
from ..store.connection import explain
from .asked import FORMATS
from .resources import static_text

#: Whoever logs in or out must not be shown what was meant for somebody else.
HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}


def base() -> str:
    """What stands before every link of the site."""
    return request.environ.get("FOSSIL_URI", "")


def origin() -> str:
    """Scheme and host for the few formats that need whole addresses. The host is the visitor's word:
    only what can be one is taken."""
    host = request.environ.get("HTTP_HOST", "")
    if not re.fullmatch(r"[A-Za-z0-9.-]+(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?", host):
        host = "localhost"
    return f"{'https' if request.environ.get('HTTPS', '').lower() == 'on' else 'http'}://{host}"


def address_was_cut() -> bool:
    """Fossil's own server reads 1999 bytes of `GET ADDRESS` and drops the rest without a word (cgi.c)."""
    return len(f"{request.method} {request.environ.get('REQUEST_URI', '')}") == 1999


def nonce() -> str:
    """What the page's script must carry to be run; empty where nobody gave one."""
    return request.environ.get("FOSSIL_NONCE", "")


def html(template: str, status: int = 200, **values: Any) -> Response:
    """A page in the skin. It has no ETag: a 304 would bring Fossil's new nonce to the old page's script."""
    here = request.full_path.rstrip("?").removeprefix("/")
    here = f"ext/search{'/' if here[:1] not in ('', '?') else ''}{here}"
    body = render_template(template, base=base(), nonce=nonce(), style=Markup(static_text("search.css")),
                           script=Markup(static_text("search.js")), login=f"{base()}/login?g={quote(here, safe='')}", **values)
    return Response(body.strip() + "\n", status, content_type="text/html; charset=utf-8", headers=HEADERS)


def data(body: str, content_type: str, *, status: int = 200, unlike: str = "") -> Response:
    """Anything but a page. `unlike` is the body without what differs between equal answers, such as how
    long it took. The tag is made of what the visitor may see, so it changes with a login that matters."""
    tag = hashlib.blake2b((unlike or body).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    response = Response(body.encode("utf-8", "replace"), status, content_type=content_type, headers=HEADERS)
    if status == 200:
        response.set_etag(tag)
        response.make_conditional(request)
    return response


def as_json(facts: Mapping[str, Any], status: int = 200) -> Response:
    """JSON; `took_ms` does not count as a difference."""
    same = json.dumps({name: None if name == "took_ms" else value for name, value in facts.items()}, ensure_ascii=False, allow_nan=False) + "\n"
    took = json.dumps(facts.get("took_ms"))
    body = same.replace('"took_ms": null', f'"took_ms": {took}', 1)  # within a text its quotes would be escaped
    return data(body, "application/json", status=status, unlike=same)


def failed(error: VecsearchError) -> Response:
    """A foreseen fault. Paths of the server stay in its log."""
    _log(error.status, str(error))
    message = str(error).replace(f"{current_app.config['REPOSITORY']}: ", "")
    return _fault(error.code, message, error.status)


def database_failed(error: sqlite3.Error) -> Response:
    return failed(explain(current_app.config["REPOSITORY"], error))


def http_failed(error: HTTPException) -> Response:
    """Such as a page that does not exist, or a method that is not GET."""
    response = _fault("http", f"{error.code} {error.name}", error.code or 500)
    if allowed := getattr(error, "valid_methods", None):
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def broken(error: Exception) -> Response:
    """The last resort for a fault nobody foresaw: logged in full, told in one sentence."""
    current_app.logger.error("vecsearch: unforeseen", exc_info=error)
    _log(500, f"unforeseen: {type(error).__name__}")
    return _fault("internal", "the search failed; what went wrong stands in the server's error log", 500)


def _log(status: int, message: str) -> None:
    from ..log import Log

    Log.of(current_app.config["REPOSITORY"], request.environ["wsgi.errors"]).request_failed(status, message, request.args.get("q") or request.args.get("s") or "")


def _fault(code: str, message: str, status: int) -> Response:
    if request.args.get("format") in FORMATS[1:] or request.path.endswith(".json"):
        return as_json({"error": {"code": code, "message": message}}, status)
    return html("error.html", status, message=message, code=status)
