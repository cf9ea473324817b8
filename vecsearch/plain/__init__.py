"""Readable text without its markup, for embeddings and snippets.

Total and linear: any string is accepted, and no pattern can look at a character more than a
bounded number of times. Where a mark might be part of an identifier, it stays.

    tags      HTML, Fossil wiki
    markdown  Markdown
    lines     reStructuredText, AsciiDoc, man

A search shows a few passages: the patterns of a format are made when there is one of it.
"""

from __future__ import annotations


def plain(format: str, text: str) -> str:
    """The words of a text in the given format; code, passages and plain text are returned as they are."""
    if format == "markdown":
        from . import markdown

        return markdown.markdown(text)
    if format in ("html", "wiki"):
        from . import tags

        return tags.wiki(text) if format == "wiki" else tags.html(text)
    if format in ("rst", "asciidoc", "man"):
        from . import lines

        return lines.REDUCERS[format](text)
    return text
