"""The tools for language models by the official client: over stdio, over loopback HTTP, through a real Fossil."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import VECSEARCH
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from serve import FossilServer, free_port
from test_server import everything, set_caps

from vecsearch.cli import load
from vecsearch.fossil.repository import open_readonly
from vecsearch.mcp import answers, protocol, tools
from vecsearch.types import KINDS

TOOLS = ["semantic_search", "read_hit", "similar"]


@pytest.fixture(scope="module")
def extroot(tmp_path_factory, demo_indexed) -> Path:
    folder = tmp_path_factory.mktemp("mcp") / "ext"
    folder.mkdir()
    subprocess.run([VECSEARCH, "install", "--extroot", str(folder), "-R", str(demo_indexed)], check=True, capture_output=True)
    return folder


def stdio(path: Path, use: Callable[[Client], Awaitable[Any]], *options: str) -> Any:
    """What `use` makes of a client whose server is a process of its own."""

    async def talk() -> Any:
        server = StdioServerParameters(command=VECSEARCH, args=["mcp", "-R", str(path), *options])
        async with Client(stdio_client(server)) as client:
            return await use(client)

    return anyio.run(talk)


def over_http(url: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def talk() -> Any:
        async with Client(url) as client:
            return await use(client)

    return anyio.run(talk)


def post(server: FossilServer, message: Any, **headers: str) -> tuple[int, Any]:
    """A message, or raw bytes, as no client of the SDK would send it."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    request = urllib.request.Request(f"{server.base}/ext/search/mcp", body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            status, text = reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            status, text = error.code, error.read()
    return status, json.loads(text) if text else None


def tool(server: FossilServer, name: str, **arguments: Any) -> dict:
    status, reply = post(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    assert status == 200
    return reply["result"]


async def use_all(client: Client) -> None:
    """What each surface must do alike, on the demo."""
    assert [found.name for found in (await client.list_tools()).tools] == TOOLS
    searched = await client.call_tool("semantic_search", {"query": "restore one file", "k": 3})
    hits = searched.structured_content["hits"]
    assert searched.structured_content["state"] == "ok" and len(hits) == 3 and hits[0]["path"] == "docs/restore.md"
    assert "docs/restore.md:1-17" in searched.content[0].text and "tern restore ~/Documents/letter.odt" in searched.content[0].text
    read = await client.call_tool("read_hit", {"hash": hits[0]["hash"][:12], "seq": 0, "first_line": 3, "last_line": 5})
    assert read.structured_content["text"] == "## Restore one file\n\n    tern restore ~/Documents/letter.odt"
    alike = await client.call_tool("similar", {"hash": hits[0]["hash"], "seq": 0, "k": 2})
    assert len(alike.structured_content["hits"]) == 2 and alike.structured_content["hits"][0]["hash"] != hits[0]["hash"]
    for name, arguments in (("no_such_tool", {}), ("semantic_search", {}), ("semantic_search", {"query": 3}),
                            ("semantic_search", {"query": "x", "limit": 3}), ("read_hit", {"hash": "0" * 64, "seq": True})):
        with pytest.raises(MCPError) as refused:
            await client.call_tool(name, arguments)
        assert refused.value.code == protocol.INVALID_PARAMS
    wrong = await client.call_tool("semantic_search", {"query": "x", "kind": "docs"})
    assert wrong.is_error and "kinds are: api, checkin" in wrong.content[0].text


def test_over_stdio_under_a_name_of_ones_choice(demo_indexed):
    async def use(client: Client) -> str:
        await use_all(client)
        return client.server_info.name

    assert stdio(demo_indexed, use, "--name", "ollama-codex") == "ollama-codex"


def test_through_a_real_fossil(indexed, extroot):
    with FossilServer(everything(indexed), extroot) as server:
        over_http(f"{server.base}/ext/search/mcp", use_all)
        assert "Traceback" not in server.log()


def test_over_http_on_this_machine_and_only_there(demo_indexed, tmp_path):
    port = free_port()
    process = subprocess.Popen([VECSEARCH, "mcp", "-R", str(demo_indexed), "--http", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.05)
        over_http(f"http://127.0.0.1:{port}/mcp", use_all)
        # A page in a browser that has made its own name point here is not served.
        request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", b"{}", {"Host": "evil.example", "Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=5)
        assert refused.value.code == 421
        refused.value.close()
    finally:
        process.terminate()
        process.wait()


MALFORMED = [
    (b"{", 400, -32700), (b"", 400, -32700), (b"\xff", 400, -32700), (b"[" * 50_000, 400, -32700),
    (b"[]", 400, -32600), (b"3", 400, -32600), ({"id": 1, "method": "ping"}, 400, -32600), ({"jsonrpc": "2.0", "id": 1}, 400, -32600),
    ({"jsonrpc": "2.0", "id": [], "method": "ping"}, 400, -32600), ({"jsonrpc": "2.0", "id": 1, "method": "no/such"}, 200, -32601),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}, 200, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}, 200, -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "similar", "arguments": [1]}}, 200, -32602),
]


@pytest.mark.parametrize(("message", "status", "code"), MALFORMED)
def test_malformed_messages_get_protocol_errors(message, status, code):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    got, reply = protocol.answer(body, "x", "1", lambda name, arguments: {})
    assert (got, reply["error"]["code"]) == (status, code)


def test_the_endpoint_needs_no_header_and_keeps_no_session(indexed, extroot):
    with FossilServer(everything(indexed), extroot) as server:
        ping = {"jsonrpc": "2.0", "id": "a", "method": "ping"}
        headers = {"Authorization": "Bearer x", "Mcp-Session-Id": "y", "Accept": "text/event-stream"}
        assert post(server, ping, **headers) == post(server, ping) == (200, {"jsonrpc": "2.0", "id": "a", "result": {}})
        assert post(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}) == (202, None)
        assert post(server, b"{")[1]["error"]["code"] == -32700
        status, body, _ = server.get("/ext/search/mcp")
        assert status == 405 and "POST" in json.loads(body)["error"]["message"]
        assert post(server, b"x" * (2 << 20))[0] == 413
        assert "Traceback" not in server.log()


def test_over_stdio_each_faulty_line_is_answered_too(demo_indexed):
    """The SDK drops what it cannot read; a client would wait for ever. Half an emoji is what JavaScript sends of one that was cut."""
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "semantic_search", "arguments": {"query": "restore \ud83d", "kind": "\ud83d"}}}
    lines = [b"{", b"[]", b"null", b"\xff\xfe", b"\0", b"[" * 30_000, b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
             b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
             json.dumps(call).encode()]
    greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
    process = subprocess.Popen([VECSEARCH, "mcp", "-R", str(demo_indexed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(line: bytes) -> dict:
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    assert ask(json.dumps(greeting).encode())["result"]["serverInfo"]["name"] == "vecsearch"
    replies = [ask(line) for line in lines]
    assert [reply["error"]["code"] for reply in replies[:-1]] == [-32700, -32600, -32600, -32700, -32700, -32700, *[-32600] * 4, -32602]
    assert replies[-1]["id"] == 5 and 'there is no kind "?"' in replies[-1]["result"]["content"][0]["text"]
    assert ask(b'{"jsonrpc":"2.0","id":9,"method":"ping"}') == {"jsonrpc": "2.0", "id": 9, "result": {}}
    _, errors = process.communicate()
    assert process.returncode == 0 and errors == b""


@pytest.mark.parametrize("message", [
    {"method": "\ud800"}, {"method": "ping", "id": "\ud800"}, {"method": "tools/call", "params": {"name": "\ud800"}},
    {"method": "tools/call", "params": {"name": "similar", "arguments": {"\ud800": 1}}}, {"method": "tools/list", "params": None}])
def test_every_reply_can_be_written(message):
    def call(name: str, arguments: dict) -> dict:
        raise tools.MalformedError(f"{name} {arguments}")

    status, reply = protocol.answer(json.dumps({"jsonrpc": "2.0", "id": 1} | message).encode(), "x", "1", call)
    assert status == 200 and json.loads(protocol.encoded(reply))["jsonrpc"] == "2.0"


@pytest.mark.parametrize(("asked", "given"), [("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), (3, "2025-11-25")])
def test_the_revision_is_the_clients_if_it_is_known(asked, given):
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": asked}}).encode()
    assert protocol.answer(body, "n", "1", lambda name, arguments: {})[1]["result"]["protocolVersion"] == given


def test_a_visitor_finds_reads_and_compares_only_what_fossil_would_show(indexed, extroot):
    set_caps(indexed, nobody="o", anonymous="")
    db = sqlite3.connect(indexed)
    secret = db.execute("SELECT hash, seq FROM fx_vec_chunk WHERE kind='ticket' ORDER BY seq").fetchone()
    public = db.execute("SELECT hash FROM fx_vec_chunk WHERE path='docs/restore.md'").fetchone()[0]
    db.close()
    with FossilServer(indexed, extroot) as server:
        assert tool(server, "semantic_search", query="laptop goes to sleep", kind="ticket")["structuredContent"]["total"] == 0
        unknown = tool(server, "read_hit", hash="f" * 64, seq=0)
        for name in ("read_hit", "similar"):
            assert tool(server, name, hash=secret[0], seq=secret[1]) == unknown
        kinds = {hit["kind"] for hit in tool(server, "similar", hash=public, seq=0, k=100)["structuredContent"]["hits"]}
        assert kinds and kinds <= {"doc", "code", "instruction", "media", "checkin"}
        set_caps(indexed, nobody="j")  # the wiki, but no check-in: so none is named either
        wiki = tool(server, "semantic_search", query="backup")["structuredContent"]
        assert {hit["kind"] for hit in wiki["hits"]} == {"wiki"} and wiki["checkin"] == "" and {hit["ci"] for hit in wiki["hits"]} == {""}
        read = tool(server, "read_hit", hash=wiki["hits"][0]["hash"], seq=0)["structuredContent"]
        assert read["chunks"] and read["ci"] == ""
        set_caps(indexed, nobody="")
        assert "nothing here is open to this visitor" in tool(server, "semantic_search", query="restore")["content"][0]["text"]
        assert tool(server, "read_hit", hash=public, seq=0) == unknown


def test_what_was_shunned_since_the_index_run_is_not_read(indexed, fossil):
    db = sqlite3.connect(indexed)
    hash_ = db.execute("SELECT hash FROM fx_vec_chunk WHERE path='docs/restore.md'").fetchone()[0]
    db.execute("INSERT INTO shun(uuid, mtime) VALUES(?, 0)", (hash_,))
    db.commit()
    caller = tools.Caller(db, frozenset({"doc"}))
    for name in ("read_hit", "similar"):
        assert tools.call(caller, name, {"hash": hash_, "seq": 0})["content"][0]["text"].startswith("there is no such passage")
    assert tools.call(caller, "read_hit", {"hash": hash_, "seq": 0, "first_line": 1})["isError"]
    db.close()


def test_no_index_and_a_foreign_model_are_answers(demo_original, indexed):
    async def search(client: Client) -> Any:
        return await client.call_tool("semantic_search", {"query": "restore one file"})

    nothing = stdio(demo_original, search)
    assert not nothing.is_error and nothing.structured_content["state"] == "no_index" and "run: vecsearch index" in nothing.content[0].text
    subprocess.run([VECSEARCH, "config", "provider", "hash", "-R", str(indexed)], check=True, capture_output=True)
    other = stdio(indexed, search)
    assert other.structured_content["state"] == "model_mismatch" and other.structured_content["hits"]
    assert "answered by keywords only" in other.content[0].text
    missing = stdio(indexed.with_name("none.fossil"), search)
    assert missing.is_error and "there is no such file" in missing.content[0].text


def test_an_answer_keeps_its_budget_and_says_what_it_left_out(indexed):
    db = sqlite3.connect(indexed)
    caller = tools.Caller(db, frozenset({"doc", "code", "wiki"}))
    whole = tools.call(caller, "semantic_search", {"query": "backup disk restore"})
    small = tools.call(caller, "semantic_search", {"query": "backup disk restore", "max_tokens": 700})
    data, text = small["structuredContent"], small["content"][0]["text"]
    assert 0 < len(data["hits"]) < len(whole["structuredContent"]["hits"])
    assert answers.tokens(text) <= 700 and len(json.dumps(data, ensure_ascii=False).encode()) <= 4 * 700
    assert data["left_out"] == len(whole["structuredContent"]["hits"]) - len(data["hits"])
    assert f"({data['left_out']} more did not fit into max_tokens" in text
    assert data["hits"] == whole["structuredContent"]["hits"][: len(data["hits"])]
    hash_ = whole["structuredContent"]["hits"][0]["hash"]
    lines = tools.call(caller, "read_hit", {"hash": hash_, "seq": 0, "first_line": 1, "max_tokens": 200})
    assert lines["structuredContent"]["left_out"] > 0 and "more lines did not fit" in lines["content"][0]["text"]
    for name, arguments in (("semantic_search", {"query": "backup disk restore"}), ("read_hit", {"hash": hash_, "seq": 0})):
        least = tools.call(caller, name, arguments | {"max_tokens": 200})
        data, text = least["structuredContent"], least["content"][0]["text"]
        assert not data.get("hits", data.get("chunks")) and answers.tokens(text) <= 200
        needed = int(re.search(r"did not fit into max_tokens; the next needs about (\d+)\)", text)[1])
        enough = tools.call(caller, name, arguments | {"max_tokens": 200 + needed})["structuredContent"]
        assert enough.get("hits", enough.get("chunks"))
    db.close()


def test_what_names_something_is_never_bent_to_name_another(demo_indexed):
    with closing(open_readonly(demo_indexed)) as db:
        caller = tools.Caller(db, frozenset(KINDS))
        hash_ = db.execute("SELECT hash FROM fx_vec_chunk WHERE path='docs/restore.md'").fetchone()[0]

        def said(name: str, **arguments: Any) -> str:
            answer = tools.call(caller, name, arguments)
            assert answer["isError"]
            return answer["content"][0]["text"]

        for seq in (-1, 65536, 10**30, 10**400):
            assert said("read_hit", hash=hash_, seq=seq) == said("similar", hash=hash_, seq=seq) == said("read_hit", hash="f" * 64, seq=0)
        for wrong in ("", "%" * 20, "\0" * 20, "\ud800" * 20, "\u00b2" * 20, "f" * 100_000):
            assert "hash" in (text := said("read_hit", hash=wrong, seq=0)) or "no such passage" in text
        for lines in ({"first_line": 5, "last_line": 2}, {"first_line": 10**30}, {"last_line": -3}, {"first_line": 0}):
            assert re.search(r"no lines .* here: the text has 17$", said("read_hit", hash=hash_, seq=0, **lines))
        assert 'take "" for the repository itself' in said("semantic_search", query="restore", project="tern")


@pytest.mark.parametrize(("given", "meant"), [
    ({"k": 10**30}, {"k": 100}), ({"k": -5}, {"k": 1}), ({"k": 2.0}, {"k": 2}), ({"k": None, "kind": None, "project": None}, {}), ({"max_tokens": 10**12}, {})])
def test_an_amount_is_taken_as_the_end_of_its_range_and_null_as_not_given(demo_indexed, given, meant):
    with closing(open_readonly(demo_indexed)) as db:
        caller = tools.Caller(db, frozenset(KINDS))
        one, other = (tools.call(caller, "semantic_search", {"query": "disk"} | more)["structuredContent"] for more in (given, meant))
        assert one["hits"] == other["hits"] != []


@pytest.mark.parametrize("k", [1.5, float("nan"), float("inf"), True, "3", [3]])
def test_what_is_no_number_is_a_malformed_call(demo_indexed, k):
    with closing(open_readonly(demo_indexed)) as db, pytest.raises(tools.MalformedError, match="k must be of type integer"):
        tools.call(tools.Caller(db, frozenset(KINDS)), "semantic_search", {"query": "disk", "k": k})


def test_a_hundred_calls_leave_memory_and_descriptors_as_they_were(demo_indexed):
    """benchmarks/mcp_calls.py makes a thousand."""
    process = subprocess.run([sys.executable, "-m", "benchmarks.mcp_calls", str(demo_indexed), "--calls", "100"], capture_output=True,
                             text=True, check=True, cwd=Path(__file__).parent.parent, env={**os.environ})
    facts = json.loads(process.stdout)
    assert facts["calls"] == 100 and facts["descriptors_grown"] == 0 and facts["kilobytes_grown"] < 2000


AGENTS = Path(__file__).parent.parent / "deploy/agents"


def commands(value: Any) -> list[list[str]]:
    """The command lines in a configuration, whatever its shape."""
    if isinstance(value, dict):
        if isinstance(value.get("command"), str):
            return [[*shlex.split(value["command"]), *value.get("args", [])]]
        return [value["command"]] if "command" in value else [c for item in value.values() for c in commands(item)]
    return [c for item in value for c in commands(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("file", [path.name for path in sorted(AGENTS.iterdir()) if path.suffix in (".json", ".toml")])
def test_each_ready_configuration_can_be_read_and_names_a_command_that_exists(file):
    text = (AGENTS / file).read_text("utf-8")
    facts = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    assert file in (AGENTS / "README.md").read_text("utf-8")
    if file == "by-address.json":
        assert facts["mcpServers"]["fossil"]["url"].endswith("/ext/search/mcp")
        return
    (command,) = commands(facts)
    assert command[0] == "vecsearch" and "/path/to/project.fossil" in command
    names = [command[1]] + [word.split("=")[0] for word in command[2:] if word.startswith("-") and word != "--"]
    known = load(names[0])
    assert set(names[1:]) <= {option for parameter in known.params for option in parameter.opts}
