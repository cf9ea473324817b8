"""A whole repository: what indexing costs, and the first three hits of questions that one would ask.

    python benchmarks/real.py REPOSITORY QUESTIONS.txt       a question a line; works on a copy
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VECSEARCH = str(Path(sys.executable).with_name("vecsearch"))


def main() -> None:
    """Print two Markdown tables."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(sys.argv[1], folder)
        start = time.perf_counter()
        process = subprocess.Popen([VECSEARCH, "index", "-R", copy, "--json"], stdout=subprocess.PIPE, text=True)
        report = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        print("| artifacts | chunks | seconds | of CPU | peak memory, MB |\n|---|---|---|---|---|")
        print(f"| {report['artifacts']} | {report['chunks']} | {time.perf_counter() - start:.1f} | {usage.ru_utime + usage.ru_stime:.1f}"
              f" | {usage.ru_maxrss / 1024:.0f} |\n\n| question | first three hits |\n|---|---|")
        for question in Path(sys.argv[2]).read_text("utf-8").splitlines():
            done = subprocess.run([VECSEARCH, "search", "-R", copy, "--json", "-k", "3", question], capture_output=True, text=True, check=True)
            hits = [f"{h['kind']} {h['path'] or h['title'][:60]}{':%d' % h['lines'][0] if h['lines'] else ''}" for h in json.loads(done.stdout)["hits"]]
            print(f"| {question} | {'<br>'.join(hits).replace('|', '&#124;')} |")


if __name__ == "__main__":
    main()
