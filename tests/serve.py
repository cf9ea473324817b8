"""A real `fossil server` with an extension root, and a visitor who may log in."""

from __future__ import annotations

import http.cookiejar
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class FossilServer:
    """`with FossilServer(repository_or_folder, extroot) as server: server.get("/ext/search?q=x")`."""

    def __init__(self, target: Path | str, extroot: Path, *, env: dict[str, str] | None = None, cwd: Path | None = None):
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        command = ["fossil", "server", "--localhost", "--nojail", "--port", str(self.port), "--extroot", str(extroot), str(target)]
        clean = {"PATH": os.environ["PATH"], "HOME": str(extroot.parent)} | ({"USER": "ann"} if env is None else env)
        self.errors = (extroot.parent / f"server-{self.port}.log").open("w+b")
        self.process = subprocess.Popen(command, env=clean, cwd=cwd, stdout=subprocess.DEVNULL, stderr=self.errors)
        self.jar = http.cookiejar.CookieJar()

    def __enter__(self) -> FossilServer:
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.02)
        raise RuntimeError("fossil server did not start")

    def __exit__(self, *failure: object) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def log(self) -> str:
        self.errors.flush()
        return Path(self.errors.name).read_text("utf-8", "replace")

    def get(self, path: str, data: dict[str, str] | None = None) -> tuple[int, str, str]:
        """(status, body, final URL); redirects are followed, cookies kept."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        # Without a browser's name Fossil takes the visitor for a robot and changes its links.
        opener.addheaders = [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0")]
        body = urllib.parse.urlencode(data).encode() if data else None
        try:
            with opener.open(self.base + path, body, timeout=60) as reply:
                return reply.status, reply.read().decode("utf-8", "strict"), reply.url
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode("utf-8", "strict"), error.url

    def login(self, user: str, password: str, prefix: str = "") -> None:
        self.get(f"{prefix}/login", {"u": user, "p": password, "in": "Login"})
        assert list(self.jar), f"{user} could not log in"

    def login_anonymous(self) -> None:
        """As a person would, with the captcha that the page itself offers to fill in (auto-captcha)."""
        _, page, _ = self.get("/login?anon=1")
        seed = re.search(r"name=['\"]cs['\"] value=['\"](\d+)['\"]", page).group(1)
        answer = re.search(r"data-af=['\"]([0-9a-f]+)['\"]", page).group(1)
        self.get("/login", {"u": "anonymous", "p": answer, "cs": seed, "in": "Login"})
        assert list(self.jar), "anonymous could not log in"
