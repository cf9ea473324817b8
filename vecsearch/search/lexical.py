"""The keyword arm: FTS5 with bm25 over title, path, symbol, body and the parts of compound words."""

from __future__ import annotations

from collections.abc import Iterable

from ..store.reader import Reader
from ..terms import parts, words
from .query import Query

#: bm25 weights of title, path, symbol, body, parts: a word in a title or a path says what the text is
#: about; a part of an identifier says less than the word itself.
WEIGHTS = (4.0, 2.0, 3.0, 1.0, 0.5)

#: Words that every English question has; alone they still search.
STOP = frozenset(
    "a an and are as at be been by can could did do does for from had has have how i if in into is it its me my no not of"
    " on or our should so than that the their them then there these they this those to was we were what when where which"
    " who whom why will with would you your".split()
)


def arm(reader: Reader, query: Query, kinds: Iterable[str], limit: int) -> list[tuple[int, float]]:
    """(row id, relevance) best first; relevance is bm25 with its sign turned: more is better."""
    expression = match_expression(query)
    if not expression:
        return []
    return [(row, -score) for row, score in reader.match(expression, WEIGHTS, kinds, limit)]


def match_expression(query: Query) -> str:
    """The FTS5 expression: every token quoted, so that nothing typed is an operator."""
    wanted = [_word(term) for term in significant(query.terms)]
    wanted += [_quote(words(phrase)) for phrase in query.phrases if words(phrase)]
    wanted += [f'"{prefix}"*' for prefix in query.prefixes]
    expression = " OR ".join(piece for piece in wanted if piece)
    if not expression:
        return ""
    if query.in_title:
        expression = f"title : ({expression})"
    unwanted = " OR ".join(_quote(words(term)) for term in query.excluded if words(term))
    return f"({expression}) NOT ({unwanted})" if unwanted else expression


def significant(terms: tuple[str, ...]) -> list[str]:
    """The terms without stop words, unless there is nothing else."""
    kept = [term for term in terms if term.lower().strip("?!.,;:") not in STOP]
    return kept or list(terms)


def _word(term: str) -> str:
    """One typed word: its tokens in a row, or the parts of a compound one."""
    tokens = words(term)
    if not tokens:
        return ""
    pieces = [piece for token in tokens for piece in parts(token)]
    whole = _quote(tokens)
    return f"{whole} OR ({' AND '.join(_quote([p]) for p in pieces)})" if pieces else whole


def _quote(tokens: list[str]) -> str:
    return '"' + " ".join(token.replace('"', "") for token in tokens) + '"'
