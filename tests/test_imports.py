"""The house keeps its shape: each module imports only from floors below its own (docs/decisions.md)."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import vecsearch

ROOT = Path(vecsearch.__file__).parent

#: First match wins. A module may import floors below its own, and its own folder.
FLOORS = [
    ("cli_programs", 4.9), ("__main__", 6), ("cli_base", 4.5), ("cli_admin", 4.8), ("cli_index", 4.8), ("cli_search", 4.8), ("cli_peer", 4.8), ("cli", 5), ("cgi", 4.9), ("worker", 5), ("resident", 0.2), ("mcp/server", 4.85), ("mcp", 4.2), ("decisions", 3.9), ("context", 4.1), ("inprocess", 4), ("contracts", 4), ("export", 4.1),
    ("web", 4.5), ("evaluate", 4), ("uninstall", 4.2), ("serve", 4.2), ("hooks", 4.1), ("watch", 4), ("runs", 3.8), ("doctor", 4.3), ("status", 4), ("administration", 4), ("library", 3.5), ("install", 4), ("present", 4),
    ("peers", 3.6), ("peer_offer", 3.55), ("peer_http", 3.5), ("transfer", 3.3), ("publish", 2.8), ("incoming", 2.9), ("located", 2), ("index", 3), ("search/run", 3), ("search", 2.5), ("chunk", 0.8),
    ("fossil", 1), ("store", 1), ("embed", 1),
    ("log", 1.5), ("lock", 0.5), ("folder", 0.5), ("fossil_program", 0.5), ("plain", 0), ("terms", 0), ("types", 0), ("layout", 0), ("errors", 0), ("config", 0.5), ("report", 0), ("__init__", 0),
]


def floor(module: str) -> float:
    for prefix, number in FLOORS:
        if module == prefix or module.startswith(f"{prefix}/"):
            return number
    raise AssertionError(f"{module} has no floor: put it into FLOORS")


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports at any depth, as paths below the package."""
    here = path.relative_to(ROOT).with_suffix("")
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here.parts[: len(here.parts) - node.level]
            start = "/".join([*base, *(node.module or "").split(".")]).strip("/")
            for name in node.names:
                deeper = f"{start}/{name.name}".strip("/")
                found.add(deeper if (ROOT / f"{deeper}.py").exists() or (ROOT / deeper).is_dir() else start or "__init__")
    return found


def test_imports_point_down():
    upward = []
    for path in sorted(ROOT.rglob("*.py")):
        me = str(path.relative_to(ROOT).with_suffix("")).removesuffix("/__init__")
        if me.startswith("ext/") or me == "__init__":  # the package's own face loads what it offers when asked
            continue
        for other in imports(path):
            if other.split("/")[0] != me.split("/")[0] and floor(other) >= floor(me):
                upward.append(f"{me} -> {other}")
    assert upward == []


def test_the_leaves_and_the_hash_provider_need_no_network_library():
    code = "import sys, vecsearch.search.run, vecsearch.embed.hashing; print('requests' in sys.modules, 'flask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["False", "False"]


@pytest.mark.parametrize("path", sorted((*ROOT.parent.glob("benchmarks/*.py"), *ROOT.parent.glob("training/*.py"))), ids=lambda path: path.name)
def test_what_measures_asks_for_names_that_there_are(path):
    """Without running it: some needs what only a benchmark needs."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vecsearch"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name) or importlib.util.find_spec(f"{node.module}.{alias.name}"), f"{node.module}.{alias.name}"
