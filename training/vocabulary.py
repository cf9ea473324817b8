"""The words of the model: `python -m training.vocabulary CORPUS.npz OUT`.

Words and parts of identifiers that many packages use, then whole identifiers, then the pieces from
which every other word can be made. A word is ranked by the number of packages that have it before
the number of pieces: what one package says a thousand times is not a word of the trade.
"""

from __future__ import annotations

import string
import sys
from collections import Counter
from pathlib import Path

from vecsearch.embed.builtin.tokens import parts, pieces, whole

from .corpus import load

WORDS, WHOLES, PIECES = 29_000, 3_200, 3_600


def count(corpus: Path) -> tuple[Counter, Counter, Counter]:
    """Packages per part, packages per identifier of several parts, and pieces per part (the first two
    are upper bounds: spellings of one word in one package count each)."""
    spread, spread_whole, often = Counter(), Counter(), Counter()
    arrays, words = load(corpus)
    for word, packages, rows in zip(words, arrays["packages_of"].tolist(), arrays["pieces_of"].tolist(), strict=True):
        if word.isascii():
            found = parts(word)
            for part in sorted(set(found)):
                spread[part] += packages
                often[part] += rows
            if len(found) > 1:
                spread_whole[whole(word)] += packages
    return spread, spread_whole, often


def choose(spread: Counter, spread_whole: Counter, often: Counter) -> list[str]:
    """The vocabulary, sorted."""
    def rank(word: str) -> tuple[float, str]:
        return -(spread[word] * often[word] ** 0.3), word

    able = [w for w in spread if 2 <= len(w) <= 20 and (w.isalpha() or len(w) <= 4)]
    chosen = set(sorted(able, key=rank)[:WORDS])
    chosen.update(string.ascii_lowercase + string.digits)
    named = [w for w in spread_whole if w not in chosen and 4 <= len(w) <= 32 and not w[0].isdigit()]
    chosen.update(sorted(named, key=lambda w: (-spread_whole[w], w))[:WHOLES])
    return sorted(chosen | continuations(spread, chosen))


def continuations(spread: Counter, chosen: set[str]) -> set[str]:
    """Endings: `##x` for what is most often left of unknown words once a known beginning is taken."""
    rest: Counter = Counter()
    for word, packages in spread.items():
        if word not in chosen and len(word) < 24:
            for end in range(min(len(word) - 1, 16), 1, -1):
                if word[:end] in chosen:
                    for stop in range(end + 1, min(len(word), end + 8) + 1):
                        rest["##" + word[end:stop]] += packages * (stop - end)
                    break
    single = {"##" + letter for letter in string.ascii_lowercase + string.digits}
    return single | {piece for piece, _ in rest.most_common(PIECES)}


def main(corpus: Path, out: Path) -> None:
    vocabulary = choose(*count(corpus))
    out.write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    known = set(vocabulary).__contains__
    print(len(vocabulary), "tokens;", {w: list(pieces(w, known)) for w in ("unversioned", "autosetup", "fossilize", "zlibcompress")})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
