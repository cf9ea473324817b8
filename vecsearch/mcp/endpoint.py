"""POST /ext/search/mcp: the tools for whoever visits the site, with the visitor's rights.

Stateless, and each reply is one piece of JSON: Fossil hands on neither Authorization nor Accept nor a
session, and reads a reply whole before it sends it on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Response, current_app, request
from werkzeug.exceptions import HTTPException

from .. import __version__
from ..errors import VecsearchError
from ..fossil import access, repository
from . import protocol, tools

SERVER = "vecsearch"


def reply() -> Response:
    """The answer to one message of the protocol. There is no stream to GET and no session to DELETE."""
    if request.method != "POST":
        return _response(405, protocol.error(None, protocol.INVALID_REQUEST, "this is a Model Context Protocol endpoint: POST one JSON-RPC message"))
    try:
        return _response(*protocol.answer(request.get_data(), SERVER, __version__, _call))
    except VecsearchError as fault:
        return _unusable(fault)
    except HTTPException as fault:
        return _response(fault.code or 500, protocol.error(None, protocol.INVALID_REQUEST, f"{fault.code} {fault.name}"))
    except Exception as fault:  # a client of the protocol waits for JSON-RPC, not for a page; the log has it whole
        current_app.logger.error("vecsearch: unforeseen", exc_info=fault)
        return _response(500, protocol.error(None, protocol.INTERNAL_ERROR, "the call failed; what went wrong stands in the server's error log"))


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    path = current_app.config["REPOSITORY"]
    db = repository.open_readonly(Path(path))
    try:
        caller = tools.Caller(db, access.visible_kinds(db, request.environ), request.environ.get("FOSSIL_URI", ""))
        return tools.call(caller, name, arguments)
    finally:
        db.close()


def _unusable(fault: VecsearchError) -> Response:
    """The repository itself cannot be opened; where it lies stays in the server's log."""
    print(f"vecsearch: {fault}", file=request.environ["wsgi.errors"])
    message = str(fault).replace(f"{current_app.config['REPOSITORY']}: ", "")
    return _response(500, protocol.error(None, protocol.INTERNAL_ERROR, message))


def _response(status: int, reply: dict[str, Any] | None) -> Response:
    body = b"" if reply is None else protocol.encoded(reply)
    return Response(body, status, content_type="application/json", headers={"Cache-Control": "private, no-store", "Vary": "Cookie"})
