"""Other embedders to measure against, by name; each needs its own package, named when it is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np


class Peer(Protocol):
    def embed_documents(self, texts: Sequence[str]) -> np.ndarray: ...

    def embed_query(self, text: str) -> np.ndarray: ...


class MiniLM:
    """all-MiniLM-L6-v2 itself, by torch; a text's first 254 pieces, as it was made for. In bfloat16, which is three times
    as fast where the processor knows it and leaves cosines to its own at 0.9999."""

    def __init__(self) -> None:
        import torch

        from .distil import Teacher, teacher_folder

        self.teacher = Teacher(teacher_folder(), torch.bfloat16)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return _unit(self.teacher.embed(list(texts)))

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_documents([text])[0]


class WordLlama:
    """The static model of the PyPI package wordllama, 256 dimensions."""

    def __init__(self) -> None:
        import wordllama

        folder = Path(wordllama.__file__).parent
        self.model = wordllama.WordLlama.load(disable_download=True, cache_dir=folder)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return _unit(np.asarray(self.model.embed(list(texts)), np.float32))

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_documents([text])[0]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _hash() -> Peer:
    from vecsearch.embed.hashing import Hashing

    return Hashing()


def _builtin() -> Peer:
    from vecsearch.embed.builtin import Builtin

    return Builtin()


def _folder(folder: str) -> Peer:
    from vecsearch.embed.builtin import Builtin

    return Builtin(Path(folder))


PEERS: dict[str, Callable[..., Peer]] = {"builtin": _builtin, "hash": _hash, "minilm": MiniLM, "wordllama": WordLlama, "folder": _folder}
