"""What of a chunk goes into the full-text index. The index is contentless, so a row can only be
removed by giving the very text that went in: both ways use this one function."""

from __future__ import annotations

from ..plain import plain
from ..terms import all_parts, indexable

#: A change of what `row` gives makes the full-text index anew; see Writer.refresh_lexical.
LEXICAL_VERSION = 1


def row(title: str, path: str | None, symbol: str, format: str, text: str) -> tuple[str, str, str, str, str]:
    """The columns title, path, symbol, body, parts of fx_vec_fts."""
    body = plain(format, text)
    where = (path or "").replace("/", " ").replace(".", " ")
    pieces = all_parts(f"{title} {path or ''} {symbol} {body}")
    return indexable(title), indexable(where), indexable(symbol), indexable(body), pieces
