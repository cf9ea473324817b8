"""The search page of one repository, on this machine, until Ctrl-C: a `fossil server` with an extension root of its own."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from . import install
from .errors import VecsearchError
from .fossil.repository import open_readonly

#: As root, Fossil would lock itself, and us, into the repository's folder, without Python.
_COMMAND = ("fossil", "server", "--localhost", "--nojail", "--port")


def serve(repository: Path, port: int, say: Callable[[str], None]) -> None:
    """Serve `repository` at http://localhost:PORT until a signal ends it; `say` gets the address.

    Visitors have the rights of a stranger until they log in, as on any server. Raises VecsearchError if
    the file is no repository, or if Fossil is missing or stops by itself, as it does when the port is taken.
    """
    open_readonly(repository).close()
    with tempfile.TemporaryDirectory(prefix="vecsearch-") as extroot:
        Path(extroot).chmod(0o755)  # root's server runs as the repository's owner
        install.install(Path(extroot), "search", repository)
        try:
            server = subprocess.Popen([*_COMMAND, str(port), "--extroot", extroot, str(repository.absolute())], stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise VecsearchError("the program fossil is not on the PATH") from None
        before = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        say(f"http://localhost:{port}/ext/search   (Ctrl-C ends it)")
        try:
            code = server.wait()
        except KeyboardInterrupt:
            server.terminate()
            code = -server.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    if code > 0:
        raise VecsearchError(f"fossil server stopped with exit code {code}: is port {port} taken? choose another with --port")
