"""Damages valid transfer blobs at random: each must be refused by name or be a valid blob itself.

    python benchmarks/ve01_fuzz.py [COUNT] [SEED]

Prints how many were refused, how many were valid, and the most memory a decode took per byte of blob.
"""

from __future__ import annotations

import random
import struct
import sys
import time
import tracemalloc
from collections import Counter

import numpy as np

from vecsearch.errors import BlobError
from vecsearch.store import pack, ve01

DIM = 8
#: What decoding may take beside a multiple of the blob's size: the records' own objects.
SLACK_BYTES = 20_000


def sample(rng: random.Random) -> bytes:
    """A valid blob of up to 40 records."""
    records = []
    for seq in range(rng.randrange(1, 40)):
        vector = np.array([rng.gauss(0, 1) for _ in range(DIM)], np.float64)
        text = "".join(rng.choice("aß検\n🐟 ") for _ in range(rng.randrange(0, 200)))
        records.append(ve01.Record(seq, rng.choice(("", "tern")), text, (vector / np.linalg.norm(vector)).astype(np.float32)))
    return ve01.encode(records)


def mutate(rng: random.Random, blob: bytes) -> bytes:
    """One kind of damage, chosen at random."""
    data = bytearray(blob)
    at = rng.randrange(len(data))
    match rng.randrange(9):
        case 0:
            data[at] ^= 1 << rng.randrange(8)
        case 1:
            del data[at:]
        case 2:
            data[at : at + 4] = struct.pack("<I", 0xFFFFFFFF - rng.randrange(64))
        case 3:
            data[at : at + 4] = struct.pack("<f", rng.choice((float("nan"), float("inf"), -float("inf"), 0.0, 3e38)))
        case 4:
            data[len(data) - 4 * DIM :] = bytes(4 * DIM)  # a zero vector
        case 5:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        case 6:
            data += blob[len(ve01.MAGIC) :]  # every seq twice
        case 7:
            data[at : at + 2] = b"\xff\xfe"  # never UTF-8
        case 8:
            del data[at : at + rng.randrange(1, 4 * DIM)]  # a wrong dim
    return bytes(data)


def verdict(data: bytes) -> str:
    """`refused` or `valid`; anything else raises."""
    try:
        records = ve01.decode(data, DIM, "vec/f.bin")
    except BlobError as error:
        assert str(error).startswith("vec/f.bin: "), error
        return "refused"
    assert ve01.encode(records) == data
    return "valid"


def other_readers(data: bytes) -> None:
    """Those that guess more must not fail otherwise either."""
    for reader in (lambda: ve01.find_dim(data, "f"), lambda: ve01.decode_old(data, DIM, "f"),
                   lambda: pack.decode(pack.MAGIC + data[len(ve01.MAGIC) :], "f")):
        try:
            reader()
        except BlobError:
            pass


def run(count: int, seed: int, memory: bool = False) -> tuple[Counter[str], float]:
    """Verdicts of `count` mutations, and the most bytes taken per byte of blob (0 if not asked for)."""
    rng = random.Random(seed)
    verdicts: Counter[str] = Counter()
    worst = 0.0
    for i in range(count):
        if i % 50 == 0:
            blob = sample(rng)
        data = mutate(rng, blob)
        if memory:
            tracemalloc.start()
        verdicts[verdict(data)] += 1
        if memory:
            worst = max(worst, (tracemalloc.get_traced_memory()[1] - SLACK_BYTES) / max(1, len(data)))
            tracemalloc.stop()
        other_readers(data)
    return verdicts, worst


if __name__ == "__main__":
    number, start = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, time.perf_counter()
    found, most = run(number, int(sys.argv[2]) if len(sys.argv) > 2 else 1, memory=True)
    print(f"{number} mutations: {found['refused']} refused, {found['valid']} valid, no other outcome;"
          f" at most {most:.1f} bytes of memory per byte of blob; {time.perf_counter() - start:.0f} s")
