"""From trained vectors to the files of the package: `python -m training.quantise VOCABULARY TABLE.npy FOLDER`."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np

from vecsearch.embed.builtin import key

FILES = ("keys.npy", "rows.npy", "scales.npy")


def quantise(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(int8 [tokens, dim], float32 [tokens]): each row by its own largest entry."""
    scales = np.abs(table).max(1) / 127
    scales[scales == 0] = 1
    return np.rint(table / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def write(vocabulary: list[str], table: np.ndarray, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    keys = np.array([key(token) for token in vocabulary], np.uint64)
    if len(set(keys.tolist())) != len(vocabulary):
        raise SystemExit("two tokens share a key")
    order = np.argsort(keys)
    rows, scales = quantise(table[order])
    for name, array in zip(FILES, (keys[order], rows, scales), strict=True):
        np.save(folder / name, array)
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in FILES]
    (folder / "SHA256").write_text("".join(lines))


def main(vocabulary: Path, table: Path, folder: Path) -> None:
    write(vocabulary.read_text(encoding="utf-8").split(), np.load(table), folder)
    size = sum((folder / name).stat().st_size for name in FILES)
    print(f"{folder}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
