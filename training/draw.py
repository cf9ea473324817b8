"""What a step of training learns from: batches of queries and texts, drawn from the corpus as token weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from vecsearch.embed.builtin import OPENING
from vecsearch.embed.builtin.tokens import tokens

from .corpus import QUERY_TYPES
from .fetch import read_sources

#: Pieces of a batch, at most.
BATCH = 2048
#: Share of the groups that are documentation; they are smaller, so that pieces come out about even.
PROSE = 0.6
#: How often a type of query is asked, against the other types that a piece has.
WEIGHT = {"head": 0.6, "ask": 1.0, "trail": 0.5, "path": 0.35, "sentence-": 0.8, "comment-": 0.8, "name-": 0.7,
          "name": 0.4, "symbol": 0.3, "mention": 1.5, "change": 1.0}
#: How often a run of a text's own words, each once, is the query.
SNIPPET = 0.1
#: How often the query to a piece of documentation is one to three of its words, rare ones first: people look up names.
TERM = 0.1
#: The share of a text's words that are left out while learning from it.
DROPPED = 0.2
#: What people say around their question, so that it comes to weigh little.
FILLER = """how do I can the what is a my me in to we it there way want need some please where does why should find one use using
this that with for of on and when not have get but from our when you if or any so just explain work works works? code""".split()
HELD_OUT = 37  # every so manyth package is kept to measure with


Bags = tuple[torch.Tensor, torch.Tensor]  # weights [texts, tokens], sparse, and their transpose
Text = tuple[np.ndarray, np.ndarray, np.ndarray]  # words of many texts, their weights, where each text ends


@dataclass
class Ragged:
    flat: np.ndarray
    at: np.ndarray

    def __getitem__(self, row: int) -> np.ndarray:
        return self.flat[self.at[row] : self.at[row + 1]]


class Words:
    """Words of the corpus -> tokens of the vocabulary, for many words at once."""

    def __init__(self, words: list[str], vocabulary: list[str]):
        row = {token: i for i, token in enumerate(vocabulary)}
        known = row.__contains__
        lists = [[row[t] for t in tokens(word, known)] if word.isascii() else [] for word in words]
        self.size = len(vocabulary)
        self.at = np.concatenate([[0], np.cumsum([len(found) for found in lists])])
        self.flat = np.fromiter((t for found in lists for t in found), np.int64, int(self.at[-1]))

    def bags(self, words: np.ndarray, weights: np.ndarray, ends: np.ndarray) -> Bags:
        """The token weights of texts that are `words` up to each of `ends`."""
        sizes = self.at[words + 1] - self.at[words]
        reach = np.concatenate([[0], np.cumsum(sizes)])
        index = np.arange(reach[-1]) + np.repeat(self.at[words] - reach[:-1], sizes)
        ends = reach[ends]
        token, weights = self.flat[index], np.repeat(weights, sizes)
        order = np.argsort(token, kind="stable")
        text = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        first = np.concatenate([[0], np.cumsum(np.bincount(token, minlength=self.size))])
        return (sparse(np.concatenate([[0], ends]), token, weights, self.size),
                sparse(first, text[order], weights[order], len(ends)))


def sparse(first: np.ndarray, column: np.ndarray, weight: np.ndarray, width: int) -> torch.Tensor:
    """[len(first) - 1, width] in rows that begin at `first`"""
    return torch.sparse_csr_tensor(*map(torch.from_numpy, (first, column, weight)), (len(first) - 1, width), check_invariants=False)


class Pieces:
    """Draws batches of (query, text) as words with weights."""

    def __init__(self, corpus: dict[str, np.ndarray], spellings: list[str], rng: np.random.Generator):
        self.rng = rng
        filler = set(FILLER)
        self.filler = np.array([i for i, word in enumerate(spellings) if word in filler], np.int32)
        self.body = Ragged(corpus["body"], corpus["body_at"])
        self.often = Ragged(corpus["often"], corpus["body_at"])
        self.context = Ragged(corpus["context"], corpus["context_at"])
        self.query = Ragged(corpus["query"], corpus["query_at"])
        self.type = corpus["type"]
        self.code, self.document = corpus["code"], corpus["document"]
        self.rarity = np.log(len(corpus["names"]) / corpus["packages_of"].clip(1)).astype(np.float32).clip(0.01)
        self.asked = np.searchsorted(corpus["owner"], np.arange(len(corpus["code"]) + 1))
        self.weight = np.array([WEIGHT[t] for t in QUERY_TYPES])
        group = corpus["package"] * 2 + corpus["code"]
        held = corpus["package"] % HELD_OUT == 5
        listed = {f"{s['ecosystem']}-{s['package'].replace('/', '__')}" for s in read_sources()}
        allowed = np.array([name in listed for name in corpus["names"].tolist()])[corpus["package"]]
        self.held = np.flatnonzero(held)
        self.groups = [g for g in np.split(*self.sorted_groups(group, allowed & ~held)) if len(g) >= 24]
        size = np.array([len(g) for g in self.groups]) ** 0.5
        code = np.array([self.code[g[0]] for g in self.groups], bool)
        self.chance = np.where(code, size / size[code].sum() * (1 - PROSE), size / size[~code].sum() * PROSE)

    @staticmethod
    def sorted_groups(group: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.flatnonzero(kept)
        order = rows[np.argsort(group[rows], kind="stable")]
        return order, np.flatnonzero(np.diff(group[order])) + 1

    def draw(self, size: int) -> np.ndarray:
        """About BATCH pieces, up to `size` of one package and kind."""
        order = self.rng.choice(len(self.groups), BATCH // size * 3, replace=False, p=self.chance)
        drawn: list[np.ndarray] = []
        for g in order:
            if sum(map(len, drawn)) + size <= BATCH:
                drawn.append(self.rng.choice(self.groups[g], min(size, len(self.groups[g])), replace=False))
        return np.concatenate(drawn)

    def pair(self, piece: int, plain: bool = False) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
        """Type and words of a query, words of its text and their weights; `plain` leaves out the noise."""
        rng = self.rng
        first, last = self.asked[piece], self.asked[piece + 1]
        chance = self.weight[self.type[first:last]]
        asked = int(first + rng.choice(last - first, p=chance / chance.sum()))
        name, query = QUERY_TYPES[self.type[asked]], self.query[asked]
        body, often, context = self.body[piece], self.often[piece].astype(np.float32), self.context[piece]
        if not plain and len(body) > 24 and rng.random() < SNIPPET:
            name, start = "sentence-", int(rng.integers(0, len(body) - 12))
            query = body[start : start + int(rng.integers(4, 13))]
        elif not plain and not self.code[piece] and rng.random() < TERM:
            lead = self.rarity[body] * rng.random(len(body), np.float32)
            name, query = "term", body[np.argsort(lead)[-int(rng.integers(1, 4)) :]]
        if rng.random() < REMOVE.get(name, 0.7 if name.endswith("-") else 0.0):
            often = often - np.isin(body, query)
        if rng.random() < (0.5 if name in ("head", "ask", "trail", "path", "symbol") else 0.15):
            context = context[: int(rng.integers(0, len(context) + 1))] if name != "path" else context[:0]
        if not plain and len(query) > 5 and rng.random() < 0.4:
            query = query[rng.random(len(query)) < 0.75]
        if not plain and rng.random() < 0.25:
            query = np.concatenate([query, rng.choice(self.filler, int(rng.integers(1, 6)))])
        if not plain:
            kept = rng.random(len(body), np.float32) >= DROPPED
            body, often = body[kept], often[kept]
        return name, query, *_weighed(body, often, context)

    def read_by_teacher(self, pieces: np.ndarray, queries: np.ndarray) -> tuple[Text, Text]:
        """Queries and texts as the teacher saw them."""
        texts = [_weighed(self.body[piece], self.often[piece].astype(np.float32), self.context[piece]) for piece in pieces.tolist()]
        return self.texts([(query := self.query[row], np.ones(len(query), np.float32)) for row in queries.tolist()]), self.texts(texts)

    @staticmethod
    def texts(weighed: Sequence[tuple[np.ndarray, np.ndarray]]) -> Text:
        words, weights = zip(*weighed, strict=True)
        return np.concatenate(words), np.concatenate(weights), np.cumsum([len(some) for some in words])

    def batch(self, pieces: np.ndarray, plain: bool = False) -> tuple[Text, Text, np.ndarray]:
        """Queries, their texts, and which queries ask for a file: any of its pieces is right."""
        pairs = [self.pair(piece, plain) for piece in pieces.tolist()]
        return (self.texts([(query, np.ones(len(query), np.float32)) for _, query, _, _ in pairs]),
                self.texts([(words, weights) for _, _, words, weights in pairs]), np.array([name == "path" for name, *_ in pairs]))


def _weighed(body: np.ndarray, often: np.ndarray, context: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of a text and their weights, as the model weighs them."""
    words, place = np.unique(np.concatenate([body, context]), return_inverse=True)
    often = np.bincount(place, np.concatenate([often, np.ones(len(context), np.float32)]), len(words))
    kept = often > 0
    words, often = words[kept], often[kept]
    return words, ((1 + np.log(often)) * np.where(np.isin(words, context), OPENING, 1)).astype(np.float32)


#: How often the words of a query are taken out of its text, where that is not 0.7 or never.
REMOVE = {"head": 0.5, "ask": 0.4, "trail": 0.4}
