"""Whether questions that belong elsewhere are answered with nothing, and those that belong here are not:
`python -m benchmarks.elsewhere DATA --cache DIR`, over what benchmarks.relevance has indexed there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from vecsearch import embed
from vecsearch.config import default_settings
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.types import KINDS, Embedder

#: Not those by which an index run measures its floor; the last five are of other software.
QUESTIONS = (
    "how do I bake sourdough bread at home",
    "why does my dog bark at strangers",
    "what is the capital of Mongolia",
    "best running shoes for flat feet",
    "how to lower blood pressure without medication",
    "when should I prune apple trees",
    "recipe for vegan chocolate cake",
    "who painted the Mona Lisa",
    "how to negotiate a car loan",
    "visa requirements for Japan",
    "how to get rid of ants in the kitchen",
    "why is the sky blue at noon",
    "difference between alligators and crocodiles",
    "how to play chess openings for black",
    "train timetable from Berlin to Munich",
    "signs of a broken toe",
    "how to write a wedding speech",
    "cheapest health insurance for students",
    "how to start a vegetable garden on a balcony",
    "what time does the supermarket open on Sunday",
    "symptoms of the flu in toddlers",
    "how to fix a flat bicycle tire",
    "population of Brazil in 2020",
    "how to train for a marathon in twelve weeks",
    "price of gold per ounce",
    "how to change the oil in a lawn mower",
    "best thriller novels of the year",
    "how to make homemade pasta dough",
    "how to file a tax return as a freelancer",
    "why do cats purr when they sleep",
    "kubernetes ingress tls termination",
    "react hooks useEffect dependency array",
    "photoshop remove background layer",
    "excel pivot table multiple columns",
    "iphone battery drains overnight",
)


def answered(file: Path, provider: Embedder, questions: Iterable[str], kinds: Iterable[str]) -> list[bool]:
    """Of each question, whether there was any hit."""
    db = open_readonly(file)
    found = [bool(search(db, lambda: provider, parse(text), kinds).hits) for text in questions]
    db.close()
    return found


def lines(data: Path, cache: Path, provider: Embedder) -> Iterator[str]:
    """One for the code repositories together, one for each of the others."""
    items = [json.loads(line) for line in (data / "docqa/dev.jsonl").read_text().splitlines()]
    here, off = [item["q"] for item in items if item["rel"]], [item["q"] for item in items if not item["rel"]]
    code = {path.stem: path for path in (data / "codesearch/annotations").glob("*.json")}
    groups = {"code repositories": [(cache / f"indexed-{name}.fossil", [q["query"] for q in json.loads(path.read_text())], ["code"])
                                    for name, path in sorted(code.items())],
              "documentation alone": [(cache / "indexed-www.fossil", here, ["doc"])],
              "whole repository": [(cache / "indexed-fossil.fossil", here, KINDS)]}
    for label, group in groups.items():
        own = [x for file, questions, kinds in group for x in answered(file, provider, questions, kinds)]
        other = [x for file, _, kinds in group for x in answered(file, provider, QUESTIONS, kinds)]
        six = [x for file, _, kinds in group for x in answered(file, provider, off, kinds)]
        yield (f"| {label} | {sum(own)} of {len(own)} | {len(other) - sum(other)} of {len(other)} |"
               f" {len(six) - sum(six)} of {len(six)} |")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Questions that belong elsewhere.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--provider", default="builtin")
    arguments = parser.parse_args()
    provider = embed.get(default_settings() | {"provider": arguments.provider})
    for line in lines(arguments.data, arguments.cache, provider):
        print(line, flush=True)


if __name__ == "__main__":
    main()
