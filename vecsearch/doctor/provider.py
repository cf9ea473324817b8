"""The embedding provider: does it answer, with the model and the length that the index has."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from .. import embed
from ..config import Settings
from ..errors import EmbedError, StoreError
from ..fossil.repository import open_readonly
from ..store.reader import Reader
from .finding import Finding, Setup, broken, warning

_HERE = {"localhost", "127.0.0.1", "::1", None}


def check(setup: Setup) -> Iterator[Finding]:
    with closing(open_readonly(setup.repository)) as db:
        reader = Reader(db)
        try:
            settings = reader.settings()
            state = reader.state()
        except StoreError:  # content.check tells
            return
    yield from _key_file(settings, setup)
    url = urlsplit(settings["provider-url"])
    if settings["provider"] in ("ollama", "openai") and url.scheme == "http" and url.hostname not in _HERE:
        yield warning("provider", f"text and key go to {url.hostname} unencrypted", "vecsearch config provider-url https://...")
    try:
        embedder = embed.get(settings)
        if embedder.model != state.model:
            yield broken("model", f"the index was built with {state.model}, configured is {embedder.model}", "run: vecsearch rebuild, or set the provider back")
            return
        found = len(embedder.embed_query("dimension"))
    except EmbedError as error:
        yield broken("provider", f"{error}; until then searches answer by keywords only",
                     "start it, pull the model, or correct provider-url, provider-model and provider-key-file (vecsearch config)")
        return
    if found != state.dim:
        yield broken("model", f"{state.model} now gives {found} numbers per vector, the index has {state.dim}", "run: vecsearch rebuild")


def _key_file(settings: Settings, setup: Setup) -> Iterator[Finding]:
    """A key that others may read is no key. That it cannot be read at all, the provider says."""
    name = settings["provider-key-file"]
    if not name or not os.path.exists(name):
        return
    if os.stat(name).st_mode & (stat.S_IROTH | stat.S_IWOTH):
        yield broken("key", f"every user of this machine may read {name}", f"chmod 640 {name}, and give it to the server's group")
    if setup.extroot and setup.extroot.resolve() in Path(name).resolve().parents:
        yield broken("key", f"{name} lies in the extension root, where everybody can fetch it", "move it elsewhere and change the key")
