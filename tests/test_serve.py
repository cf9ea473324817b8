"""`vecsearch serve`: the page of one repository on this machine, without an extension root to make."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from serve import free_port


def begin(repository: Path, port: int) -> subprocess.Popen:
    home = {**os.environ, "HOME": str(repository.parent)}  # that of the user may be in use by another fossil
    return subprocess.Popen([sys.executable, "-m", "vecsearch", "serve", "-R", repository, "--port", str(port)], env=home,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_page_is_served_until_a_signal_ends_it_and_leaves_nothing(indexed):
    before = set(Path(tempfile.gettempdir()).glob("vecsearch-*"))
    port = free_port()
    serving = begin(indexed, port)
    try:
        address = serving.stdout.readline().split()[0]
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        with urllib.request.urlopen(f"{address}?q=restore", timeout=60) as reply:
            assert reply.status == 200 and b"restore" in reply.read().lower()
    finally:
        serving.terminate()
    errors = serving.communicate(timeout=20)[1]
    assert serving.returncode == 0 and errors == ""
    assert {found for found in Path(tempfile.gettempdir()).glob("vecsearch-*") if list(found.glob("search"))} <= before
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_is_named(indexed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        serving = begin(indexed, port)
        errors = serving.communicate(timeout=30)[1]
    assert serving.returncode == 1 and f"port {port}" in errors.splitlines()[-1]
