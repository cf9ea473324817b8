"""Compiled templates, kept between processes: compiling them takes longer than a search.

They are code, so they are only read from a folder that nobody but this user may enter; each carries the
checksum of its template. Without such a folder, or on a full disk, they are compiled for each request.
"""

from __future__ import annotations

import os
import sys
from zlib import crc32

import jinja2
from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from .. import resident


class _Cache(FileSystemBytecodeCache):
    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (OSError, ValueError, EOFError):  # half a file of a machine that lost its power
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        try:
            super().dump_bytecode(bucket)
        except OSError:  # no room for it: the next process compiles again
            pass


def compiled_templates() -> FileSystemBytecodeCache | None:
    """None where nothing can be kept safely."""
    place = resident.folder()
    if not place:
        return None
    try:
        # Where and when it was installed tells one Jinja from another, in a thousandth of the time that its version takes to be found.
        installed = os.stat(jinja2.__file__)
        which = crc32(f"{jinja2.__file__} {installed.st_mtime_ns} {installed.st_size}".encode())
        folder = f"{place}/templates-{sys.implementation.cache_tag}-{which:08x}"
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError:
        return None
    return _Cache(folder)
