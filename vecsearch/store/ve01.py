"""VE01, the format of one artifact's transfer blob (docs/index-format.md). Pure: bytes in, bytes out.

    blob   = "VE01" record*
    record = seq u16 | proj_len u16 | project UTF-8 | text_len u32 | text UTF-8 | vector f32[dim]

Little-endian throughout. The blob does not say its dim; a reader knows it or finds it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import BlobError

MAGIC = b"VE01"
#: How far from 1 the length of a unit vector may be: some models hand out rounded numbers.
UNIT_TOLERANCE = 1e-3
#: No embedding model comes near; it bounds the search for an unknown dim.
MAX_DIM = 1 << 16

_HEAD = struct.Struct("<HH")
_SIZE = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Record:
    """One chunk as it travels; `vector` is float32 [dim]."""

    seq: int
    project: str
    text: str
    vector: np.ndarray


def encode(records: Iterable[Record]) -> bytes:
    """The blob of an artifact. The caller gives unit vectors of one dim and each seq once."""
    return MAGIC + b"".join(_encode_record(record) for record in records)


def _encode_record(record: Record) -> bytes:
    project, text = record.project.encode(), record.text.encode()
    head = _HEAD.pack(record.seq, len(project)) + project
    return head + _SIZE.pack(len(text)) + text + record.vector.astype("<f4").tobytes()


def decode(data: bytes, dim: int, name: str) -> list[Record]:
    """The records of a blob. Raises BlobError, which names the blob, if any byte of it is wrong."""
    if not data.startswith(MAGIC):
        raise BlobError(f"{name}: no VE01 header; if the file is of an old version, run: vecsearch normalize")
    records = _parse(memoryview(data)[len(MAGIC) :], dim, name)
    for record in records:
        _require_unit(record, name)
    return records


def decode_old(data: bytes, dim: int, name: str) -> list[Record]:
    """The records of a blob of either age, with or without header, each vector made a unit vector.
    Raises BlobError for what cannot be read or has no direction."""
    body = memoryview(data)[len(MAGIC) if data.startswith(MAGIC) else 0 :]
    return [Record(r.seq, r.project, r.text, unit(r.vector, f"{name}: chunk {r.seq}")) for r in _parse(body, dim, name)]


def unit(vector: np.ndarray, name: str) -> np.ndarray:
    """The vector at length 1; one that has it already keeps its very bits. Raises BlobError if it
    is zero or not finite."""
    length = _length(vector)
    if not 0 < length < float("inf"):
        raise BlobError(f"{name}: the vector has length {length}, it cannot be normalised")
    return vector if abs(length - 1) <= UNIT_TOLERANCE else (vector / length).astype(np.float32)


def _length(vector: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(vector.astype(np.float64)))


def find_dim(data: bytes, name: str) -> int:
    """The only dim for which every record parses to the end, with unit vectors unless the blob is
    headerless. Raises BlobError if there is none, or more than one."""
    old = not data.startswith(MAGIC)
    body = memoryview(data)[0 if old else len(MAGIC) :]
    fitting = [dim for dim in _candidates(body, name, old) if _fits(body, dim, old)]
    if len(fitting) != 1:
        many = f"dims {', '.join(map(str, fitting[:5]))} all fit" if fitting else "no dim fits"
        raise BlobError(f"{name}: {many}; it was refused")
    return fitting[0]


def _candidates(body: memoryview, name: str, old: bool) -> Iterator[int]:
    """Dims for which the first record fits: its vector is a unit vector and ends within the blob."""
    start = _record_texts(body, 0, name)[3]
    most = min((len(body) - start) // 4, MAX_DIM)
    if old:
        return iter(range(1, most + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.frombuffer(bytes(body[start : start + 4 * most]), "<f4").astype(np.float64)
        lengths = np.sqrt(np.cumsum(numbers * numbers))
    return iter((np.flatnonzero(np.abs(lengths - 1) <= UNIT_TOLERANCE) + 1).tolist())


def _fits(body: memoryview, dim: int, old: bool) -> bool:
    try:
        for record in _parse(body, dim, ""):
            if not old:
                _require_unit(record, "")
    except BlobError:
        return False
    return True


def _parse(body: memoryview, dim: int, name: str) -> list[Record]:
    records: list[Record] = []
    seen: set[int] = set()
    at = 0
    while at < len(body):
        seq, project, text, start = _record_texts(body, at, name)
        at = start + 4 * dim
        if at > len(body):
            raise BlobError(f"{name}: the vector of chunk {seq} runs over the end of the blob (dim {dim})")
        if seq in seen:
            raise BlobError(f"{name}: chunk {seq} stands in it twice")
        seen.add(seq)
        records.append(Record(seq, project, text, np.frombuffer(body, "<f4", dim, start)))
    return records


def _record_texts(body: memoryview, at: int, name: str) -> tuple[int, str, str, int]:
    """(seq, project, text, offset of the vector) of the record at an offset."""
    if at + _HEAD.size > len(body):
        raise BlobError(f"{name}: cut off at byte {at} of {len(body)}")
    seq, size = _HEAD.unpack_from(body, at)
    project, at = _text(body, at + _HEAD.size, size, f"{name}: project of chunk {seq}")
    if at + _SIZE.size > len(body):
        raise BlobError(f"{name}: cut off at byte {at} of {len(body)}")
    (size,) = _SIZE.unpack_from(body, at)
    text, at = _text(body, at + _SIZE.size, size, f"{name}: text of chunk {seq}")
    return seq, project, text, at


def _text(body: memoryview, at: int, size: int, what: str) -> tuple[str, int]:
    if at + size > len(body):
        raise BlobError(f"{what}: {size} bytes announced, {len(body) - at} left")
    try:
        return str(body[at : at + size], "utf-8"), at + size
    except UnicodeDecodeError as error:
        raise BlobError(f"{what}: not UTF-8 at byte {error.start}") from None


def _require_unit(record: Record, name: str) -> None:
    length = _length(record.vector)
    if not abs(length - 1) <= UNIT_TOLERANCE:  # NaN fails, too
        raise BlobError(f"{name}: the vector of chunk {record.seq} has length {length:.4g}, not 1")
