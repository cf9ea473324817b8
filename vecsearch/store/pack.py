"""Check-ins travel packed by month: one file instead of thousands of tiny ones. Pure.

    pack  = "VP01" entry*
    entry = size u32 | meta JSON UTF-8 | size u32 | VE01 blob

`meta` is what vec/index.json says of any other artifact, and its `hash`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any

from ..errors import BlobError

MAGIC = b"VP01"
_SIZE = struct.Struct("<I")


def encode(entries: Iterable[tuple[dict[str, Any], bytes]]) -> bytes:
    """The pack of (meta, VE01 blob) pairs, in the order given."""
    parts = [MAGIC]
    for meta, blob in entries:
        for part in (json.dumps(meta, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(), blob):
            parts += [_SIZE.pack(len(part)), part]
    return b"".join(parts)


def decode(data: bytes, name: str) -> dict[str, tuple[dict[str, Any], bytes]]:
    """hash -> (meta, VE01 blob). Raises BlobError, which names the pack, if its frame is wrong; the
    blobs inside are the caller's to decode."""
    if not data.startswith(MAGIC):
        raise BlobError(f"{name}: no VP01 header")
    found: dict[str, tuple[dict[str, Any], bytes]] = {}
    at = len(MAGIC)
    while at < len(data):
        raw, at = _part(data, at, name)
        blob, at = _part(data, at, name)
        meta = _meta(raw, name)
        if meta["hash"] in found:
            raise BlobError(f"{name}: {meta['hash']} stands in it twice")
        found[meta["hash"]] = (meta, blob)
    return found


def _part(data: bytes, at: int, name: str) -> tuple[bytes, int]:
    start = at + _SIZE.size
    if start > len(data):
        raise BlobError(f"{name}: cut off at byte {at} of {len(data)}")
    (size,) = _SIZE.unpack_from(data, at)
    if start + size > len(data):
        raise BlobError(f"{name}: {size} bytes announced at byte {at}, {len(data) - start} left")
    return data[start : start + size], start + size


def _meta(raw: bytes, name: str) -> dict[str, Any]:
    try:
        meta = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BlobError(f"{name}: an entry's description is not JSON: {error}") from None
    if not isinstance(meta, dict) or not isinstance(meta.get("hash"), str):
        raise BlobError(f"{name}: an entry's description has no hash")
    return meta
