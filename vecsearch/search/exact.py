"""What of a query is meant letter by letter: quoted phrases, identifiers, flags. Pure but for the look
into the full-text index.

A hit that holds it stands above any that is merely similar. Characters that the tokenizer drops (`C++`,
`--flag`, `a::b`) are looked for in the text itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..terms import fold, words
from .lexical import STOP, bare, quote
from .query import Query

#: Up to so many words without one that every sentence has are names, not a question.
NAMES = 2
#: A query of more words is no name of a file or a page.
LONGEST_NAME = 8

#: Letters next to a sign or a change of case that prose does not have. A hyphen proves nothing: check-in. Nor does the
#: plural of what is spelt in capitals: IDEs.
_IDENTIFIER = re.compile(
    r"\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}(?!s$)[a-z]\w*|\w+_\w+|_+\w+|\w+(?:(?:::|->|\\|\.)\w+)+(?:\(\))?|[\w.-]+(?:/[\w.-]+)*/[\w-]+\.\w+|\w+\(\)"
    r"|[$@#]\w[\w-]*|--?[A-Za-z][\w-]*|\w+(?:\+\+|#)|[A-Za-z]+-?\d[\w-]*-\d[\w-]*"
)
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*[!?]?(?:(?:::|->|\\|\.|#)[A-Za-z_$][\w$]*[!?]?)*")


@dataclass(frozen=True, slots=True)
class Literal:
    """`text` as typed, the FTS5 expression of its words, and whether these do not prove it."""

    text: str
    expression: str
    verify: bool

    def held_by(self, text: str) -> bool:
        """Whether a text holds it, whatever the case and the accents."""
        return fold(self.text) in fold(text)


def literals(query: Query) -> list[Literal]:
    """Phrases, and words that look like nothing in a sentence; of a query that is but a few names, all."""
    terms = [bare(term) for term in query.terms]
    few = len(terms) <= NAMES and not any(term.lower() in STOP for term in terms)
    typed = [term for term in terms if term and (few or _IDENTIFIER.fullmatch(term))]
    if few and len(typed) > 1:
        typed.append(" ".join(typed))  # side by side, as in the name of a command
    return [Literal(text, quote(words(text)), bool(re.search(r"[^\w\s-]|(?<!\w)-", text)))
            for text in dict.fromkeys([*query.phrases, *typed]) if words(text)]


def symbol(query: Query) -> str:
    """The name of the definition asked for, if the whole query is one name: `add` for `Repo::add`."""
    if len(query.terms) != 1 or query.phrases:
        return ""
    name = bare(query.terms[0]).removesuffix("()")
    return re.split(r"::|->|\\|\.|#", name)[-1] if _SYMBOL.fullmatch(name) else ""


def mentioned(query: Query) -> list[str]:
    """Names of definitions inside a sentence."""
    found = (bare(term).removesuffix("()") for term in query.terms)
    return [re.split(r"::|->|\\|\.", name)[-1] for name in found if _IDENTIFIER.fullmatch(name) and _SYMBOL.fullmatch(name)]
