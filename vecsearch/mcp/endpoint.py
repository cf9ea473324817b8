"""POST /ext/search/mcp: the tools for whoever visits the site, with the visitor's rights.

Stateless, and each reply is one piece of JSON: Fossil hands on neither Authorization nor Accept nor a
session, and reads a reply whole before it sends it on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import HTTPException

from .. import __version__
from ..errors import VecsearchError
from ..fossil import access, repository
from . import protocol, tools

SERVER = "vecsearch"

programs = Blueprint("programs", __name__)


@programs.post("/mcp")
def mcp() -> Response:
    """One message of the protocol."""
    status, reply = protocol.answer(request.get_data(), SERVER, __version__, _call)
    return _reply(status, reply)


@programs.get("/mcp")
@programs.delete("/mcp")
def no_stream() -> Response:
    """There is no stream to open and no session to end."""
    reply = protocol.error(None, protocol.INVALID_REQUEST, "this is a Model Context Protocol endpoint: POST one JSON-RPC message")
    return _reply(405, reply)


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    path = current_app.config["REPOSITORY"]
    db = repository.open_readonly(Path(path))
    try:
        caller = tools.Caller(db, access.visible_kinds(db, request.environ), request.environ.get("FOSSIL_URI", ""))
        return tools.call(caller, name, arguments)
    finally:
        db.close()


def _reply(status: int, reply: dict[str, Any] | None) -> Response:
    body = b"" if reply is None else protocol.encoded(reply)
    return Response(body, status, content_type="application/json", headers={"Cache-Control": "private, no-store", "Vary": "Cookie"})


@programs.errorhandler(VecsearchError)
def _unusable(fault: VecsearchError) -> Response:
    """The repository itself cannot be opened; where it lies stays in the server's log."""
    print(f"vecsearch: {fault}", file=sys.stderr)
    message = str(fault).replace(f"{current_app.config['REPOSITORY']}: ", "")
    return _reply(500, protocol.error(None, protocol.INTERNAL_ERROR, message))


@programs.errorhandler(HTTPException)
def _refused(fault: HTTPException) -> Response:
    return _reply(fault.code or 500, protocol.error(None, protocol.INVALID_REQUEST, f"{fault.code} {fault.name}"))


@programs.errorhandler(Exception)
def _broken(fault: Exception) -> Response:
    current_app.logger.error("vecsearch: unforeseen", exc_info=fault)
    return _reply(500, protocol.error(None, protocol.INTERNAL_ERROR, "the call failed; what went wrong stands in the server's error log"))
