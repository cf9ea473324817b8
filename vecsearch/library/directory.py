"""Public definitions in a directory of sources or documents, or of an installed Python distribution."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path

from .. import chunk as chunking
from ..config import default_settings
from ..fossil.corpus.languages import language
from ..fossil.decode import decode
from ..types import Document, Source
from . import python_api
from .python_api import Found

_SKIPPED = {"__pycache__", "node_modules", "tests", "test", "build", "dist"}
_MARKUP = {".md": "markdown", ".markdown": "markdown", ".rst": "rst", ".adoc": "asciidoc", ".html": "html", ".htm": "html",
           ".wiki": "wiki", ".txt": "plain"}


def definitions(root: Path) -> Iterator[Found]:
    """Every public definition and every section below a directory, in order of path. Links are not
    followed, and what cannot be read is passed over."""
    for path in _files(root):
        yield from _of_file(path, path.relative_to(root).as_posix())


def definitions_of_distribution(distribution: importlib.metadata.Distribution) -> Iterator[Found]:
    """The same of the modules that pip installed under a name."""
    for file in sorted(distribution.files or (), key=str):
        parts = file.parts
        if file.suffix in (".py", ".pyi") and not _SKIPPED & set(parts) and ".." not in parts:
            yield from _of_file(Path(str(file.locate())), file.as_posix())


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(names))


def _of_file(path: Path, name: str) -> Iterator[Found]:
    format = _MARKUP.get(path.suffix.lower()) or language(name)
    if not format or path.is_symlink():
        return
    try:
        decoded = decode(path.read_bytes(), default_settings()["max-file-kb"] << 10)
    except OSError:
        return
    if decoded.skipped:
        return
    if format == "python":
        if not _is_public(name):
            return
        yield from python_api.definitions(_module(name), decoded.text)
    else:
        yield from _of_chunks(name, format, decoded.text)


def _is_public(name: str) -> bool:
    """A Python module below no name that starts with `_`."""
    return not any(part.startswith("_") and part != "__init__" for part in Path(name).with_suffix("").parts)


def _module(name: str) -> str:
    """src/pkg/mod.py is pkg.mod, pkg/__init__.py is pkg."""
    parts = list(Path(name).with_suffix("").parts)
    parts = parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _of_chunks(name: str, format: str, text: str) -> Iterator[Found]:
    """Other languages: what the chunker takes for a definition. Documents: their sections."""
    document = Document(Source("api", "", name, ""), name, format, text)
    for chunk in chunking.split(document, default_settings()):
        symbol = chunk.symbol.split(" ")[0] if chunk.symbol else ""
        if format in _MARKUP.values() or (symbol and not symbol.split(".")[-1].startswith("_")):
            label = symbol or (chunk.title if chunk.title != name else "") or str(chunk.seq + 1)
            yield f"{name}:{label}", label if symbol else chunk.title or name, chunk.text, format, chunk.lines
