"""Two real servers: what is indexed on A answers the same on B, and again after changes on A.

    python benchmarks/two_servers.py [DIRECTORY-OF-FOSSIL]

Builds a site with every kind of content, serves it, clones it, imports in the clone without a model,
serves that as well, and asks both `/ext/search` the same 20 queries. Then files change, vanish and
move on A; index, sync, import; and the queries once more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
if len(sys.argv) > 1:
    os.environ["PATH"] = f"{sys.argv[1]}{os.pathsep}{os.environ['PATH']}"

from serve import FossilServer
from travel import FILES, QUERIES, clone, fossil, make_site, sync


def vecsearch(*args: object) -> str:
    command = Path(sys.executable).with_name("vecsearch")
    return subprocess.run([command, *map(str, args)], capture_output=True, text=True, check=True).stdout.strip()


def ask(server: FossilServer) -> list[str]:
    """The JSON of each query as it came, without the time it took."""
    bodies = []
    for query in QUERIES:
        status, body, _ = server.get("/ext/search?" + urlencode({"q": query, "format": "json"}))
        assert status == 200, body
        answer = json.loads(body)
        del answer["took_ms"]
        bodies.append(json.dumps(answer, sort_keys=True, ensure_ascii=False))
    return bodies


def compare(site: Path, copy: Path, folder: Path, moment: str) -> None:
    for path in (site, copy):
        vecsearch("install", "-R", path, "--extroot", folder / "ext" / path.stem)
    with FossilServer(site, folder / "ext" / site.stem) as a, FossilServer(copy, folder / "ext" / copy.stem) as b:
        answers = ask(a), ask(b)
    lists = [fossil(folder, "uv", "list", "-R", path) for path in (site, copy)]
    hits = sum(len(json.loads(body)["hits"]) for body in answers[0])
    same = sum(one == other for one, other in zip(*answers))
    print(f"{moment}: {same} of {len(QUERIES)} answers identical ({hits} hits), uv list agrees: {lists[0] == lists[1]}"
          f" ({lists[0].count(chr(10))} files)")


def main(folder: Path) -> None:
    print(fossil(folder, "version").strip())
    forge = make_site(folder / "a")
    print("A:", vecsearch("index", "-R", forge.path).splitlines()[0])
    (folder / "b").mkdir()
    copy = clone(forge.path, folder / "b", "--unversioned")
    fossil(folder, "user", "capabilities", "nobody", "gjorz2", "-R", copy)  # users are no part of a clone
    for path in (forge.path, copy):
        (folder / "ext" / path.stem).mkdir(parents=True)
    print("B:", vecsearch("import", "-R", copy).splitlines()[0])
    compare(forge.path, copy, folder, "after the clone")
    forge.commit({"docs/migration.md": "# Migration\n\nA long way south, and back again in May.\n"}, "changed", user="bob")
    forge.commit({"docs/licence.md": None, "src/wing.py": None, "lib/wing.py": FILES["src/wing.py"]}, "deleted and renamed")
    forge.wiki("Food", "# Food\n\nSand eels only.\n")
    print("A:", vecsearch("index", "-R", forge.path).replace("\n", "; "))
    sync(forge.path, copy)
    print("B:", vecsearch("import", "-R", copy).replace("\n", "; "))
    compare(forge.path, copy, folder, "after changes, sync and import")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
