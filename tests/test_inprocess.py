"""In process: the documented example, threads, states; and that all surfaces give the same hits."""

from __future__ import annotations

import doctest
import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import anyio
import pytest
from conftest import ROOT, VECSEARCH
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from serve import FossilServer
from test_server import QUERIES, everything

import vecsearch
from vecsearch import inprocess, semantic_search
from vecsearch.errors import RepositoryError, UsageError
from vecsearch.present import hit_json

MORE = [
    "how do I get one file back", "what happens after a power cut", '"power cut"', "kind:ticket laptop", "path:docs restore", "-cloud backup",
    "write_atom*", "in:title schedule", "sqlite", "cron nightly", "AGENTS", "never change the block format", "Übersicht", "Datentraeger", "wer sichert was",
    "sha256 checksum", "os.fsync", "videos at 0%", "second office over a slow line", "invoices lost", "ext4", "user:ann disk", "after:2026-01-01 disk",
    "before:2001 disk", "how full is the disk", "statvfs", "keep-weeks", "tern verify", "sourdough bread without a dutch oven", "?",
]


def test_the_documented_examples_hold(demo_indexed):
    found = doctest.DocTestFinder().find(inprocess.semantic_search, globs={"repository": demo_indexed})
    runner = doctest.DocTestRunner()
    assert sum(runner.run(test).attempted for test in found) >= 4 and runner.failures == 0
    outcome = doctest.testfile(str(ROOT / "docs/agents.md"), module_relative=False, globs={"repository": demo_indexed})
    assert outcome.attempted >= 3 and outcome.failed == 0


def test_importing_the_package_loads_nothing(tmp_path):
    code = "import sys, vecsearch; print(sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'flask', 'click', 'sqlite3') or m.startswith('vecsearch.')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        vecsearch.nonsense  # noqa: B018


def test_threads_get_what_one_gets(demo_indexed):
    alone = [[hit_json(hit) for hit in semantic_search(demo_indexed, query)] for query in QUERIES]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: [hit_json(hit) for hit in semantic_search(demo_indexed, query)], QUERIES * 4))
    assert together == alone * 4


@pytest.mark.parametrize("index", ["whole", "behind", "old"])
def test_a_search_leaves_the_locks_of_other_threads_alone(indexed, index):
    """A process that closes any descriptor of a file loses all its locks on it: then somebody writes below a reader."""
    with closing(sqlite3.connect(indexed)) as db:
        db.execute({"whole": "SELECT 1", "behind": "INSERT INTO fx_vec_touched SELECT min(id) FROM fx_vec_chunk", "old": "DROP TABLE fx_vec_matrix"}[index])
        db.commit()
    code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None); db.execute('BEGIN EXCLUSIVE')"
    with closing(sqlite3.connect(indexed, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM blob").fetchone()
        for _ in range(2):
            assert semantic_search(indexed, "restore one file")
        writer = subprocess.run([sys.executable, "-c", code, str(indexed)], capture_output=True, text=True)
        assert "database is locked" in writer.stderr


def test_states_are_told_and_misuse_is_refused(demo_original, demo_indexed, tmp_path):
    none = semantic_search(demo_original, "restore")
    assert none == [] and none.state == "no_index" and "run: vecsearch index" in none.message
    nothing = semantic_search(str(demo_indexed), "sourdough bread without a dutch oven")
    assert nothing == [] and (nothing.state, nothing.total) == ("ok", 0) and nothing.model.startswith("builtin:")
    assert {hit.kind for hit in semantic_search(demo_indexed, "disk", kind="ticket")} == {"ticket"}
    assert semantic_search(demo_indexed, "disk", project="elsewhere") == [] and len(semantic_search(demo_indexed, "disk", k=1)) == 1
    for wrong in ({"kind": "docs"}, {"kind": "\ud800"}, {"k": 0}, {"k": 101}, {"k": 10**30}, {"k": float("nan")}):
        with pytest.raises(UsageError):
            semantic_search(demo_indexed, "disk", **wrong)
    near = semantic_search(demo_indexed, "disk", files=["src/tern.py"])
    assert semantic_search(demo_indexed, "disk", files="src/tern.py") == near != semantic_search(demo_indexed, "disk")
    odd = semantic_search(demo_indexed, "disk\0\ud800" + " x" * 500_000, project="\0\ud800", files=["\ud800", "\0", ""])
    assert odd == [] and odd.state == "ok"
    with pytest.raises(RepositoryError, match="no such file"):
        semantic_search(tmp_path / "none", "disk")


@pytest.fixture
def served(indexed, tmp_path):
    extroot = tmp_path / "root" / "ext"
    extroot.mkdir(parents=True)
    subprocess.run([VECSEARCH, "install", "--extroot", str(extroot), "-R", str(indexed)], check=True, capture_output=True)
    with FossilServer(everything(indexed), extroot) as server:
        yield indexed, server


def comparable(hits: list[dict]) -> list[dict]:
    """Addresses differ by where a surface stands."""
    return [{name: value for name, value in hit.items() if name != "url"} for hit in hits]


def by_mcp(path: Path, queries: list[str]) -> list[list[dict]]:
    async def main() -> list[list[dict]]:
        server = StdioServerParameters(command=VECSEARCH, args=["mcp", "-R", str(path)])
        async with Client(stdio_client(server)) as client:
            return [(await client.call_tool("semantic_search", {"query": query})).structured_content["hits"] for query in queries]

    return anyio.run(main)


def test_four_surfaces_give_equal_hits_field_by_field(served):
    """In process, MCP, the page's JSON, and the command line (a process a query: every fifth there)."""
    path, server = served
    queries = QUERIES + MORE
    assert len(queries) == 50
    ours = [json.loads(json.dumps([hit_json(hit) for hit in semantic_search(path, query)])) for query in queries]
    assert sum(map(bool, ours)) > 40
    assert [comparable(hits) for hits in by_mcp(path, queries)] == [comparable(hits) for hits in ours]
    for query, hits in list(zip(queries, ours, strict=True))[::5]:
        _, body, _ = server.get("/ext/search?" + urlencode({"q": query, "format": "json"}))
        assert comparable(json.loads(body)["hits"]) == comparable(hits), query
        done = subprocess.run([VECSEARCH, "search", "-R", str(path), "--json", "--", query], capture_output=True, text=True, check=True)
        assert comparable(json.loads(done.stdout)["hits"]) == comparable(hits), query
