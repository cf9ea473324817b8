"""One message of the Model Context Protocol in, one out: JSON-RPC without a session. Pure.

Every revision with a handshake is understood. Of a client the server keeps nothing: who asks for tools
without `initialize` gets them too. A newer client that begins with `server/discover` is told that there
is no such method, and falls back to the handshake.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .tools import INSTRUCTIONS, TOOLS, MalformedError

#: Revisions whose tools/list and tools/call are what is answered here, oldest first.
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603

#: call(tool, arguments) -> result; raises MalformedError.
Call = Callable[[str, Mapping[str, Any]], dict[str, Any]]


class _ProtocolError(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def answer(body: bytes, name: str, version: str, call: Call) -> tuple[int, dict[str, Any] | None]:
    """(HTTP status, reply) to a message; a notification gets 202 and no reply."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return 400, error(None, PARSE_ERROR, "Parse error: the body is not JSON")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 400, error(None, INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 object is expected")
    id_ = message.get("id")
    if not isinstance(message.get("method"), str):
        # A reply to a request of ours: there are none, but the protocol has it accepted.
        return (202, None) if {"result", "error"} & message.keys() else (400, error(id_, INVALID_REQUEST, "Invalid request: no method"))
    if "id" not in message:
        return 202, None
    if isinstance(id_, bool) or not isinstance(id_, (str, int)):
        return 400, error(None, INVALID_REQUEST, "Invalid request: the id is neither text nor number")
    try:
        result = _result(message["method"], _given(message, "params"), name, version, call)
    except _ProtocolError as fault:
        return 200, error(id_, fault.code, str(fault))
    return 200, {"jsonrpc": "2.0", "id": id_, "result": result}


def encoded(message: Any) -> bytes:
    """As JSON in UTF-8. Half of a surrogate pair, which JavaScript sends where a text was cut within an emoji
    and which a reply may repeat, becomes a question mark."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def mended(line: str) -> str:
    """A message without halves of surrogate pairs; what is no JSON stays as it is."""
    if "\\u" not in line:
        return line
    try:
        return encoded(json.loads(line)).decode()
    except (ValueError, RecursionError):
        return line


def error(id_: Any, code: int, message: str) -> dict[str, Any]:
    """A reply that says what is wrong with the message."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def _given(within: dict[str, Any], name: str) -> Any:
    """A member that may be left out; null is left out."""
    value = within.get(name)
    return {} if value is None else value


def _result(method: str, params: Any, name: str, version: str, call: Call) -> dict[str, Any]:
    if not isinstance(params, dict):
        raise _ProtocolError(INVALID_PARAMS, "Invalid params: an object is expected")
    match method:
        case "initialize":
            asked = params.get("protocolVersion")
            return {"protocolVersion": asked if asked in REVISIONS else REVISIONS[-1], "capabilities": {"tools": {}},
                    "serverInfo": {"name": name, "version": version}, "instructions": INSTRUCTIONS}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return _called(params, call)
    raise _ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method[:80]}")


def _called(params: dict[str, Any], call: Call) -> dict[str, Any]:
    tool, arguments = params.get("name"), _given(params, "arguments")
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        raise _ProtocolError(INVALID_PARAMS, "Invalid params: name must be text and arguments an object")
    try:
        return call(tool, arguments)
    except MalformedError as fault:
        raise _ProtocolError(INVALID_PARAMS, str(fault)) from None
