"""The `hash` provider: seed 2's character-bucket fallback, kept exactly. It is a fingerprint of the
letters, not of the meaning; docs/model.md shows what that is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np

from ..errors import EmbedError

DIM = 128
#: Text beyond this many characters does not reach the vector.
PREFIX = 2048


class Hashing:
    """128 buckets, `ord(ch) % 128` over the first 2048 characters, L2-normalised."""

    model = "hash:char-128@1"
    dim = DIM

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [n, 128] of unit rows; an empty text gives the first unit vector."""
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.zeros((0, DIM), np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        """float32 [128] of unit length."""
        counts = np.bincount([ord(c) % DIM for c in text[:PREFIX]] or [0], minlength=DIM).astype(np.float64)
        return (counts / math.sqrt(counts @ counts)).astype(np.float32)


def vector_to_json(vector: np.ndarray) -> str:
    """Seed 2's codec: a JSON array of numbers."""
    return json.dumps([float(x) for x in vector])


def vector_from_json(text: str) -> np.ndarray:
    """float32 [128] from seed 2's JSON. Raises EmbedError on bad JSON, another length or a non-number."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise EmbedError("hash", f"stored vector is not JSON: {error}") from None
    if not isinstance(values, list) or len(values) != DIM:
        size = len(values) if isinstance(values, list) else type(values).__name__
        raise EmbedError("hash", f"stored vector has length {size}, not {DIM}")
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in values):
        raise EmbedError("hash", "stored vector holds something that is not a finite number")
    return np.array(values, np.float32)
