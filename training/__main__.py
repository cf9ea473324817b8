"""The whole pipeline, from an empty directory: `python -m training DIR`.

Each stage runs in a process of its own and leaves files below DIR; a stage whose file is there is not
run again. Wall time and peak memory of each go to DIR/report.json. Needs training/requirements.txt.
The model is left in DIR/model; copy it over vecsearch/embed/builtin and raise its VERSION.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

STAGES = {
    "fetch": (("raw",), "raw/.done"),
    "mine": (("raw", "pairs"), "pairs/.done"),
    "corpus": (("pairs", "corpus.npz"), "corpus.npz"),
    "teach": (("pairs", "taught.npz"), "taught.npz"),
    "vocabulary": (("corpus.npz", "vocabulary.txt"), "vocabulary.txt"),
    "distil": (("vocabulary.txt", "start.npy"), "start.npy"),
    "train": (("corpus.npz", "taught.npz", "vocabulary.txt", "start.npy", "table.npy"), "table.npy"),
    "quantise": (("vocabulary.txt", "table.npy", "model"), "model/SHA256"),
}


def run(name: str, arguments: list[Path]) -> dict[str, float]:
    """Wall seconds and peak megabytes (of the largest process) of one stage."""
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", f"training.{name}", *map(str, arguments)])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name} failed; what it left below {arguments[-1].parent} is kept, run again to go on")
    return {"seconds": round(time.monotonic() - started), "peak_mb": round(usage.ru_maxrss / 1024)}


def main(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    path = place / "report.json"
    report = json.loads(path.read_text()) if path.exists() else {}
    for name, (arguments, made) in STAGES.items():
        if not (place / made).exists():
            report[name] = run(name, [place / argument for argument in arguments])
            if made.endswith(".done"):
                (place / made).touch()
            path.write_text(json.dumps(report, indent=1) + "\n")
            print(name, report[name], flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
