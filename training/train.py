"""Contrastive training of the token vectors: `python -m training.train CORPUS TAUGHT VOCABULARY START.npy OUT.npy`.

A text's vector is the unit-length sum of its tokens' vectors, each word weighted by
1 + ln(how often it occurs), and those of its path and heading OPENING times, as at run time. A batch holds pieces of a few packages: what stands beside the right piece in
its own package is the hard negative. Loss: cross entropy both ways over the batch (InfoNCE, van den
Oord et al. 2018), temperature 1/SCALE. Beside it, on documentation that the teacher has read (teach.py): cross
entropy against the teacher's own distribution over the pieces (knowledge distillation, Hinton et al. 2015). All of it RUNS times
from the same start, with other draws: the vectors are the mean (model soups, Wortsman et al. 2022).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from .corpus import load
from .draw import Bags, Pieces, Text, Words

SEED, SCALE = 20261130, 20.0
#: (steps, pieces of one package in a batch, learning rate, weight of what the teacher says). First the pairs alone: heard from
#: the beginning, the teacher's voice drowns them.
PHASES = ((700, 256, 5e-3, 0.0), (250, 256, 2e-3, 1.0))
#: What one run draws by chance moves a score by a hundredth and more; the mean of several does not depend on one.
RUNS = 3
#: Pieces that the teacher has read, a step; how much of what it says is replaced by the pairs themselves.
TAUGHT, PAIRS = 768, 0.3


class Sum(torch.autograd.Function):
    """Weighted sums of rows of the table. The transpose is given, which makes the gradient as cheap as the sums."""

    @staticmethod
    def forward(context: Any, table: torch.Tensor, weights: torch.Tensor, transposed: torch.Tensor) -> torch.Tensor:
        context.transposed = transposed
        return weights @ table

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return context.transposed @ gradient.contiguous(), None, None


def embed(table: torch.Tensor, bags: Bags) -> torch.Tensor:
    """Unit vectors [texts, dim]"""
    return F.normalize(Sum.apply(table, *bags), dim=1)


@torch.no_grad()
def measure(table: torch.Tensor, words: Words, pieces: Pieces) -> dict[str, float]:
    """Mean reciprocal rank among 1,500 held-out pieces, for documentation and for code."""
    keep, pieces.rng = pieces.rng, np.random.default_rng(SEED)
    found = {}
    for name, code in (("doc", 0), ("code", 1)):
        rows = pieces.rng.permutation(pieces.held[pieces.code[pieces.held] == code])[:1500]
        query, text, _ = pieces.batch(rows, True)
        score = embed(table, words.bags(*query)) @ embed(table, words.bags(*text)).T
        rank = (score > score.diagonal()[:, None]).sum(1) + 1
        found[name] = round(float((1 / rank).mean()), 4)
    pieces.rng = keep
    return found


class Taught:
    """Draws pieces that the teacher has read, and how alike it finds them."""

    def __init__(self, path: Path, pieces: Pieces, package: np.ndarray):
        with np.load(path) as stored:
            self.piece, self.text, self.query, self.asked = (stored[name] for name in ("piece", "text", "query", "asked"))
        self.pieces, kept = pieces, np.isin(self.piece, np.concatenate(pieces.groups))
        self.groups = [rows for rows in np.split(*pieces.sorted_groups(package[self.piece], kept)) if len(rows) >= 24]

    def draw(self) -> tuple[Text, Text, torch.Tensor]:
        """Queries, texts, and the teacher's similarities [queries, texts]."""
        rng, drawn = self.pieces.rng, np.zeros(0, np.int64)
        for group in rng.permutation(len(self.groups)):
            if len(drawn) + len(self.groups[group]) <= TAUGHT:
                drawn = np.concatenate([drawn, self.groups[group]])
        which = rng.integers(0, self.query.shape[1], len(drawn))
        query, text = self.pieces.read_by_teacher(self.piece[drawn], self.query[drawn, which])
        return query, text, torch.from_numpy(self.asked[drawn, which].astype(np.float32) @ self.text[drawn].astype(np.float32).T)


class Batches(torch.utils.data.IterableDataset):
    """What one step learns from, made in a process of its own while the last step runs."""

    def __init__(self, pieces: Pieces, taught: Taught | None, words: Words, steps: int, group: int):
        self.pieces, self.taught, self.words, self.steps, self.group = pieces, taught, words, steps, group

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        for _ in range(self.steps):
            drawn = self.pieces.draw(self.group)
            query, text, wide = self.pieces.batch(drawn)
            document = self.pieces.document[drawn]
            also = torch.from_numpy((document[:, None] == document) & wide[:, None]).fill_diagonal_(False)
            yield self.words.bags(*query), self.words.bags(*text), also, self.told()

    def told(self) -> tuple[Bags, Bags, torch.Tensor] | None:
        if self.taught is None:
            return None
        query, text, alike = self.taught.draw()
        return self.words.bags(*query), self.words.bags(*text), alike


def agreement(score: torch.Tensor, alike: torch.Tensor) -> torch.Tensor:
    """Cross entropy of scores [queries, texts] against what the teacher thinks, tempered by which pairs are known."""
    pairs = PAIRS * torch.eye(len(score))
    return (F.cross_entropy(score, (1 - PAIRS) * F.softmax(SCALE * alike, 1) + pairs)
            + F.cross_entropy(score.T, (1 - PAIRS) * F.softmax(SCALE * alike.T, 1) + pairs)) / 2


def train(table: torch.Tensor, words: Words, pieces: Pieces, taught: Taught, steps: int, group: int, rate: float,
          teacher: float) -> torch.Tensor:
    table = table.clone().requires_grad_()
    optimiser = torch.optim.Adam([table], lr=rate, betas=(0.9, 0.98), fused=True)
    started, mean = time.monotonic(), 0.0
    # The loader works on a copy of the pieces: each phase draws from the seed anew.
    loader = torch.utils.data.DataLoader(Batches(pieces, taught if teacher else None, words, steps, group), batch_size=None, num_workers=1, prefetch_factor=8)
    for step, (query, text, also, told) in enumerate(loader):
        for settings in optimiser.param_groups:
            settings["lr"] = rate * min(1, (step + 1) / 50) * (1 - 0.97 * step / steps)
        score = (SCALE * embed(table, query) @ embed(table, text).T).masked_fill(also, -torch.inf)
        right = torch.arange(len(score))
        loss = (F.cross_entropy(score, right) + F.cross_entropy(score.T, right)) / 2
        if told is not None:
            question, passage, alike = told
            loss = loss + teacher * agreement(SCALE * embed(table, question) @ embed(table, passage).T, alike)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        mean = loss.item() if not step else 0.98 * mean + 0.02 * loss.item()
        if step % 250 == 249:
            print(f"step {step + 1} loss {mean:.3f} {measure(table, words, pieces)} {time.monotonic() - started:.0f} s", flush=True)
    return table.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("corpus", "taught", "vocabulary", "start", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--phases", type=json.loads, default=PHASES, help="[[steps, group, rate, teacher], ...]")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    corpus, spellings = load(options.corpus)
    words = Words(spellings, options.vocabulary.read_text(encoding="utf-8").split())
    pieces = Pieces(corpus, spellings, np.random.default_rng(SEED))
    taught = Taught(options.taught, pieces, corpus["package"])
    start = torch.from_numpy(np.load(options.start))
    print(f"{len(corpus['code'])} pieces, {len(pieces.groups)} groups, before: {measure(start, words, pieces)}", flush=True)
    total = torch.zeros_like(start)
    for run in range(RUNS):
        table, pieces.rng = start, np.random.default_rng(SEED + run)
        for steps, group, rate, teacher in options.phases:
            table = train(table, words, pieces, taught, steps, group, rate, teacher)
        total += table
        print(f"run {run + 1}: {measure(table, words, pieces)}, mean so far: {measure(total / (run + 1), words, pieces)}", flush=True)
    np.save(options.out, (total / RUNS).numpy())


if __name__ == "__main__":
    main()
