"""The web surface: one page and its JSON, for whoever is allowed to see what.

Fossil wraps the answer in the site's skin because the body is one <div class='fossil-doc'>.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Flask, Response, current_app, render_template, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from . import embed
from .errors import UsageError, VecsearchError
from .fossil import access, repository
from .mcp.endpoint import programs
from .log import Log
from .present import result_json
from .search.query import DEFAULT_K, MAX_K, Query, known_kind, parse, whole_number
from .search.run import Result, search
from .store.connection import explain
from .store.reader import Reader

#: Beyond this a page number is a crawler's, not a reader's.
MAX_OFFSET = 1000

pages = Blueprint("pages", __name__)


def resource_folder(name: str) -> Path:
    """`templates` or `static`: inside the installed package, or at the root of a check-out."""
    here = Path(__file__).parent
    return here / name if (here / name).is_dir() else here.parent / name


def create_app(repository_path: str) -> Flask:
    """The app for one repository. Nothing is opened before the first request."""
    app = Flask("vecsearch", template_folder=str(resource_folder("templates")), static_folder=None)
    app.config.update(REPOSITORY=repository_path, MAX_CONTENT_LENGTH=1 << 20)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters["day"] = lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    app.register_blueprint(pages)
    app.register_blueprint(programs)
    app.register_error_handler(VecsearchError, _failed)
    app.register_error_handler(sqlite3.Error, _database_failed)
    app.register_error_handler(HTTPException, _http_failed)
    app.register_error_handler(Exception, _broken)
    app.wsgi_app = _with_path(app.wsgi_app)
    return app


def _with_path(wsgi: Callable) -> Callable:
    """`/ext/search` arrives with an empty PATH_INFO, which Flask would redirect to `/ext/search/`."""

    def call(environ: dict[str, Any], start_response: Callable) -> Any:
        return wsgi({**environ, "PATH_INFO": environ.get("PATH_INFO") or "/"}, start_response)

    return call


@pages.get("/")
def page() -> Response | str:
    """Search results as a page in the site's skin, or as JSON."""
    db = repository.open_readonly(Path(current_app.config["REPOSITORY"]))
    try:
        kinds = access.visible_kinds(db, request.environ)
        query = _query()
        result = _answer(db, query, kinds)
        if _wants_json():
            return _json(result_json(result, _next_url(result)))
        return _render(db, result, kinds)
    finally:
        db.close()


def _answer(db: sqlite3.Connection, query: Query, kinds: frozenset[str]) -> Result:
    if not kinds:
        return Result(query, state="ok", message="nothing here is open to you; log in to search")
    base = request.environ.get("FOSSIL_URI", "")
    result = search(db, lambda: embed.get(Reader(db).settings()), query, kinds, base)
    if query.cut and not result.message:
        result.message = "the query was too long; its beginning was searched"
    return result


def _query() -> Query:
    """The query that the parameters ask for. Raises UsageError for a number or kind that makes no sense."""
    args = request.args
    options: dict[str, Any] = {"k": whole_number("k", args.get("k") or str(DEFAULT_K), 1, MAX_K),
                               "offset": whole_number("offset", args.get("offset") or "0", 0, MAX_OFFSET)}
    if kind := args.get("kind"):
        options["kinds"] = frozenset({known_kind(kind)})
    if (project := args.get("project")) is not None and project != "*":
        options["project"] = project
    return parse(args.get("q") or args.get("s") or "", **options)


def _wants_json() -> bool:
    form = request.args.get("format", "html")
    if form not in ("html", "json"):
        raise UsageError(f'there is no format "{form[:40]}"; formats are: html, json')
    return form == "json"


def _next_url(result: Result) -> str | None:
    """The same question, one page on."""
    if result.next is None:
        return None
    args = {**request.args.to_dict(), "offset": str(result.next)}
    return f"{request.environ.get('FOSSIL_URI', '')}/ext/search?{urlencode(args)}"


def _render(db: sqlite3.Connection, result: Result, kinds: frozenset[str]) -> Response:
    reader = Reader(db)
    indexed = result.state != "no_index"
    body = render_template(
        "search.html",
        asked=request.args.get("q") or request.args.get("s") or "",
        result=result,
        kinds=sorted(reader.counts(kinds)) if indexed and kinds else [],
        kind=request.args.get("kind", ""),
        projects=reader.projects(kinds) if indexed and kinds else [],
        project=request.args.get("project", "*"),
        next_url=_next_url(result),
        **_surroundings(),
    )
    return _html(body, 200)


def _surroundings() -> dict[str, Any]:
    """What every template needs: Fossil's link prefix and the style sheet, inline because a second
    request would cost a second process."""
    return {"base": request.environ.get("FOSSIL_URI", ""), "style": Markup((resource_folder("static") / "search.css").read_text("utf-8"))}


def _html(body: str, status: int) -> Response:
    return Response(body.strip() + "\n", status, content_type="text/html; charset=utf-8",
                    headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"})


def _json(data: dict, status: int = 200) -> Response:
    body = json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"
    return Response(body, status, content_type="application/json", headers={"Cache-Control": "private, no-cache", "Vary": "Cookie"})


def _failed(error: VecsearchError) -> Response:
    """A foreseen fault as a page or as JSON. Paths of the server stay in its log."""
    _log(error.status, str(error))
    message = str(error).replace(f"{current_app.config['REPOSITORY']}: ", "")
    return _error_response(error.code, message, error.status)


def _database_failed(error: sqlite3.Error) -> Response:
    return _failed(explain(current_app.config["REPOSITORY"], error))


def _http_failed(error: HTTPException) -> Response:
    return _error_response("http", f"{error.code} {error.name}", error.code or 500)


def _broken(error: Exception) -> Response:
    """The last resort for a fault nobody foresaw: logged in full, told in one sentence."""
    current_app.logger.error("vecsearch: unforeseen", exc_info=error)
    _log(500, f"unforeseen: {type(error).__name__}")
    return _error_response("internal", "the search failed; what went wrong stands in the server's error log", 500)


def _log(status: int, message: str) -> None:
    Log.of(current_app.config["REPOSITORY"]).request_failed(status, message, request.args.get("q") or request.args.get("s") or "")


def _error_response(code: str, message: str, status: int) -> Response:
    if request.args.get("format") == "json":
        return _json({"error": {"code": code, "message": message}}, status)
    return _html(render_template("error.html", message=message, status=status, **_surroundings()), status)
