"""What was mined, as numbers: `python -m training.corpus PAIRS OUT.npz`.

Words are kept as written (see tokens.words) and numbered over the whole corpus, so that the
vocabulary can be chosen, and changed, without reading the text again. A ragged list of rows is a
flat array and its offsets. Words that only one package has and only once stay, as pieces will do.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from vecsearch.embed.builtin.tokens import words

#: A package with fewer pieces is left out.
LEAST = 20
QUERY_TYPES = ("head", "ask", "trail", "path", "sentence-", "comment-", "name-", "name", "symbol", "mention", "change")


def encode(path: Path) -> dict[str, object]:
    """One package's pieces with words numbered within it."""
    number: dict[str, int] = {}
    rows: dict[str, list] = {"body": [], "context": [], "query": []}
    often: list[list[int]] = []
    kinds, types, owners, documents = [], [], [], []
    number_of: dict[str, int] = {}
    spread: Counter = Counter()
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        piece = json.loads(line) if line else None
        if piece is None:
            break
        body = Counter(words(piece["text"]))
        rows["body"].append([number.setdefault(w, len(number)) for w in body])
        often.append([min(n, 255) for n in body.values()])
        spread.update(body.keys())
        context = words(f"{piece['path']}\n{piece['title']}\n{piece['symbol']}")
        rows["context"].append([number.setdefault(w, len(number)) for w in context])
        for kind, text in piece["queries"]:
            rows["query"].append([number.setdefault(w, len(number)) for w in words(text)])
            types.append(QUERY_TYPES.index(kind))
            owners.append(len(kinds))
        kinds.append(piece["kind"] == "code")
        documents.append(number_of.setdefault(piece["path"], len(number_of)))
    return {"words": list(number), "spread": [spread[w] for w in number], "rows": rows, "often": often,
            "kinds": kinds, "types": types, "owners": owners, "documents": documents, "package": path.stem}


def ragged(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(flat, offsets) with len(rows) + 1 offsets."""
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return (np.concatenate(rows) if rows else np.zeros(0, np.int32)), offsets


def build(folder: Path) -> dict[str, np.ndarray]:
    number: dict[str, int] = {}
    packages_of: Counter = Counter()
    pieces_of: Counter = Counter()
    lists: dict[str, list] = {"body": [], "context": [], "query": [], "often": []}
    columns: dict[str, list] = {"code": [], "package": [], "document": [], "type": [], "owner": []}
    names = []
    with Pool(2) as pool:
        for part in pool.imap(encode, sorted(folder.glob("*.jsonl"))):
            if len(part["kinds"]) < LEAST:
                continue
            table = np.array([number.setdefault(w, len(number)) for w in part["words"]], np.int32)
            for index, pieces in zip(table.tolist(), part["spread"], strict=True):
                packages_of[index] += pieces > 0
                pieces_of[index] += pieces
            for name, rows in part["rows"].items():
                lists[name] += [table[row] if row else table[:0] for row in rows]
            lists["often"] += [np.array(row, np.uint8) for row in part["often"]]
            columns["owner"] += [owner + len(columns["code"]) for owner in part["owners"]]
            columns["type"] += part["types"]
            columns["document"] += [columns["document"][-1] + 1 + n if columns["document"] else n for n in part["documents"]]
            columns["code"] += part["kinds"]
            columns["package"] += [len(names)] * len(part["kinds"])
            names.append(part["package"])
    made = {name: np.array(values, np.int32) for name, values in columns.items()}
    for name in ("body", "context", "query"):
        made[name], made[name + "_at"] = ragged(lists[name])
    made["often"], _ = ragged(lists["often"])
    made["words"] = np.array("\n".join(number).encode())
    made["packages_of"] = np.array([packages_of[i] for i in range(len(number))], np.int32)
    made["pieces_of"] = np.array([pieces_of[i] for i in range(len(number))], np.int32)
    made["names"] = np.array(names)
    return made


def load(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """(arrays, words)."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return arrays, arrays.pop("words").item().decode().split("\n")


def main(folder: Path, out: Path) -> None:
    made = build(folder)
    np.savez(out, **made)
    print(f"{len(made['code'])} pieces ({int(made['code'].sum())} of code), {len(made['type'])} queries,"
          f" {len(made['packages_of'])} words, {len(made['names'])} packages")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
