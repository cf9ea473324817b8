"""Fixtures: the demo repository of deploy/demo.py, built once by the real fossil, copied per test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))


@pytest.fixture(scope="session")
def demo_original(tmp_path_factory) -> Path:
    """The demo repository without an index; not to be changed."""
    path = tmp_path_factory.mktemp("demo") / "demo.fossil"
    subprocess.run([sys.executable, str(ROOT / "deploy/demo.py"), str(path)], check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def demo_indexed(demo_original, tmp_path_factory) -> Path:
    """The demo repository with an index; not to be changed."""
    path = tmp_path_factory.mktemp("indexed") / "demo.fossil"
    shutil.copy(demo_original, path)
    subprocess.run([VECSEARCH, "index", "-R", str(path)], check=True, capture_output=True)
    return path


@pytest.fixture
def demo(demo_original, tmp_path) -> Path:
    """A copy without an index."""
    return Path(shutil.copy(demo_original, tmp_path / "demo.fossil"))


@pytest.fixture
def indexed(demo_indexed, tmp_path) -> Path:
    """A copy with an index."""
    return Path(shutil.copy(demo_indexed, tmp_path / "demo.fossil"))


@pytest.fixture
def open_tmp_path(tmp_path) -> Path:
    """tmp_path, which other users may enter: pytest makes its folders for one user only, and xdist one more."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder == tmp_path or folder.name.startswith(("pytest-", "popen-")):
            folder.chmod(0o755)
    return tmp_path


@pytest.fixture
def vecsearch():
    """Run the real command: vecsearch("search", "-R", path, "words") -> CompletedProcess with text."""

    def run(*args: object, check: bool = False, **options) -> subprocess.CompletedProcess:
        return subprocess.run([VECSEARCH, *map(str, args)], capture_output=True, text=True, check=check, timeout=120, **options)

    return run


@pytest.fixture
def fossil(tmp_path):
    """Run the real fossil as user ann: fossil("ls", "-R", path) -> its output."""

    def run(*args: object, cwd: Path | None = None) -> str:
        env = {**os.environ, "HOME": str(tmp_path), "USER": "ann"}
        done = subprocess.run(["fossil", *map(str, args)], cwd=cwd or tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    return run
