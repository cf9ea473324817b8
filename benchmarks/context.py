"""What `vecsearch context` costs and refuses: `python -m benchmarks.context REPOSITORY QUESTIONS.jsonl`.

REPOSITORY is indexed; the questions are those of the documentation set, whose off-topic ones have an empty
`rel`. Prints how many off-topic questions got a block, how many others got none and how many of these blocks
hold a page that answers; and what a block takes in a process that has made some before, and in a new one. Processor
time is what to compare: other work on the machine adds to the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles

from vecsearch import context


def timed(repository: Path, task: str) -> tuple[tuple[float, float], context.Block]:
    """((wall, processor) milliseconds, the block)."""
    began, cpu = time.perf_counter(), time.process_time()
    block = context.gather(repository, task)
    return ((time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000), block


def new_process(repository: Path, task: str) -> tuple[float, float]:
    command = [str(Path(sys.executable).with_name("vecsearch")), "context", "-R", str(repository), task]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (time.perf_counter() - began) * 1000, (used.ru_utime + used.ru_stime) * 1000


def spread(times: list[tuple[float, float]]) -> dict[str, int]:
    wall, cpu = zip(*times, strict=True)
    return {"median": round(median(wall)), "p95": round(quantiles(wall, n=20)[-1]), "cpu": round(median(cpu))}


def answers(block: context.Block, rel: dict[str, int]) -> bool:
    return any(rel.get(fragment.hit.path or "") == 2 for fragment in block.fragments)


def main() -> None:
    """Print the facts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("questions", type=Path)
    options = parser.parse_args()
    questions = [json.loads(line) for line in options.questions.read_text().splitlines()]
    timed(options.repository, questions[0]["q"])
    runs = [(*timed(options.repository, question["q"]), question["rel"]) for question in questions]
    on, times = [(block, rel) for _, block, rel in runs if rel], [took for took, _, _ in runs]
    print(json.dumps({
        "off_topic": sum(not rel for *_, rel in runs), "off_topic_with_a_block": sum(bool(block.fragments) for _, block, rel in runs if not rel),
        "on_topic": len(on), "on_topic_without_a_block": sum(not block.fragments for block, _ in on),
        "blocks_with_an_answer": sum(answers(block, rel) for block, rel in on),
        "fragments_per_block": round(sum(len(block.fragments) for block, _ in on) / len(on), 1),
        "warm_ms": spread(times), "new_process_ms": spread([new_process(options.repository, question["q"]) for question in questions[:20]]),
    }))


if __name__ == "__main__":
    main()
