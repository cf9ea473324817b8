"""What the teacher makes of documentation: `python -m training.teach PAIRS OUT.npz`.

The teacher reads a sample of the pieces of documentation, each with some of its queries. It reads in order,
and so knows which of several pieces with the same words means what was asked; training takes its similarities as a
second aim (train.py). Of code it knows no more than the pairs do. Two processes, in bfloat16, which changes no
similarity by more than 0.001.

    piece  int32 [n]            number of the piece in the corpus (corpus.py)
    text   float16 [n, 384]     its unit vector
    query  int32 [n, QUERIES]   numbers of its queries in the corpus
    asked  float16 [n, QUERIES, 384]
"""

from __future__ import annotations

import json
import random
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch

from .corpus import LEAST
from .distil import Teacher, teacher_folder

#: Pieces of one package that are read, and queries of each piece.
MOST, QUERIES = 160, 2
#: Pieces of words of a text that the teacher reads.
LENGTH = 126
#: Queries that say what the piece is about, in words.
ASKED = ("head", "ask", "trail", "sentence-")

Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def sample(path: Path) -> tuple[list[tuple[int, str, list[int], list[str]]], int, int]:
    """(piece, text, numbers and words of its queries) of some, counted within the package; how many pieces and queries it has."""
    rng, found, pieces, queries = random.Random(path.stem), [], 0, 0
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        if not line:
            break
        piece = json.loads(line)
        asked = [i for i, (kind, _) in enumerate(piece["queries"]) if kind in ASKED]
        if piece["kind"] == "doc" and asked:
            chosen = rng.sample(asked, QUERIES) if len(asked) >= QUERIES else rng.choices(asked, k=QUERIES)
            text = "\n".join(part for part in (piece["path"], piece["title"], piece["text"]) if part)
            found.append((pieces, text, [queries + i for i in chosen], [piece["queries"][i][1] for i in chosen]))
        pieces += 1
        queries += len(piece["queries"])
    return rng.sample(found, min(len(found), MOST)), pieces, queries


def read(path: Path) -> tuple[Found, int, int]:
    """As `sample`, with vectors in place of texts."""
    chosen, pieces, queries = sample(path)
    if pieces < LEAST or not chosen:
        return (np.zeros(0, np.int32), np.zeros((0, 384), np.float16), np.zeros((0, QUERIES), np.int32), np.zeros((0, QUERIES, 384), np.float16)), pieces, queries
    places, texts, numbers, asked = zip(*chosen, strict=True)
    vectors = _unit(_TEACHER[0].embed(list(texts), most=LENGTH))
    spoken = _unit(_TEACHER[0].embed([query for some in asked for query in some], most=LENGTH)).reshape(-1, QUERIES, 384)
    return (np.array(places, np.int32), vectors, np.array(numbers, np.int32), spoken), pieces, queries


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


_TEACHER: list[Teacher] = []


def _begin() -> None:
    torch.set_num_threads(1)
    _TEACHER.append(Teacher(teacher_folder(), torch.bfloat16))


def main(folder: Path, out: Path) -> None:
    made: list[Found] = []
    first_piece = first_query = 0
    with Pool(2, _begin) as pool:
        for (piece, text, query, asked), pieces, queries in pool.imap(read, sorted(folder.glob("*.jsonl"))):
            if pieces >= LEAST:
                made.append((piece + np.int32(first_piece), text, query + np.int32(first_query), asked))
                first_piece, first_query = first_piece + pieces, first_query + queries
    arrays = dict(zip(("piece", "text", "query", "asked"), map(np.concatenate, zip(*made, strict=True)), strict=True))
    np.savez(out, **arrays)
    print(f"{len(arrays['piece'])} pieces of documentation read by the teacher")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
