"""How well a search answers questions whose answers are known.

A set is JSON lines {"q": question, "rel": {path: 2 (answers it) or 1 (related)}, "type": any word};
an empty `rel` is a question that nothing here answers. Scores are over documents, each at the rank of
its best chunk: nDCG@10 with gain 2^rel - 1 (Burges et al. 2005), reciprocal rank of the first answer,
and the share of questions with an answer among the first 1, 3, 5.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import embed
from .chunk import embedding_text
from .config import Settings
from .config import parse as parse_setting
from .errors import UsageError
from .fossil.repository import open_readonly, withheld
from .search.query import MAX_K, parse
from .search.run import search
from .store.reader import Reader
from .types import KINDS, Chunk, Embedder

#: What may answer a question about the history: not the check-ins themselves, they hold its words.
HISTORY_KINDS = frozenset({"code", "doc", "instruction"})
#: Grades of answers; the gain of a grade is 2^grade - 1.
MOST_GRADE = 10
#: What is asked of nothing here; no type of a question may be called so.
OFF_TOPIC = "off topic"
#: A check-in that touches more files is a sweep, and its comment says little about any of them.
MOST_FILES = 5
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[\w./+-]+")
COLUMNS = ("questions", "ndcg@10", "success@1", "success@3", "success@5", "mrr", "empty")


@dataclass(frozen=True, slots=True)
class Task:
    """A question, its graded answers by path, and a type to group by."""

    question: str
    answers: dict[str, int]
    type: str = ""


def read_set(path: Path) -> list[Task]:
    """Raises UsageError that names the first line that is no task."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; save it as such") from error
    tasks = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            tasks.append(_task(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f'{path}, line {number}: not a task; expected {{"q": "...", "rel": {{"path": 2}}}}, grades 0 to {MOST_GRADE}') from error
    if not tasks:
        raise UsageError(f"{path} holds no task")
    return tasks


def _task(item: dict[str, Any]) -> Task:
    """Raises ValueError, KeyError, TypeError or AttributeError for what is none."""
    answers, type_ = item["rel"], item.get("type") or ""
    for grade in answers.values():
        if type(grade) is not int or not 0 <= grade <= MOST_GRADE:
            raise ValueError(grade)
    if not isinstance(item["q"], str) or not isinstance(type_, str):
        raise TypeError(item)
    (item["q"] + type_).encode()  # half a character could not be printed
    return Task(item["q"], {path: grade for path, grade in answers.items() if grade}, type_)


def from_history(db: sqlite3.Connection, kinds: Iterable[str] = HISTORY_KINDS, most: int = 200) -> tuple[list[Task], int]:
    """(tasks, words removed): newest check-in comments, each answered by the files it changed.

    Only files that are indexed now, as one of the kinds, count. Words of a comment that name those files give the answer
    away, so they are taken out and counted.
    """
    indexed = {path for path, in db.execute("SELECT DISTINCT path FROM fx_vec_chunk WHERE project = '' AND path NOT NULL"
                                            " AND kind IN (SELECT value FROM json_each(?))", (json.dumps(sorted(kinds)),))}
    rows = db.execute(
        "SELECT coalesce(e.ecomment, e.comment), group_concat(f.name, char(10)) FROM event e"
        " JOIN blob b ON b.rid = e.objid JOIN mlink m ON m.mid = e.objid JOIN filename f ON f.fnid = m.fnid"
        f" WHERE e.type = 'ci' AND NOT m.isaux AND NOT {withheld(db)}"
        " GROUP BY e.objid ORDER BY e.mtime DESC"
    )
    tasks, removed = [], 0
    for comment, names in rows:
        files = set(names.split("\n"))
        answers = files & indexed
        if answers and len(files) <= MOST_FILES:
            question, leaks = without_leaks(comment or "", answers)
            removed += leaks
            if len(_WORD.findall(question)) >= 4:
                tasks.append(Task(question, dict.fromkeys(sorted(answers), 2), "history"))
        if len(tasks) == most:
            break
    return tasks, removed


def without_leaks(comment: str, paths: Iterable[str]) -> tuple[str, int]:
    """The comment without the words that hold the name of a file, with its folders or its line or without, of its header, or its
    stem alone; and how many words went."""
    names = {path.rpartition("/")[2].lower() for path in paths}
    stems = {name.partition(".")[0] for name in names} - {""}

    def leaks(word: str) -> bool:
        for piece in _NAME.findall(word.lower()):
            name = piece.strip(".").rpartition("/")[2]
            if name in names or name in stems or "." in name and name.partition(".")[0] in stems:
                return True
        return False

    words = comment.split()
    kept = [word for word in words if not leaks(word)]
    return " ".join(kept), len(words) - len(kept)


Ranker = Callable[[str], list[str]]  # a question -> paths, best first


def arm(db: sqlite3.Connection, embedder: Embedder, mode: str, kinds: frozenset[str]) -> Ranker:
    """The product's own search, in one of its modes."""
    def rank(question: str) -> list[str]:
        result = search(db, lambda: embedder, parse(question, k=MAX_K, mode=mode), kinds)
        return [hit.path or "" for hit in result.hits]

    return rank


def dense(db: sqlite3.Connection, embedder: Embedder, kinds: frozenset[str]) -> Ranker:
    """Another provider's exact scan over the indexed chunks, embedded anew; the index stays as it is."""
    reader = Reader(db)
    ids = [i for i, in db.execute("SELECT id FROM fx_vec_chunk ORDER BY id")]
    stored = [c for start in range(0, len(ids), 500) for c in reader.chunks(ids[start : start + 500]).values() if c.kind in kinds]
    matrix = embedder.embed_documents([embedding_text(c.path, Chunk(c.seq, c.text, c.title, c.symbol), c.format) for c in stored])

    def rank(question: str) -> list[str]:
        order = np.argsort(-(matrix @ embedder.embed_query(question)), kind="stable")[:MAX_K]
        return [stored[i].path or "" for i in order.tolist()]

    return rank


def score(tasks: Iterable[Task], rank: Ranker) -> dict[str, dict[str, float]]:
    """Group (`all`, each type, `off topic`) -> the COLUMNS. Off-topic questions count in no other
    group; what is good there is a high share of empty answers."""
    rows: dict[str, list[dict[str, float]]] = defaultdict(list)
    for task in tasks:
        found = list(dict.fromkeys(rank(task.question)))
        groups = ("all", f"type {task.type}" if task.type in ("all", OFF_TOPIC) else task.type) if task.answers else (OFF_TOPIC,)
        for group in dict.fromkeys(name for name in groups if name):
            rows[group].append(_score(task.answers, found))
    return {group: {"questions": len(items)} | {name: round(sum(i[name] for i in items) / len(items), 4) for name in COLUMNS[1:]}
            for group, items in rows.items()}


def _score(answers: dict[str, int], found: list[str]) -> dict[str, float]:
    top = max(answers.values(), default=0)
    right = [rank for rank, path in enumerate(found) if top and answers.get(path) == top]
    first = right[0] if right else math.inf
    return {"ndcg@10": ndcg(answers, found), "mrr": 1 / (first + 1), "empty": float(not found),
            **{f"success@{k}": float(first < k) for k in (1, 3, 5)}}


def ndcg(answers: dict[str, int], found: list[str], k: int = 10) -> float:
    """Discounted gain of the first k, as a share of the best there is."""
    def discounted(grades: Iterable[int]) -> float:
        return sum((2.0**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades))

    ideal = discounted(sorted(answers.values(), reverse=True)[:k])
    return discounted(answers.get(path, 0) for path in found[:k]) / ideal if ideal else 0.0


def table(report: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """Markdown: a row per arm or provider and group."""
    yield "| search | group | " + " | ".join(COLUMNS) + " |"
    yield "|---" * (len(COLUMNS) + 2) + "|"
    for name, groups in report.items():
        for group, values in groups.items():
            cells = (f"{values[c]:.3f}" if c != "questions" else str(values[c]) for c in COLUMNS)
            yield f"| {name} | {_cell(group)} | " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    """As Markdown wants it within a table; nothing that a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).replace("|", "\\|").split())


Report = dict[str, dict[str, dict[str, float]]]  # search -> group -> COLUMNS


def evaluate(db: sqlite3.Connection, tasks: list[Task], embedder: Callable[[Settings], Embedder], *,
             kinds: frozenset[str] = frozenset(KINDS), providers: Iterable[str] = ()) -> Report:
    """Scores of each arm of this index, and of the semantic arm alone under each of `providers`."""
    settings = dict(Reader(db).settings())
    own = embedder(settings)
    report = {mode: score(tasks, arm(db, own, mode, kinds)) for mode in ("hybrid", "semantic", "keyword")}
    for provider in providers:
        other = embedder(settings | {"provider": provider, "provider-url": "", "provider-model": ""})
        report[f"semantic, {other.model}"] = score(tasks, dense(db, other, kinds))
    return report


def _of_another_model(db: sqlite3.Connection) -> list[str]:
    """A warning where the index cannot be asked by meaning."""
    reader = Reader(db)
    built, configured = reader.state().model, embed.get(reader.settings()).model
    return [] if built == configured else [f"the index was built with {built}, configured is {configured}: hybrid and semantic answer by keywords only;"
                                           " run: vecsearch rebuild"]


def run(repository: Path, set_file: Path | None, kinds: frozenset[str], providers: Iterable[str]) -> tuple[Report, list[str]]:
    """(scores, what a reader must know about them) of a set, or of the repository's history if none is given."""
    db = open_readonly(repository)
    try:
        notes: list[str] = _of_another_model(db)
        if set_file:
            tasks = read_set(set_file)
        else:
            kinds = kinds or HISTORY_KINDS
            tasks, removed = from_history(db, kinds)
            notes.append(f"{len(tasks)} check-ins; {removed} words that name the changed files were taken out of their comments")
        if not tasks:
            raise UsageError(f"{repository}: no check-in whose files are indexed; run: vecsearch index")
        for provider in providers:
            parse_setting("provider", provider)
        return evaluate(db, tasks, embed.get, kinds=kinds or frozenset(KINDS), providers=providers), notes
    finally:
        db.close()
