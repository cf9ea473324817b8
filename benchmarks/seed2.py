"""Seed 2's questions, answered with numbers: `python -m benchmarks.seed2 --help`.

How many buckets, cut at 2048 characters or into chunks, header and body as one vector or two. Only vectors
rank here: no words, no fusion, no authority, so that what differs is what is asked about.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from vecsearch import embed
from vecsearch.config import default_settings
from vecsearch.embed.hashing import PREFIX
from vecsearch.fossil.repository import open_readonly
from vecsearch.plain import plain
from vecsearch.store.reader import Reader, StoredChunk

from .material import code_repository, indexed
from .metrics import Target, code_ndcg, doc_answer

BUCKETS = (128, 256, 512, 1024)

#: texts -> float32 [n, dim] of unit rows.
Embed = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class Unit:
    """What gets a vector: a chunk, or a whole file. `header` is where it stands, `body` its words."""

    path: str
    lines: tuple[int, int] | None
    header: str
    body: str


@dataclass(frozen=True)
class Corpus:
    """Chunks and files of one repository, and the questions: text, and a function from a ranking to nDCG@10."""

    name: str
    chunks: list[Unit]
    files: list[Unit]
    questions: list[tuple[str, Callable[[list], float]]]


def hashed(buckets: int, limit: int | None) -> Embed:
    """Seed 2's algorithm with another number of buckets, and another limit on the text."""

    def run(texts: Sequence[str]) -> np.ndarray:
        counts = np.stack([np.bincount([ord(c) % buckets for c in text[:limit]] or [0], minlength=buckets) for text in texts]).astype(np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    return run


def builtin(texts: Sequence[str]) -> np.ndarray:
    return embed.get(default_settings() | {"provider": "builtin"}).embed_documents(texts)


def load(name: str, repository: Path, kinds: set[str], questions: list) -> Corpus:
    """The units of an indexed repository."""
    with closing(open_readonly(repository)) as db:
        reader = Reader(db)
        stored = [chunk for chunk, _ in reader.vectors(reader.state()) if chunk.kind in kinds]
    by_file: dict[str, list[StoredChunk]] = {}
    for chunk in sorted(stored, key=lambda c: (c.path, c.seq)):
        by_file.setdefault(chunk.path, []).append(chunk)
    chunks = [_unit(chunk) for chunk in stored]
    files = [Unit(path, None, path, "\n".join(_words(c) for c in parts)) for path, parts in by_file.items()]
    return Corpus(name, chunks, files, questions)


def _unit(chunk: StoredChunk) -> Unit:
    header = "\n".join(filter(None, (chunk.path, chunk.title, chunk.symbol)))
    return Unit(chunk.path, chunk.lines, header, _words(chunk))


def _words(chunk: StoredChunk) -> str:
    return plain(chunk.format, chunk.text).strip() or chunk.text


def score(corpus: Corpus, units: Sequence[Unit], rate: Callable[[str], np.ndarray]) -> float:
    """Mean nDCG@10 of ranking the units by `rate(question)`, a score for each."""
    values = []
    for question, judge in corpus.questions:
        order = np.argsort(-rate(question), kind="stable")[:200]
        values.append(judge([(units[i].path, units[i].lines) for i in order]))
    return mean(values)


def one_vector(units: Sequence[Unit], run: Embed, text: Callable[[Unit], str]) -> Callable[[str], np.ndarray]:
    matrix = run([text(unit) for unit in units])
    return lambda question: matrix @ run([question])[0]


def two_vectors(units: Sequence[Unit], run: Embed, join: Callable) -> Callable[[str], np.ndarray]:
    headers, bodies = run([unit.header for unit in units]), run([unit.body for unit in units])

    def rate(question: str) -> np.ndarray:
        vector = run([question])[0]
        return join(headers @ vector, bodies @ vector)

    return rate


def together(unit: Unit) -> str:
    return f"{unit.header}\n{unit.body}"


def lengths_and_buckets(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Rows: what gets a vector. Columns: buckets, and the built-in model."""
    yield f"| unit | {' | '.join(map(str, BUCKETS))} | built-in |"
    yield f"|---|{'---|' * (len(BUCKETS) + 1)}"
    for label, of, limit in (("file, first 2048 characters", "files", PREFIX), ("file, whole", "files", None), ("chunk", "chunks", None)):
        runs = [*(hashed(n, limit) for n in BUCKETS), lambda texts, limit=limit: builtin([text[:limit] for text in texts])]
        cells = [mean(score(c, getattr(c, of), one_vector(getattr(c, of), run, together)) for c in corpora) for run in runs]
        yield f"| {label} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"


def header_and_body(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Rows: what of a chunk is embedded, and how. Columns: the hash provider, the built-in model."""
    ways: dict[str, Callable[[Sequence[Unit], Embed], Callable]] = {
        "body alone": lambda units, run: one_vector(units, run, lambda unit: unit.body),
        "header alone": lambda units, run: one_vector(units, run, lambda unit: unit.header),
        "together, one vector": lambda units, run: one_vector(units, run, together),
        "apart, mean of both": lambda units, run: two_vectors(units, run, lambda h, b: (h + b) / 2),
        "apart, the better one": lambda units, run: two_vectors(units, run, np.maximum),
    }
    yield "| header and body | hash, 128 | built-in |"
    yield "|---|---|---|"
    for label, way in ways.items():
        cells = [mean(score(c, c.chunks, way(c.chunks, run)) for c in corpora) for run in (hashed(128, PREFIX), builtin)]
        yield f"| {label} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"


def documentation(data: Path, repository: Path, cache: Path) -> Corpus:
    questions = []
    for line in (data / "docqa/dev.jsonl").read_text().splitlines():
        facts = json.loads(line)
        if facts["rel"]:
            questions.append((facts["q"], lambda found, rel=facts["rel"]: doc_answer(found, rel).ndcg))
    return load("docqa", indexed(repository, cache, embed.get, "builtin"), {"doc"}, questions)


def code(data: Path, trees: Path, cache: Path, count: int) -> Iterator[Corpus]:
    """The repositories with the fewest files."""
    facts = json.loads((trees.parent / "checkouts.json").read_text())
    for repository in sorted(json.loads((data / "codesearch/repos.json").read_text()), key=lambda r: facts[r["name"]]["files"])[:count]:
        name, root = repository["name"], repository.get("benchmark_root") or ""
        made = code_repository(trees / name, root, cache)
        yield load(name, indexed(made, cache, embed.get, "builtin"), {"code"}, list(_code_questions(data, trees / name, name, root)))


def _code_questions(data: Path, tree: Path, name: str, root: str) -> Iterator[tuple[str, Callable[[list], float]]]:
    for question in json.loads((data / f"codesearch/annotations/{name}.json").read_text()):
        targets = [_target(tree, root, target) for target in (*question["relevant"], *question.get("secondary", ()))]
        yield question["query"], lambda found, targets=targets: code_ndcg(found, targets)


def _target(tree: Path, root: str, target: dict | str) -> Target:
    facts = {"path": target} if isinstance(target, str) else target
    path = facts["path"] if (tree / facts["path"]).exists() else f"{root}/{facts['path']}"
    lines = (facts["start_line"], facts["end_line"]) if facts.get("start_line") else None
    return Target(path, lines)


def main() -> None:
    """Print both tables for both sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with docqa/ and codesearch/")
    parser.add_argument("--docs", type=Path, required=True, help="Fossil repository of the documentation")
    parser.add_argument("--trees", type=Path, required=True, help="folder of the checked-out repositories")
    parser.add_argument("--cache", type=Path, required=True, help="folder for what is built")
    parser.add_argument("--repositories", type=int, default=8, help="so many of the code set, those with the fewest files")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    sets = {"documentation": [documentation(options.data, options.docs, options.cache)],
            "code": list(code(options.data, options.trees, options.cache, options.repositories))}
    for name, corpora in sets.items():
        count = sum(len(corpus.questions) for corpus in corpora)
        print(f"\n{name}: {count} questions, {sum(len(c.chunks) for c in corpora)} chunks of {', '.join(c.name for c in corpora)}\n")
        print("\n".join([*lengths_and_buckets(corpora), "", *header_and_body(corpora)]), flush=True)


if __name__ == "__main__":
    main()
