"""HTML and Fossil wiki, and what the other formats share with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from html import unescape


class Pattern:
    """A pattern that can only match in a text that holds one of `needs`. It is compiled when the first such text comes: most
    texts hold few of the marks that there are, and a search that shows ten passages should not wait for all."""

    def __init__(self, needs: str | tuple[str, ...], pattern: str, flags: int = 0):
        self._needs, self._pattern, self._flags = (needs,) if isinstance(needs, str) else needs, pattern, flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def sub(self, words: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with `words` for each match."""
        return self.compiled.sub(words, text) if any(need in text for need in self._needs) else text


_INVISIBLE = Pattern("<", r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.I | re.S)
_VERBATIM = Pattern("<", r"<(verbatim|nowiki)\b[^<>]*>(.*?)(?:</\1\s*>|\Z)", re.I | re.S)
_TAG = Pattern("<", r"</?([A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]*+>")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.I)
_ENTITY = Pattern("&", r"&(?:#\d{1,7}(?!\d)|#[xX][0-9A-Fa-f]{1,6}(?![0-9A-Fa-f])|[A-Za-z][A-Za-z0-9]{1,31});?")
_WIKI_LINK = Pattern("[", r"\[([^\[\]|\n]{1,500})(?:\|([^\[\]]{0,500}))?\]")
_BLANKS = Pattern((" ", "\t"), r"(?<![ \t])[ \t]++$", re.M)
_GAPS = Pattern("\n\n\n", r"\n{3,}")

#: Tags that end a line.
_BLOCK_TAGS = frozenset(
    "address article aside blockquote body br caption center dd details dir div dl dt figure footer form"
    " h1 h2 h3 h4 h5 h6 head header hr html li main menu nav ol option p pre section summary table tbody"
    " tfoot thead title tr ul".split()
)
_INLINE_TAGS = frozenset(
    "a abbr acronym audio b bdi bdo big button canvas cite code col colgroup data del dfn em embed fieldset"
    " font i iframe img input ins kbd label legend link map mark meta nobr noscript nowiki object picture q s samp"
    " script select small source span strike strong style sub sup svg td textarea th time track tt u"
    " var verbatim video wbr".split()
)


def html(text: str) -> str:
    return tidy(entities(untag(text)))


def wiki(text: str) -> str:
    """HTML plus links in brackets; what stands in <verbatim> stays as it is."""
    kept: list[str] = []
    text = _VERBATIM.sub(lambda found: keep(kept, found[2]), text.replace(MARK, "\ufffd"))
    text = _WIKI_LINK.sub(lambda found: (found[2] or found[1]).strip(), untag(text))
    return tidy(restore(kept, entities(text)))


def untag(text: str) -> str:
    """Without tags; only names that HTML knows are tags, so that `List<int>` survives."""
    return _TAG.sub(_tag_words, _INVISIBLE.sub(" ", text))


def _tag_words(tag: re.Match[str]) -> str:
    name = tag[1].lower()
    if name in _BLOCK_TAGS:
        return "\n"
    if name == "img":
        alt = _ALT.search(tag[0])
        return (alt[1] or alt[2] or "") if alt else ""
    return " " if tag[0][:3].lower() in ("<td", "<th") else "" if name in _INLINE_TAGS else tag[0]


def entities(text: str) -> str:
    """Characters for entities. The pattern bounds their length: int() refuses 5,000 digits."""
    return _ENTITY.sub(lambda found: unescape(found[0]), text)


def tidy(text: str) -> str:
    return _GAPS.sub("\n\n", _BLANKS.sub("", text)).strip("\n")


#: Stands for a kept piece of text while the rest is reduced; no text holds a NUL (types.Document).
MARK = "\0"
_KEPT = Pattern(MARK, r"\0(\d+)\0")


def keep(kept: list[str], piece: str) -> str:
    kept.append(piece)
    return f"{MARK}{len(kept) - 1}{MARK}"


def restore(kept: list[str], text: str) -> str:
    return _KEPT.sub(lambda found: kept[int(found[1])], text)
