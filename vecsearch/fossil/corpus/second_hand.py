"""Files that nobody here wrote: generated, vendored, minified. Pure.

They are indexed all the same, since their words may be what is sought, but each says so in its notes,
by which search ranks it lower. A lock file is not indexed: it holds nothing but hashes.
"""

from __future__ import annotations

import re

_LOCK_FILES = frozenset({
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "composer.lock", "cargo.lock",
    "gemfile.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "go.sum", "flake.lock", "mix.lock", "shard.lock",
    "podfile.lock", "packages.lock.json", "gradle.lockfile", "pubspec.lock",
})
_VENDORED = re.compile(r"(?:^|/)(?:vendor|vendored|node_modules|third[_-]?party|3rdparty|bower_components|site-packages)/", re.I)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css|map)$|\.(?:js|css)\.map$|\.bundle\.js$", re.I)
_GENERATED_NAME = re.compile(r"(?:_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h)|\.g\.dart|\.designer\.cs|\.generated\.\w+)$", re.I)
_SAYS_GENERATED = re.compile(
    r"@generated\b|do not edit\b|automatically generated|auto-?generated|\bgenerated (?:by|from|automatically)\b"
    r"|amalgamation", re.I)
#: Only a comment at the top speaks for the whole file, and few lines of prose are needed to say it.
_SAYS_WITHIN = 600
_COMMENT = re.compile(r"^\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|'|!)")
#: No person writes lines of this average length.
MINIFIED_LINE = 400


def is_lock_file(path: str) -> bool:
    """A package manager's list of exact versions."""
    return path.rpartition("/")[2].lower() in _LOCK_FILES


def notes(path: str, text: str, is_code: bool) -> tuple[str, ...]:
    """`vendored`, `minified` or `generated`, by the folder, the name, the length of lines or what the
    comment at the top says; prose is judged by its folder alone."""
    found = []
    if _VENDORED.search(path):
        found.append("vendored")
    if is_code and (_MINIFIED_NAME.search(path) or _is_minified(text)):
        found.append("minified")
    elif is_code and (_GENERATED_NAME.search(path) or _says_generated(text)):
        found.append("generated")
    return tuple(found)


def _is_minified(text: str) -> bool:
    return len(text) > 4096 and len(text) / (text.count("\n") + 1) > MINIFIED_LINE


def _says_generated(text: str) -> bool:
    return any(_COMMENT.match(line) and _SAYS_GENERATED.search(line) for line in text[:_SAYS_WITHIN].split("\n"))
