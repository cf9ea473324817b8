"""The bytes of one artifact, read from `blob` and `delta` and proved against its own name.

`blob.content` is a 4-byte big-endian size and a zlib stream (src/blob.c, blob_compress). If `delta`
has the row, the stream is a delta against another artifact, usually a newer one (src/delta.c).
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import threading
import zlib
from array import array
from collections import OrderedDict

from ..errors import ArtifactError

#: Bytes of artifacts kept: enough for the chains of a repository that is read from end to end.
CACHE_BYTES = 16 << 20


class _Cache:
    """The artifacts read last, by hash. A hash names its bytes in every repository alike, so what
    is found here cannot be outdated."""

    def __init__(self, room: int):
        self.room, self.used = room, 0
        self.held: OrderedDict[str, bytes] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, hash_: str) -> bytes | None:
        with self.lock:
            content = self.held.get(hash_)
            if content is not None:
                self.held.move_to_end(hash_)
            return content

    def put(self, hash_: str, content: bytes) -> None:
        if len(content) > self.room // 4:
            return
        with self.lock:
            if self.held.setdefault(hash_, content) is content:
                self.used += len(content)
            while self.used > self.room:
                self.used -= len(self.held.popitem(last=False)[1])


    def clear(self) -> None:
        with self.lock:
            self.held.clear()
            self.used = 0


_cache = _Cache(CACHE_BYTES)


def forget() -> None:
    """Drop what is kept in memory, so that everything is read and proved anew."""
    _cache.clear()


def read(db: sqlite3.Connection, rid: int) -> bytes:
    """The artifact in row `rid`. Raises ArtifactError if it is missing, damaged or not what its
    name says."""
    chain, content = _chain(db, rid)
    while chain:
        rid, hash_ = chain.pop()
        stored = _inflate(db, rid, hash_)
        content = stored if content is None else _apply(hash_, content, stored)
        _verify(hash_, content)
        _cache.put(hash_, content)
    assert content is not None
    return content


def head(db: sqlite3.Connection, rid: int, size: int) -> bytes:
    """The first `size` bytes of the artifact in row `rid`. One that stands alone is unpacked no further, and
    not proved: good for a look at what it is. Raises ArtifactError as `read` does."""
    row = db.execute("SELECT b.size, b.content FROM blob b WHERE b.rid=? AND NOT EXISTS (SELECT 1 FROM delta d WHERE d.rid=b.rid)",
                     (rid,)).fetchone()
    if row is None or row[0] < 0 or row[1] is None:
        return read(db, rid)[:size]
    try:
        return zlib.decompressobj().decompress(row[1][4:], size)
    except zlib.error:
        return read(db, rid)[:size]


def read_hash(db: sqlite3.Connection, hash_: str) -> bytes:
    """The artifact of that name. Raises ArtifactError as `read` does."""
    row = db.execute("SELECT rid FROM blob WHERE uuid=?", (hash_,)).fetchone()
    if row is None:
        raise ArtifactError(f"artifact {hash_}: not in this repository")
    return read(db, row[0])


def _chain(db: sqlite3.Connection, rid: int) -> tuple[list[tuple[int, str]], bytes | None]:
    """The rows from `rid` down to one that stands alone, or to the bytes of one that is at hand."""
    chain: list[tuple[int, str]] = []
    seen: set[int] = set()
    at: int | None = rid
    while at is not None:
        row = db.execute("SELECT b.uuid, d.srcid FROM blob b LEFT JOIN delta d ON d.rid=b.rid WHERE b.rid=?", (at,)).fetchone()
        if row is None:
            raise ArtifactError(_missing(chain, at))
        if at in seen:
            raise ArtifactError(f"artifact {chain[0][1]}: its deltas go round in a circle")
        if (content := _cache.get(row[0])) is not None:
            return chain, content
        seen.add(at)
        chain.append((at, row[0]))
        at = row[1]
    return chain, None


def _missing(chain: list[tuple[int, str]], rid: int) -> str:
    if not chain:
        return f"artifact {rid}: not in this repository"
    return f"artifact {chain[0][1]}: it is a delta against row {rid}, which does not exist"


def _inflate(db: sqlite3.Connection, rid: int, hash_: str) -> bytes:
    """What row `rid` holds, unpacked: the artifact or a delta."""
    size, stored = db.execute("SELECT size, content FROM blob WHERE rid=?", (rid,)).fetchone()
    if size < 0 or stored is None:
        raise ArtifactError(f"artifact {hash_}: a phantom, its content never arrived")
    expected = int.from_bytes(stored[:4], "big")
    unpacker = zlib.decompressobj()
    try:
        # One byte of room beyond the promise: a lying header costs no memory.
        content = unpacker.decompress(stored[4:], expected + 1)
    except zlib.error as error:
        raise ArtifactError(f"artifact {hash_}: cannot be decompressed: {error}") from error
    if len(content) != expected or not unpacker.eof:
        raise ArtifactError(f"artifact {hash_}: its stored form is truncated, or longer than the {expected} bytes promised")
    return content


def _verify(hash_: str, content: bytes) -> None:
    """Raises ArtifactError unless the content is what the name says."""
    digest = hashlib.sha1(content, usedforsecurity=False) if len(hash_) == 40 else hashlib.sha3_256(content)
    if digest.hexdigest() != hash_:
        raise ArtifactError(f"artifact {hash_}: its content has the hash {digest.hexdigest()}")


#: Values of the digits of Fossil's base-64 numbers (getInt in src/delta.c).
_DIGITS = {ord(c): value for value, c in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~")}


def _apply(hash_: str, base: bytes, delta: bytes) -> bytes:
    """The artifact that `delta` makes of `base`. Raises ArtifactError, naming `hash_`."""
    try:
        return apply_delta(base, delta)
    except ValueError as error:
        raise ArtifactError(f"artifact {hash_}: bad delta: {error}") from error


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Fossil's delta format: SIZE, newline, then segments COUNT@OFFSET, (copy from base) or
    COUNT:BYTES (insert), then CHECKSUM; (www/delta_format.wiki). Raises ValueError if malformed."""
    size, at = _number(delta, 0)
    if delta[at : at + 1] != b"\n":
        raise ValueError("no newline after its size")
    at += 1
    made = bytearray()
    while True:
        count, at = _number(delta, at)
        command = delta[at : at + 1]
        at += 1
        if command == b"@":
            offset, at = _number(delta, at)
            if delta[at : at + 1] != b"," or offset + count > len(base):
                raise ValueError("a copy that is malformed or beyond the end of its base")
            made += base[offset : offset + count]
            at += 1
        elif command == b":":
            if at + count > len(delta):
                raise ValueError("an insert beyond its own end")
            made += delta[at : at + count]
            at += count
        elif command == b";":
            return _finished(bytes(made), size, count)
        else:
            raise ValueError("unknown command" if command else "it has no end")
        if len(made) > size:
            raise ValueError(f"makes more than the {size} bytes that were promised")


def _finished(made: bytes, size: int, expected: int) -> bytes:
    if len(made) != size:
        raise ValueError(f"makes {len(made)} bytes, {size} were promised")
    if checksum(made) != expected:
        raise ValueError("wrong checksum")
    return made


def _number(delta: bytes, at: int) -> tuple[int, int]:
    """The base-64 number at `at`, and where it ends."""
    value = 0
    while at < len(delta) and (digit := _DIGITS.get(delta[at])) is not None:
        value = (value << 6) + digit
        at += 1
    return value, at


def checksum(content: bytes) -> int:
    """The sum of the big-endian 32-bit words, the last one padded with zeros, modulo 2**32."""
    words = array("I")
    if words.itemsize != 4:
        words = array("L")
    words.frombytes(content + bytes(-len(content) % 4))
    if sys.byteorder == "little":
        words.byteswap()
    return sum(words) & 0xFFFFFFFF
