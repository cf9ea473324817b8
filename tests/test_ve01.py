"""The transfer formats: golden bytes, refusals, an unknown dim, blobs of an old version, damage."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path

import numpy as np
import pytest

from vecsearch.errors import BlobError
from vecsearch.store import pack, ve01
from vecsearch.store.ve01 import Record

ROOT = Path(__file__).parent.parent

#: Written by hand from SPEC section 4: dim 2, two chunks.
GOLDEN = bytes.fromhex(
    "56453031"                                  # VE01
    "0000" "0000" "03000000" "68c3a9"           # seq 0, no project, 3 bytes of text: hé
    "0000803f" "00000000"                       # 1.0, 0.0
    "0201" "0200" "7473" "00000000"             # seq 258, project ts, no text
    "9a99193f" "cdcc4c3f"                       # 0.6, 0.8
)


def record(seq=0, text="words", vector=(0.6, 0.8), project=""):
    return Record(seq, project, text, np.array(vector, np.float32))


def facts(records):
    return [(r.seq, r.project, r.text, r.vector.tolist()) for r in records]


def test_golden_bytes_decode_to_known_values_and_back():
    records = ve01.decode(GOLDEN, 2, "golden")
    assert facts(records) == [(0, "", "hé", [1.0, 0.0]), (258, "ts", "", [np.float32(0.6), np.float32(0.8)])]
    assert ve01.encode(records) == GOLDEN


def test_a_blob_without_chunks_is_its_header():
    assert ve01.encode([]) == b"VE01" and ve01.decode(b"VE01", 2, "b") == []


def test_the_largest_seq_and_project_fit():
    blob = ve01.encode([record(seq=65535, project="é" * 32767)])
    assert facts(ve01.decode(blob, 2, "b"))[0][:2] == (65535, "é" * 32767)


@pytest.mark.parametrize(("blob", "says"), [
    (b"", "no VE01 header"),
    (b"VE02" + GOLDEN[4:], "no VE01 header"),
    (GOLDEN[:-1], "runs over the end"),
    (GOLDEN[:7], "cut off at byte 0"),
    (GOLDEN[:10], "cut off at byte 4"),
    (GOLDEN + b"\0", "cut off"),
    (GOLDEN.replace(bytes.fromhex("03000000"), bytes.fromhex("ffffffff")), "4294967295 bytes announced"),
    (GOLDEN.replace("é".encode(), b"\xc3\x28"), "not UTF-8 at byte 1"),
    (GOLDEN.replace(b"ts", b"\xff\xfe"), "project of chunk 258: not UTF-8"),
    (GOLDEN.replace(bytes.fromhex("0201"), bytes.fromhex("0000")), "chunk 0 stands in it twice"),
    (GOLDEN.replace(struct.pack("<f", 1), struct.pack("<f", float("nan"))), "length nan"),
    (GOLDEN.replace(struct.pack("<f", 1), struct.pack("<f", float("inf"))), "length inf"),
    (GOLDEN.replace(struct.pack("<f", 1), bytes(4)), "length 0"),
    (GOLDEN.replace(struct.pack("<f", 1), struct.pack("<f", 2)), "length 2"),
])
def test_whatever_is_wrong_is_refused_and_named(blob, says):
    with pytest.raises(BlobError, match=says) as refusal:
        ve01.decode(blob, 2, "vec/x.bin")
    assert str(refusal.value).startswith("vec/x.bin: ")


@pytest.mark.parametrize("dim", [1, 3, 4])
def test_a_wrong_dim_is_refused(dim):
    with pytest.raises(BlobError):
        ve01.decode(GOLDEN, dim, "b")


@pytest.mark.parametrize(("dim", "chunks"), [(1, 1), (2, 3), (128, 1), (256, 40), (768, 5)])
def test_an_unknown_dim_is_the_only_one_that_fits(dim, chunks):
    rng = np.random.default_rng(dim)
    rows = rng.normal(size=(chunks, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    blob = ve01.encode(record(i, f"text {i}" * i, row) for i, row in enumerate(rows))
    assert ve01.find_dim(blob, "b") == dim


def test_a_dim_that_cannot_be_told_is_refused():
    with pytest.raises(BlobError, match="no dim fits"):
        ve01.find_dim(ve01.encode([record(vector=(3, 4))]), "b")
    with pytest.raises(BlobError, match="cut off"):
        ve01.find_dim(b"VE01", "b")


def test_an_old_blob_becomes_ve01_and_its_vectors_unit_vectors():
    old = ve01.encode([record(0, "a", (3, 4)), record(1, "b", (0.6, 0.8))])[4:]
    assert ve01.find_dim(old, "b") == 2
    records = ve01.decode_old(old, 2, "b")
    assert facts(records) == facts([record(0, "a"), record(1, "b")])
    assert ve01.decode_old(ve01.encode(records), 2, "b")[1].vector.tobytes() == records[1].vector.tobytes()


def test_a_vector_without_direction_cannot_be_normalised():
    with pytest.raises(BlobError, match="chunk 0: the vector has length 0.0"):
        ve01.decode_old(ve01.encode([record(vector=(0, 0))]), 2, "b")


def test_a_pack_holds_blobs_by_hash():
    packed = pack.encode([({"hash": "ab", "kind": "checkin"}, GOLDEN), ({"hash": "cd", "kind": "checkin"}, b"VE01")])
    assert pack.decode(packed, "p") == {"ab": ({"hash": "ab", "kind": "checkin"}, GOLDEN), "cd": ({"hash": "cd", "kind": "checkin"}, b"VE01")}


@pytest.mark.parametrize(("data", "says"), [
    (b"VE01", "no VP01 header"),
    (b"VP01\x05", "cut off at byte 4 of 5"),
    (b"VP01\xff\xff\xff\xff", "4294967295 bytes announced"),
    (b"VP01\x02\0\0\0{]\0\0\0\0", "not JSON"),
    (b"VP01\x02\0\0\0{}\0\0\0\0", "has no hash"),
    (b"VP01" + (b'\x0a\0\0\0{"hash":1}\0\0\0\0'), "has no hash"),
    (pack.encode([({"hash": "a"}, b"")] * 2), "a stands in it twice"),
])
def test_a_damaged_pack_is_refused_and_named(data, says):
    with pytest.raises(BlobError, match=f"vec/p.pack: .*{says}"):
        pack.decode(data, "vec/p.pack")


def test_2000_damaged_blobs_are_refused_or_valid():
    verdicts, worst = runpy.run_path(str(ROOT / "benchmarks/ve01_fuzz.py"))["run"](2000, seed=7, memory=True)
    assert sum(verdicts.values()) == 2000 and verdicts["refused"] > 1500
    assert worst < 12  # a Python string may take four bytes for each byte of text
