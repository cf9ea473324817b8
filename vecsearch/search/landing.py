"""The fragment of an address that brings the reader to the passage. Pure.

`#id:~:text=words`: a browser that knows text directives scrolls to the words and lights them; failing
that it goes to the heading with this id, which Fossil gives to headings of Markdown since 2.28.
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote

#: Pages that show the text as text. A file of code opens at its lines, a check-in at its top.
_PAGES = frozenset({"doc", "instruction", "wiki", "technote", "ticket", "forum"})
#: Words of the directive: enough to be found once, few enough to stand within one line of the source.
WORDS = 7
_WORD = re.compile(r"[\w-]+")
_MARK = re.compile("<mark>(.*?)</mark>")
_NEITHER_WORD_NOR_BLANK = re.compile(r"<[^>]*>|&[^;]*;|(?![\w\s-])[\x00-\x7f]")
_CAPITAL = re.compile("[A-Z]")
_BETWEEN = re.compile(r"[\s_-]+")


def fragment(kind: str, format: str, text: str, readable: str, title: str, snippet: str) -> str:
    """For a chunk, its text without markup and its snippet, whose marks say what matched; "" if nothing can
    be pointed at."""
    if kind not in _PAGES:
        return ""
    words = _words(readable, {unescape(m) for m in _MARK.findall(snippet)})
    directive = f":~:text={quote(' '.join(words), safe='').replace('-', '%2D')}" if words else ""
    heading = _heading(text, title) if format == "markdown" else ""
    return quote(heading, safe="-") + directive


def _words(readable: str, marked: set[str]) -> list[str]:
    """A run of words from the line that holds most of what matched."""
    lines = readable.splitlines()
    held = [line for line in lines if _has_words(line) and any(word in line for word in marked)]
    best = max(held, key=lambda line: _marks(line, marked), default="")
    if not best or not _marks(best, marked):
        best = next(filter(_has_words, lines), readable)
    words = best.split()
    first = next((i for i, word in enumerate(words) if (word in marked if word.isalnum() else _marks(word, marked))), 0)
    start = max(0, min(first - 2, len(words) - WORDS))
    words = words[start : start + WORDS]
    while words and not re.search(r"\w", words[0]):
        words = words[1:]  # the bullet of a list is drawn, not written
    return words


def _has_words(line: str) -> bool:
    return len(line.split(maxsplit=2)) > 1


def _marks(line: str, marked: set[str]) -> int:
    """How many words of the line a snippet marks; it marks whole ones."""
    return sum(map(marked.__contains__, _WORD.findall(line)))


def _heading(text: str, title: str) -> str:
    """The id that Fossil gives to the chunk's heading (html_header in src/markdown_html.c)."""
    first = text.lstrip().split("\n", 1)[0]
    heading = first.lstrip("#").strip().rstrip("#") if first.startswith("#") else title.split(" > ")[-1]
    kept = _NEITHER_WORD_NOR_BLANK.sub("", heading)
    return _BETWEEN.sub("-", _CAPITAL.sub(lambda c: c[0].lower(), kept)).strip("-")
