"""reStructuredText, AsciiDoc and man: marks that stand in lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from .tags import MARK, keep, restore, tidy

# In these three, what _LITERAL patterns find stays as it is, and then rules are applied in turn.
_Rules = tuple[tuple[re.Pattern[str], str], ...]

_RST_LITERAL = re.compile(
    r"(?:(?<=:):[ \t]*|^[ \t]*\.\. (?:code|code-block|sourcecode|parsed-literal)::[^\n]*)\n"
    r"((?:[ \t]*\n|[ \t]+[^\n]*(?:\n|\Z))+)|``([^`\n]+)``",
    re.M,
)
_RST = (
    (re.compile(r"^[ \t]*([!-/:-@\[-`{-~])\1{2,}[ \t]*$", re.M), ""),
    (re.compile(r"^[ \t]*\.\. _[^\n]*$", re.M), ""),
    (re.compile(r"^([ \t]*)\.\. [\w:-]+::[ \t]*", re.M), r"\1"),
    (re.compile(r"(?::[\w:+.-]{1,60}:)?`([^`<\n]*?)[ \t]*(?:<[^`<>\n]*>)?`_{0,2}"), r"\1"),
    (re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*\n]{1,400})(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<=\w)(__?)(?=[\s.,;:)]|\Z)"), ""),
)
_ASCIIDOC_LITERAL = re.compile(
    r"^(?P<mark>-{4,}+|\.{4,}+|`{3,}+)[^\n]*\n(.*?)(?:^(?P=mark)[ \t]*$|\Z)|(?<!\w)[`+]{1,2}([^`+\n]+)[`+]{1,2}(?!\w)", re.M | re.S
)
_ASCIIDOC = (
    (re.compile(r"^(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,}|_{4,}|/{4,}|`{3,}|[|,:!]={3,}|--|\+)[ \t]*$", re.M), ""),
    (re.compile(r"^\[[^\]\n]*\][ \t]*$|^//[^\n]*$", re.M), ""),
    (re.compile(r"^(?:={1,6}|#{1,6})[ \t]+|^:(?=[\w!-]+:)", re.M), ""),
    (re.compile(r"\b(?:link|xref|mailto|image|kbd|btn|menu|include):{1,2}[^\s\[\]]{0,300}\[([^\[\]\n]+)\]"), r"\1"),
    (re.compile(r"\bhttps?://[^\s\[\]]{1,300}\[([^\[\]\n]+)\]"), r"\1"),
    (re.compile(r"<<([^<>,\n]+)>>"), r"\1"),
    (re.compile(r"<<[^<>,\n]+,([^<>\n]+)>>"), r"\1"),
    (re.compile(r"(?<![\w*_`+])([*_`+]{1,2})(?=[^\s*_`+])([^*`+\n]{1,400}?)(?<=\S)\1(?![\w*`+])"), r"\2"),
)
_MAN = (
    (re.compile(r"^[.']\s*\\\"[^\n]*$", re.M), ""),
    (re.compile(r"\\f(?:\[[^\]\n]*\]|\(..|.)|\\[&|^:%/,)]|\\s[+-]?\d"), ""),
    (re.compile(r"\\\((?:em|en|mi)|\\-"), "-"),
    (re.compile(r"\\\([a-z]q"), "'"),
    (re.compile(r"\\e"), r"\\"),
    (re.compile(r"^[.'][ \t]*(?:TP|PP|LP|P|IP|RS|RE|nf|fi|br|sp|ft|ad|na|ne|hy|nh|in|Pp|El|Bl|Ed|Bd)\b[^\n]*$", re.M), ""),
    (re.compile(r"\bFl (?=\w)"), "-"),
    (re.compile(r"^[.'][ \t]*[A-Za-z]{1,2}\b[ \t]*", re.M), ""),
    (re.compile(r"(?<!\S)(?:Ar|Op|Pa|Xr|Nm|Cm|Ns|Ap|Em|Sy|Li|Ql|Dq|Sq|Pq|Qq|Ic|Ev|Va|Fa|Fn|Ft|Dv|Er|Oo|Oc)(?=\s)[ \t]*"), ""),
)


def _by_rules(rules: _Rules, literal: re.Pattern[str] | None = None) -> Callable[[str], str]:
    def reduce(text: str) -> str:
        kept: list[str] = []
        text = text.replace(MARK, "\ufffd")
        if literal:
            text = literal.sub(lambda found: keep(kept, found[found.lastindex or 0]), text)
        for pattern, words in rules:
            text = pattern.sub(words, text)
        return tidy(restore(kept, text))

    return reduce


REDUCERS: dict[str, Callable[[str], str]] = {
    "rst": _by_rules(_RST, _RST_LITERAL),
    "asciidoc": _by_rules(_ASCIIDOC, _ASCIIDOC_LITERAL),
    "man": _by_rules(_MAN),
}
