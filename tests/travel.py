"""A site whose index travels, its clones, and what both answer."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

from forge import Forge
from serve import FossilServer

from vecsearch.embed.hashing import Hashing
from vecsearch.fossil.repository import open_readonly
from vecsearch.index import Report, index
from vecsearch.present import result_json
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.types import KINDS

QUERIES = ("terns", "how do terns breed", "nest height", "migration route", "flag the wind", "gull", "def flap", "wing span",
           "ticket about feathers", "moult", "forum reply", "eggs", "kind:checkin second", "kind:wiki food",
           "colony counts", "count nests area", "island survey", "path:docs breeding", "user:bob", '"long way"')

FILES = {
    "docs/breeding.md": "# Breeding\n\n## Nest\n\nTerns nest on open ground.\n\n## Eggs\n\nTwo or three eggs.\n",
    "docs/migration.md": "# Migration\n\nA long way south each autumn.\n\n## Route\n\nAlong the coast.\n",
    "docs/licence.md": "# Licence\n\nTake it, colony counts and all.\n",
    "docs/again.md": "# Licence\n\nTake it, colony counts and all.\n\n",
    "src/wing.py": "def flap(n):\n    return n * 2\n\n\ndef glide():\n    return 'wind'\n",
    "tools/wing.py": "def flap(n):\n    return n * 2\n\n\ndef glide():\n    return 'wind'\n",
    "AGENTS.md": "# For agents\n\nRun the island survey first.\n",
    "media/call.json": '{"uri": "https://example.org/c.mp3", "sha3": "' + "a" * 64 + '", "mime": "audio/mpeg", "bytes": 3,'
                       ' "transcript": "media/call.txt"}',
    "media/call.txt": "A harsh call over the colony.\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0",
}


def make_site(folder: Path) -> Forge:
    """Every kind of content, all of it open to everybody."""
    forge = Forge(folder)
    forge.user("nobody", "gjorz2")
    forge.commit(FILES, "first survey", user="ann")
    forge.commit({"docs/weather.md": "# Weather\n\nFlag the wind and the rain.\n"}, "second look", user="bob")
    forge.wiki("Food", "# Food\n\nSand eels and sprats.\n")
    forge.technote("Moult begins in July.", "Moult")
    forge.ticket("Feathers missing", "The wing span is wrong.", comments=["It is the moult."])
    first = forge.post("Has anyone seen a gull here?", "Gulls")
    forge.post("A forum reply: yes, two.", root=first, reply_to=first, user="bob")
    return forge


def index_site(path: Path, **options: bool) -> Report:
    return index(path, lambda settings: Hashing(), **options)


def answers(path: Path) -> list[dict]:
    """What the queries give, without the time they took."""
    db = open_readonly(path)
    try:
        found = [result_json(search(db, Hashing, parse(query), KINDS), None) for query in QUERIES]
    finally:
        db.close()
    return [{name: value for name, value in answer.items() if name != "took_ms"} for answer in found]


def unversioned(path: Path) -> dict[str, tuple]:
    """name -> (time, hash, size) of all unversioned files and of the markers of deleted ones."""
    db = sqlite3.connect(path)
    try:
        return {name: tuple(facts) for name, *facts in db.execute("SELECT name, mtime, hash, sz FROM unversioned")}
    finally:
        db.close()


def fossil(home: Path, *args: object) -> str:
    """Run `fossil` as a user with no check-out."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "USER": "ann"}
    done = subprocess.run(["fossil", *map(str, args)], cwd=home, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clone(site: Path, folder: Path, *options: str) -> Path:
    """A clone over HTTP, as anybody can make one."""
    (folder / "ext").mkdir(exist_ok=True)
    with FossilServer(site, folder / "ext") as server:
        fossil(folder, "clone", *options, server.base, folder / "clone.fossil")
    return folder / "clone.fossil"


def sync(site: Path, copy: Path, *, artifacts: bool = True, files: bool = True) -> None:
    """Bring a clone up to its source."""
    with FossilServer(site, copy.parent / "ext") as server:
        if artifacts:
            fossil(copy.parent, "pull", server.base, "-R", copy)
        if files:
            fossil(copy.parent, "uv", "sync", server.base, "-R", copy)
