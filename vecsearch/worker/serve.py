"""Requests from the socket, each with the rights of its own visitor, and when to leave.

waitress serves: pure Python, long kept, a pool of threads, Unix sockets, limits on everything (docs/decisions.md).
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import Any

import waitress

from .. import resident
from ..cgi import answer
from ..web import visit
from . import code

#: Seconds without a request after which the worker leaves.
IDLE = 600.0
#: A request that runs longer is a fault: the worker leaves at once, the shims answer in process.
LONGEST = 60.0
#: Threads that answer, connections that are open at once, and such that wait; the next is refused.
THREADS, OPEN, WAITING = 4, 24, 16
#: No part of a request or an answer goes to the disk.
MOST_IN, MOST_OUT = 2 << 20, 64 << 20

Start = Callable[[str, list[tuple[str, str]]], Any]


def serve(worker: str, lock: int, installed: code.Stamp) -> None:
    """Serve until idle, replaced or told to stop. `lock` is held by being open."""
    path = f"{resident.folder()}/{worker}"
    listening = _listen(path)
    logging.getLogger("waitress").addHandler(logging.NullHandler())
    service = Service(path, lock, installed)
    server = waitress.create_server(
        service, sockets=[listening], threads=THREADS, ident=None, connection_limit=OPEN, backlog=WAITING, channel_timeout=30,
        max_request_body_size=MOST_IN, max_request_header_size=4096, inbuf_overflow=MOST_IN * 2, outbuf_overflow=MOST_OUT, clear_untrusted_proxy_headers=True)
    os.rename(f"{path}.new", path)  # whoever finds it finds somebody who listens
    service.published = os.stat(path).st_ino
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=service.watch, daemon=True).start()
    server.run()
    service.withdraw()
    os._exit(0)  # threads of abandoned requests are not waited for


def _listen(path: str) -> socket.socket:
    new = f"{path}.new"
    if os.path.lexists(new):
        os.unlink(new)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(new)
    return listening


class Service:
    """The WSGI application of the socket: POST answers a visitor, GET says how the worker is, DELETE ends it."""

    def __init__(self, path: str, lock: int, installed: code.Stamp):
        self.path, self.lock, self.installed = path, lock, installed
        self.published = 0
        self.requests = 0
        self.born = self.last = time.monotonic()
        self.running: dict[int, float] = {}

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        if method == "GET":
            return self._reply(start_response, json.dumps(self.state()).encode())
        if method == "DELETE" or not code.is_unchanged(self.installed):
            self.leave()
        else:
            with self._busy():
                reply = _answer(environ["wsgi.input"].read())
            if reply is not None:
                return self._reply(start_response, b"".join(reply), len(reply[0]))
        status = "200 OK" if method == "DELETE" else "503 Service Unavailable"
        return self._reply(start_response, b"", status=status)

    @staticmethod
    def _reply(start_response: Start, body: bytes, errors: int = 0, status: str = "200 OK") -> list[bytes]:
        start_response(status, [("Content-Type", "application/octet-stream"), ("Content-Length", str(len(body))), ("X-Errors", str(errors))])
        return [body]

    @contextmanager
    def _busy(self) -> Iterator[None]:
        me = threading.get_ident()
        self.running[me] = time.monotonic()
        try:
            yield
        finally:
            del self.running[me]
            self.requests += 1
            self.last = time.monotonic()

    def state(self) -> dict[str, Any]:
        """Whole numbers."""
        return {"pid": os.getpid(), "seconds": int(time.monotonic() - self.born), "requests": self.requests, "megabytes": _megabytes()}

    def watch(self) -> None:
        """Once a second: is there a reason to leave?"""
        while True:
            time.sleep(1)
            os.utime(self.lock)  # the sign of life that a shim looks for
            now = time.monotonic()
            if any(now - begun > LONGEST for begun in list(self.running.values())):
                self.withdraw()
                os._exit(1)
            if now - self.last > IDLE or not self._is_published() or not code.is_unchanged(self.installed):
                self.leave()
            visit.close_idle()

    def leave(self) -> None:
        """No new request comes; those at work are answered."""
        self.withdraw()
        os.kill(os.getpid(), signal.SIGTERM)

    def withdraw(self) -> None:
        """Take the socket away, unless another worker's stands there already."""
        if self._is_published():
            os.unlink(self.path)

    def _is_published(self) -> bool:
        try:
            return os.stat(self.path).st_ino == self.published
        except OSError:
            return False


def _megabytes() -> int:
    """Memory of its own, without the pages of files, which the system may drop; where the system does not tell
    them apart, the most that it ever had of both."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) >> 10 for line in status if line.startswith("RssAnon"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)


def _answer(message: bytes) -> tuple[bytes, bytes] | None:
    """(standard error, standard output) for a visitor; None where the repository is not the one that the shim
    sees, so that nobody is answered from another file."""
    size, _, rest = message.partition(b"\n")
    facts = rest[: int(size)].split(b"\0")[:-1]
    environ = dict(zip(facts[::2], facts[1::2], strict=True))
    try:
        found = os.stat(environ[b"FOSSIL_REPOSITORY"])
    except OSError:
        return None
    if environ.pop(b"VECSEARCH_FILE") != b"%d.%d" % (found.st_dev, found.st_ino):
        return None
    errors = StringIO()
    said = answer(environ, BytesIO(rest[int(size):]), errors)
    return errors.getvalue().encode("utf-8", "backslashreplace"), said
