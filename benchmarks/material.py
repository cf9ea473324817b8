"""Fossil repositories to measure on, made once in a cache folder from trees of files.

    code_repository   the source files of one repository of the code-search set
    indexed           any Fossil file, copied into the cache and indexed by the real indexer
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from vecsearch import config
from vecsearch.index import index
from vecsearch.store import connection, schema, settings
from vecsearch.types import Embedder

#: Folders of built or foreign files, as the published benchmark leaves them out.
SKIPPED = {".git", "node_modules", "__pycache__", "dist", "build", "target", ".idea", ".vscode"}


def code_repository(tree: Path, root: str, cache: Path) -> Path:
    """A Fossil repository of one check-in that holds the files of `tree` below `root`."""
    made = cache / f"{tree.name}.fossil"
    if made.exists():
        return made
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        checkout = Path(folder) / "files"
        _copy(tree, root, checkout)
        fresh = Path(folder) / made.name
        _fossil(folder, "init", str(fresh))
        _fossil(checkout, "open", "--force", "--keep", str(fresh))
        _fossil(checkout, "settings", "allow-symlinks", "0")
        _fossil(checkout, "add", "--dotfiles", "--ignore", "", "--clean", "", ".")
        _fossil(checkout, "commit", "--no-warnings", "--no-prompt", "--no-verify", "-m", f"{tree.name} at its pinned revision")
        _fossil(checkout, "close", "--force")
        fresh.rename(made)
    return made


def _copy(tree: Path, root: str, checkout: Path) -> None:
    """Regular files only; symbolic links would bring the same text twice."""
    for folder, folders, files in os.walk(tree / root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            source = Path(folder) / name
            if not source.is_symlink():
                copy = checkout / source.relative_to(tree)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)


def _fossil(folder: str | Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "USER": "benchmark"}
    done = subprocess.run(["fossil", *arguments], cwd=folder, env=environment, capture_output=True, text=True, input="")
    if done.returncode:
        raise RuntimeError(f"fossil {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")


def indexed(repository: Path, cache: Path, embedder: Callable[[config.Settings], Embedder], provider: str) -> Path:
    """A copy of the repository in the cache, indexed; an index that is current costs nothing."""
    copy = cache / f"indexed-{repository.name}"
    if not copy.exists():
        fresh = copy.with_suffix(".tmp")
        shutil.copyfile(repository, fresh)
        _forget_index(fresh, provider)
        fresh.rename(copy)
    index(copy, embedder, rebuild=_other_model(copy, embedder))
    return copy


def _forget_index(repository: Path, provider: str) -> None:
    db = connection.open_writable(repository)
    with connection.transaction(db):
        schema.drop(db, keep=())
        settings.store(db, "provider", provider)
        settings.store(db, "publish", "none")
    db.close()


def _other_model(repository: Path, embedder: Callable[[config.Settings], Embedder]) -> bool:
    db = connection.open_writable(repository)
    row = None
    if "fx_vec_state" in schema.table_names(db):
        row = db.execute("SELECT model FROM fx_vec_state").fetchone()
    db.close()
    return row is not None and row[0] != embedder(config.default_settings()).model
