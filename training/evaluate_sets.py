"""Dense-only scores on the two relevance sets: `python -m training.evaluate_sets --help`.

Exact scan, no ranking. A chunk is what the indexer would embed: vecsearch's own chunker and
`embedding_text`. Metrics are those of the sets' README: for code nDCG@10 over chunks, mean per
repository and then over repositories; for questions nDCG@10 over files by their best chunk.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from vecsearch import chunk as chunking
from vecsearch.config import default_settings
from vecsearch.types import Document, Source

from .peers import PEERS, Peer
from .read import BY_SUFFIX

CODE = {s for s, name in BY_SUFFIX.items() if name in
        set("python javascript typescript c cpp csharp go java kotlin scala swift ruby php rust lua haskell elixir erlang zig shell sql tcl".split())}
CODE |= {"bats", "vue", "svelte", "css", "scss", "vim", "pl", "pm", "eex", "heex", "erb", "inc"}
EXTRA = {"bats": "shell", "css": "css", "vim": "vim", "pl": "perl", "pm": "perl", "wiki": "wiki"}
SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv", "dist", "build", "target", ".tox", ".cache"}
PROSE = ("*.md", "*.wiki", "*.txt", "*.html", "*.[1-9]", "*README*")
Chunks = tuple[list[str], list[tuple[str, int, int]]]  # texts, (path, first line, last line)


def cut(root: Path, paths: list[str]) -> Chunks:
    texts, places = [], []
    for path in paths:
        content = (root / path).read_bytes()
        text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\0", "")
        suffix = path.rpartition(".")[2].lower()
        name = EXTRA.get(suffix) or BY_SUFFIX.get(suffix, "plain")
        name = {"docbook": "html", "pod": "plain", "man": "man"}.get(name, name)
        document = Document(Source("doc", "", path, ""), path, name, text)
        for chunk in chunking.split(document, default_settings()):
            texts.append(chunking.embedding_text(path, chunk, name))
            places.append((path, *(chunk.lines or (1, 1))))
    return texts, places


def walk(root: Path, below: str = "") -> Iterator[str]:
    for folder, folders, files in os.walk(root / below):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        for name in sorted(files):
            path = Path(folder, name)
            if not path.is_symlink() and path.stat().st_size < 1_000_000:
                yield str(path.relative_to(root))


def code_chunks(root: Path, below: str) -> Chunks:
    return cut(root, [p for p in walk(root, below) if p.rpartition(".")[2].lower() in CODE])


def question_chunks(root: Path, whole: bool) -> Chunks:
    if whole:
        paths = [p for p in walk(root) if any(fnmatch.fnmatch(p.rpartition("/")[2], g) for g in PROSE)]
    else:
        paths = [p for p in walk(root, "www") if p.endswith((".md", ".wiki"))]
    return cut(root, paths)


def best(documents: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    return np.argsort(-(documents @ query), kind="stable")[:k].tolist()


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def score_code(chunks: list[tuple[str, int, int]], found: list[int], wanted: list) -> float:
    """nDCG@10; each target counts once, at the first chunk of its file that touches its lines."""
    gains = [0.0] * 10
    for target in wanted:
        path, first, last = (target, None, None) if isinstance(target, str) else (target["path"], target.get("start_line"), target.get("end_line"))
        for rank, index in enumerate(found[:10]):
            place, start, end = chunks[index]
            same = place == path or place.endswith("/" + path) or path.endswith("/" + place)
            if same and (first is None or last is None or not (end < int(first) or start > int(last))):
                gains[rank] = 1.0
                break
    return discounted(gains) / discounted([1.0] * min(10, len(wanted)))


def code_set(embedder: Peer, data: Path, repositories: Path, corpora: dict) -> dict[str, float]:
    """Repository name -> mean nDCG@10."""
    scores = {}
    for spec in json.loads((data / "repos.json").read_text()):
        name = spec["name"]
        if name not in corpora:
            corpora[name] = code_chunks(repositories / name, spec.get("benchmark_root") or "")
        texts, places = corpora[name]
        documents = embedder.embed_documents(texts)
        tasks = [(t["query"], t.get("relevant", []) + t.get("secondary", []))
                 for t in json.loads((data / "annotations" / f"{name}.json").read_text())]
        scores[name] = float(np.mean([score_code(places, best(documents, embedder.embed_query(q), 10), wanted) for q, wanted in tasks if wanted]))
    return scores


def question_set(embedder: Peer, questions: Path, chunks: Chunks) -> dict[str, float]:
    """nDCG@10 over files, success@1 and @3 at grade 2, overall and by type."""
    texts, places = chunks
    documents = embedder.embed_documents(texts)
    rows: dict[str, list[tuple[float, bool, bool]]] = defaultdict(list)
    for line in questions.read_text().splitlines():
        task = json.loads(line)
        if not task["rel"]:
            continue
        files = list(dict.fromkeys(places[i][0] for i in best(documents, embedder.embed_query(task["q"]), 200)))
        ideal = discounted([2.0**g - 1 for g in sorted(task["rel"].values(), reverse=True)[:10]])
        score = discounted([2.0 ** task["rel"].get(f, 0) - 1 for f in files[:10]]) / ideal
        right = [task["rel"].get(f) == 2 for f in files[:3]]
        for group in ("all", task["type"]):
            rows[group].append((score, right[0], any(right)))
    made = {group: float(np.mean([r[0] for r in found])) for group, found in rows.items()}
    return made | {"success@1": float(np.mean([r[1] for r in rows["all"]])), "success@3": float(np.mean([r[2] for r in rows["all"]]))}


def report(name: str, embedder: Peer, data: Path, repositories: Path, tree: Path, corpora: dict) -> dict[str, object]:
    for key, whole in (("www", False), ("all", True)):
        if key not in corpora:
            corpora[key] = question_chunks(tree, whole)
    code = code_set(embedder, data / "codesearch", repositories, corpora)
    www = question_set(embedder, data / "docqa/dev.jsonl", corpora["www"])
    whole = question_set(embedder, data / "docqa/dev.jsonl", corpora["all"])
    mean = float(np.mean(list(code.values())))
    kinds = " ".join(f"{k} {v:.3f}" for k, v in www.items() if k != "all")
    print(f"| {name} | {mean:.3f} | {www['all']:.3f} | {whole['all']:.3f} |  {kinds}; worst {min(code, key=code.get)} {min(code.values()):.3f}", flush=True)
    return {"model": name, "code": mean, "www": www, "whole": whole, "repositories": code}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds codesearch/ and docqa/")
    parser.add_argument("--repositories", type=Path, required=True, help="folder with one check-out per repository of the code set")
    parser.add_argument("--fossil", type=Path, required=True, help="a check-out of Fossil's source")
    parser.add_argument("models", nargs="*", default=["builtin"], help=f"of {', '.join(PEERS)}, or the folder of a model")
    options = parser.parse_args()
    corpora: dict = {}
    for name in options.models:
        embedder: Callable[[], Peer] = PEERS.get(name) or (lambda folder=name: PEERS["folder"](folder))
        report(name, embedder(), options.data, options.repositories, options.fossil, corpora)


if __name__ == "__main__":
    main()
