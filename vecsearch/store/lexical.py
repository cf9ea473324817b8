"""What of a chunk goes into the full-text index. The index is contentless, so a row can only be
removed by giving the very text that went in: both ways use this one function."""

from __future__ import annotations

from ..chunk import symbols
from ..plain import plain
from ..terms import all_parts, indexable

#: A change of what `row` gives makes the full-text index anew; see Writer.refresh_lexical.
LEXICAL_VERSION = 4

#: The columns of fx_vec_fts, in the order of `row`.
COLUMNS = ("title", "path", "symbol", "body", "parts", "named")


def row(title: str, path: str | None, symbol: str, format: str, text: str) -> tuple[str, ...]:
    """One value for each of COLUMNS.

    `symbol` holds every name that the chunk defines and `named` the pieces of these: who asks for
    "retry back off" means the function `retryBackoff` before any text that calls it.
    """
    body = plain(format, text)
    where = (path or "").replace("/", " ").replace(".", " ")
    names = " ".join(dict.fromkeys([symbol, *symbols(format, text)]))
    return (indexable(title), indexable(f"{where} {all_parts(where)}"), indexable(names), indexable(body),
            all_parts(f"{title} {body}"), all_parts(names))
