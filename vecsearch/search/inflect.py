"""Other forms of an English word, made by rule: `uninstall` for `uninstalling`. Pure.

The full-text index knows no stems (SPEC section 7); the query asks for the forms instead, in an arm of
their own. A form that no text holds costs a lookup and finds nothing, so the rules may be generous.
"""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ments", "ment", "ers", "er", "ors", "or", "ies", "ied", "ed", "es",
            "s", "able", "al", "ly", "e", "y")
_SHORTEST = 3  # letters of a stem; below this unrelated words meet
_DOUBLED = "bdgmnprt"  # stop -> stopping


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without one ending, for comparing two words; no word to show."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not (ending == "s" and word.endswith("ss")):
            rest = word[: -len(ending)]
            return rest[:-1] if len(rest) > _SHORTEST and rest[-1] == rest[-2] and rest[-1] in _DOUBLED else rest
    return word


def forms(word: str) -> list[str]:
    """The forms of a plain word, without itself; none for a short word, a name or a foreign script."""
    word = word.lower()
    if len(word) <= _SHORTEST or not (word.isascii() and word.isalpha()):
        return []
    base = stem(word)
    found = {base, *(base + ending for ending in _ENDINGS)}
    if base[-1] in _DOUBLED:
        found |= {base + base[-1] + ending for ending in ("ed", "ing", "er", "ers")}
    return sorted(form for form in found - {word} if len(form) >= _SHORTEST)
