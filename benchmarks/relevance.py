"""How well the real search answers the two relevance sets: `python -m benchmarks.relevance --help`.

Builds Fossil repositories in a cache folder, indexes them with the real indexer, asks every question
through `search.run.search`, and prints the metrics: whole, by type, by repository, off topic, and with
each step of the ranking left out; with `--cross-validate`, what its constants are worth on questions that they were
not chosen on.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from vecsearch import embed
from vecsearch.config import default_settings
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.rank import RECIPE, Recipe
from vecsearch.search.run import search
from vecsearch.types import KINDS, Embedder

from . import folds
from .material import code_repository, indexed
from .metrics import Answer, Found, Target, code_ndcg, doc_answer

#: Each step of docs/ranking.md left out.
ABLATIONS: dict[str, Recipe] = {
    "all steps": RECIPE,
    "no keyword arm": replace(RECIPE, keyword=0, forms=0, names=0, document=0),
    "no semantic arm": replace(RECIPE, semantic=0, whole=0),
    "no other forms of words": replace(RECIPE, forms=0),
    "no arm of defined names": replace(RECIPE, names=0),
    "no arm of whole artifacts by words": replace(RECIPE, document=0),
    "no arm of whole artifacts by meaning": replace(RECIPE, whole=0),
    "no allowance for luck": replace(RECIPE, luck=0),
    "one ranking for all kinds": replace(RECIPE, apart=False),
    "no coherence": replace(RECIPE, coherence=0),
    "no file names": replace(RECIPE, name=0),
    "no mentioned definitions": replace(RECIPE, mentioned=0),
    "no penalty for tests": replace(RECIPE, place=False),
    "no exactness floor": replace(RECIPE, exact=False),
    "no weighing of kinds": replace(RECIPE, kind=False),
    "no authority": replace(RECIPE, authority=False),
    "no second chunks": replace(RECIPE, second=0),
    "fusion with k = 60": replace(RECIPE, k=60),
}


@dataclass(frozen=True)
class CodeSet:
    """The repositories with (question, targets, category) each."""

    repositories: dict[str, tuple[sqlite3.Connection, list[tuple[str, list[Target], str]]]]


def read_code_set(data: Path, trees: Path, cache: Path, provider: Callable[..., Embedder], name: str) -> CodeSet:
    """Built, indexed and opened; annotation paths are relative to the repository's root or to benchmark_root."""
    found = {}
    for facts in json.loads((data / "codesearch/repos.json").read_text()):
        root = facts.get("benchmark_root") or ""
        made = indexed(code_repository(trees / facts["name"], root, cache), cache, provider, name)
        db = open_readonly(made)
        paths = {path for (path,) in db.execute("SELECT DISTINCT path FROM fx_vec_chunk WHERE kind='code'")}
        questions = json.loads((data / f"codesearch/annotations/{facts['name']}.json").read_text())
        found[facts["name"]] = (db, [_question(item, root, paths) for item in questions])
    return CodeSet(found)


def _question(item: dict, root: str, paths: set[str]) -> tuple[str, list[Target], str]:
    targets = []
    for target in item["relevant"] + item.get("secondary", []):
        facts = {"path": target} if isinstance(target, str) else target
        lines = (int(facts["start_line"]), int(facts["end_line"])) if facts.get("start_line") and facts.get("end_line") else None
        path = facts["path"] if facts["path"] in paths or f"{root}/{facts['path']}" not in paths else f"{root}/{facts['path']}"
        targets.append(Target(path, lines))
    return item["query"], targets, item.get("category") or "other"


def ask(db: sqlite3.Connection, provider: Callable[..., Embedder], text: str, kinds: Iterable[str], recipe: Recipe) -> list[Found]:
    """The first page of the real search, as paths and lines."""
    result = search(db, lambda: provider(default_settings()), parse(text), kinds, recipe=recipe)
    return [(hit.path or hit.hash, hit.lines) for hit in result.hits]


def measure_code(code: CodeSet, provider: Callable[..., Embedder], recipe: Recipe = RECIPE) -> dict[str, dict[str, list[float]]]:
    """repository -> category -> nDCG@10 of each question."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, (db, questions) in code.repositories.items():
        scores[name] = defaultdict(list)
        for text, targets, category in questions:
            scores[name][category].append(code_ndcg(ask(db, provider, text, ["code"], recipe), targets))
    return scores


def measure_docs(db: sqlite3.Connection, questions: Sequence[dict], provider: Callable[..., Embedder], kinds: Iterable[str],
                 recipe: Recipe = RECIPE) -> tuple[dict[str, list[Answer]], list[bool], int]:
    """(type -> answers to on-topic questions, whether each off-topic one found nothing, on-topic ones that did)."""
    answers: dict[str, list[Answer]] = defaultdict(list)
    refused, silent = [], 0
    for item in questions:
        found = ask(db, provider, item["q"], kinds, recipe)
        if item["rel"]:
            answers[item["type"]].append(doc_answer(found, item["rel"]))
            silent += not found
        else:
            refused.append(not found)
    return answers, refused, silent


def code_line(scores: dict[str, dict[str, list[float]]]) -> str:
    """Mean over repositories, the worst one, and the mean by category."""
    by_repository = {name: mean(x for values in kinds.values() for x in values) for name, kinds in scores.items()}
    worst = min(by_repository, key=by_repository.__getitem__)
    by_category: dict[str, list[float]] = defaultdict(list)
    for kinds in scores.values():
        for category, values in kinds.items():
            by_category[category] += values
    parts = [f"{mean(by_repository.values()):.3f}", f"worst {by_repository[worst]:.3f} ({worst})"]
    return "  ".join(parts + [f"{category} {mean(values):.3f}" for category, values in sorted(by_category.items())])


def docs_line(measured: tuple[dict[str, list[Answer]], list[bool], int]) -> str:
    """nDCG@10, success@1 and @3, off-topic questions refused, on-topic ones refused, nDCG by type."""
    answers, refused, silent = measured
    every = [answer for values in answers.values() for answer in values]
    head = (f"{mean(a.ndcg for a in every):.3f}  s@1 {mean(a.first for a in every):.3f}  s@3 {mean(a.third for a in every):.3f}"
            f"  off {sum(refused)}/{len(refused)}  silent {silent}")
    return "  ".join([head, *(f"{name} {mean(a.ndcg for a in values):.3f}" for name, values in sorted(answers.items()))])


def held_line(label: str, held: folds.Held) -> str:
    """nDCG@10 with what ships, held out, and at the point that is best on all."""
    return (f"{label:20s} {folds.FOLDS} folds: shipped {held.shipped:.3f}  chosen on the other folds {held.held_out:.3f}  best of all {held.best:.3f}"
            f"  distinct choices {len(set(held.chosen))}")


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Everything that is measured, a line at a time."""
    provider = _provider(arguments.provider)
    data, cache = arguments.data, arguments.cache
    cache.mkdir(parents=True, exist_ok=True)
    recipes = ABLATIONS if arguments.ablations else {"all steps": RECIPE}
    questions = [json.loads(line) for line in (data / "docqa/dev.jsonl").read_text().splitlines()]
    for label, file, kinds in [("documentation alone", arguments.www, ["doc"]), ("whole repository", arguments.whole, KINDS)]:
        if file:
            db = open_readonly(indexed(file, cache, provider, arguments.provider))
            for name, recipe in recipes.items():
                yield f"{label:20s} {name:36s} {docs_line(measure_docs(db, questions, provider, kinds, recipe))}"
            if arguments.cross_validate:
                scores = {recipe: [answer.ndcg for answers in measure_docs(db, questions, provider, kinds, recipe)[0].values() for answer in answers]
                          for recipe in folds.DOCS_GRID}
                yield held_line(label, folds.cross_validated(scores))
    if arguments.trees:
        code = read_code_set(data, arguments.trees, cache, provider, arguments.provider)
        for name, recipe in recipes.items():
            scores = measure_code(code, provider, recipe)
            yield f"{'code':20s} {name:36s} {code_line(scores)}"
            if recipe is RECIPE and arguments.repositories:
                for repository, kinds in scores.items():
                    yield f"    {repository:22s} {mean(x for values in kinds.values() for x in values):.3f}"
        if arguments.cross_validate:
            yield held_line("code, by question", folds.cross_validated({recipe: [
                x for kinds in measure_code(code, provider, recipe).values() for values in kinds.values() for x in values]
                for recipe in folds.CODE_GRID}))


def _provider(name: str) -> Callable[..., Embedder]:
    """One embedder for the whole run."""
    made = embed.get(default_settings() | {"provider": name})
    return lambda settings: made


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Relevance of the real search on the two sets.")
    parser.add_argument("data", type=Path, help="the folder with docqa/ and codesearch/")
    parser.add_argument("--cache", type=Path, required=True, help="where repositories are built and indexed")
    parser.add_argument("--trees", type=Path, help="the code repositories' check-outs, one folder each")
    parser.add_argument("--www", type=Path, help="a Fossil file with the documentation alone")
    parser.add_argument("--whole", type=Path, help="a Fossil file with everything")
    parser.add_argument("--provider", default="builtin")
    parser.add_argument("--ablations", action="store_true", help="with each step left out")
    parser.add_argument("--cross-validate", action="store_true", help="choose the constants on four fifths of the questions, score the fifth")
    parser.add_argument("--repositories", action="store_true", help="each code repository on a line")
    for line in lines(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
