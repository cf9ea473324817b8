"""The tools by the official SDK: over stdio for a client that starts us, or over HTTP on this machine.

Whoever runs it holds the repository file and sees everything in it, as on the command line.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, JSONRPCNotification, ListToolsResult, jsonrpc_message_adapter

from .. import __version__
from ..errors import RepositoryError
from ..fossil.repository import open_readonly
from ..types import KINDS
from . import protocol, tools


def build(path: Path, name: str) -> Server:
    """A server of the tools for one repository, under a name of the operator's choice."""

    async def on_list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult.model_validate({"tools": tools.TOOLS})

    async def on_call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        result = await to_thread.run_sync(_call, path, params.name, params.arguments or {})
        return CallToolResult.model_validate(result)

    return Server(name, version=__version__, instructions=tools.INSTRUCTIONS, on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def _call(path: Path, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """One connection per call: it is cheap, sees what was indexed since, and belongs to one thread."""
    try:
        with closing(open_readonly(path)) as db:
            return tools.call(tools.Caller(db, frozenset(KINDS)), name, arguments)
    except tools.MalformedError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None
    except RepositoryError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}


class _Input:
    """Standard input by lines, for the SDK. A line that it would drop without a word, so that the client waits for
    ever, is answered here: what is no JSON-RPC gets a protocol error."""

    def __init__(self, name: str):
        self.name, self.replies = name, None
        self.lines = anyio.wrap_file(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self.lines:
            line = protocol.mended(line)
            if _is_message(line):
                yield line
            else:
                await self._refuse(line)

    async def _refuse(self, line: str) -> None:
        _, reply = protocol.answer(line.encode(), self.name, __version__, _no_call)
        if reply and line.strip():
            await self.replies.send(SessionMessage(jsonrpc_message_adapter.validate_python(reply)))


def _is_message(line: str) -> bool:
    """Whether the SDK reads it as what it is; a request with an id of the wrong type it takes for a notification."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        return not isinstance(message, JSONRPCNotification) or "id" not in json.loads(line)
    except ValueError:
        return False


def _no_call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    raise tools.MalformedError("Invalid request")


def serve_stdio(path: Path, name: str) -> None:
    """Until the client closes our standard input."""

    async def serve() -> None:
        server, lines = build(path, name), _Input(name)
        async with stdio_server(stdin=lines) as (incoming, lines.replies):
            await server.run(incoming, lines.replies, server.create_initialization_options())

    anyio.run(serve)


def serve_http(path: Path, name: str, port: int) -> None:
    """At http://127.0.0.1:PORT/mcp, stateless, for clients on this machine only: there is no login."""
    import uvicorn

    app = build(path, name).streamable_http_app(json_response=True, stateless_http=True, host="127.0.0.1")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
