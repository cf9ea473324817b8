"""Readable text without its markup, for embeddings and snippets.

Total and linear: any string is accepted, and no pattern below can look at a character more than a
bounded number of times. Where a mark might be part of an identifier, it stays.

(1) the entry   (2) tags: HTML, Fossil wiki   (3) Markdown   (4) reStructuredText, AsciiDoc, man
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable


def plain(format: str, text: str) -> str:
    """The words of a text in the given format; code, passages and plain text are returned as they are."""
    reduce = _REDUCERS.get(format)
    return reduce(text) if reduce else text


# -- (2) tags ------------------------------------------------------------------------------------

_INVISIBLE = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.I | re.S)
_VERBATIM = re.compile(r"<(verbatim|nowiki)\b[^<>]*>(.*?)(?:</\1\s*>|\Z)", re.I | re.S)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]*+>")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}(?!\d)|#[xX][0-9A-Fa-f]{1,6}(?![0-9A-Fa-f])|[A-Za-z][A-Za-z0-9]{1,31});?")
_WIKI_LINK = re.compile(r"\[([^\[\]|\n]{1,500})(?:\|([^\[\]]{0,500}))?\]")
_BLANKS = re.compile(r"(?<![ \t])[ \t]++$", re.M)
_GAPS = re.compile(r"\n{3,}")

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
_TAGS = _BLOCK_TAGS | _INLINE_TAGS


def _html(text: str) -> str:
    return _tidy(_entities(_untag(text)))


def _wiki(text: str) -> str:
    """HTML plus links in brackets; what stands in <verbatim> stays as it is."""
    kept: list[str] = []
    text = _VERBATIM.sub(lambda found: _keep(kept, found[2]), text.replace(_MARK, "\ufffd"))
    text = _WIKI_LINK.sub(lambda found: (found[2] or found[1]).strip(), _untag(text))
    return _tidy(_restore(kept, _entities(text)))


def _untag(text: str) -> str:
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


def _entities(text: str) -> str:
    """Characters for entities. The pattern bounds their length: int() refuses 5,000 digits."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)


def _tidy(text: str) -> str:
    return _GAPS.sub("\n\n", _BLANKS.sub("", text)).strip("\n")


#: Stands for a kept piece of text while the rest is reduced; no text holds a NUL (types.Document).
_MARK = "\0"
_KEPT = re.compile(r"\0(\d+)\0")


def _keep(kept: list[str], piece: str) -> str:
    kept.append(piece)
    return f"{_MARK}{len(kept) - 1}{_MARK}"


def _restore(kept: list[str], text: str) -> str:
    return _KEPT.sub(lambda found: kept[int(found[1])], text)


# -- (3) Markdown --------------------------------------------------------------------------------

_FENCED = re.compile(r"^ {0,3}(`{3,}+(?=[^`\n]*\n)|~{3,}+)[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$\n?|\Z)", re.M | re.S)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
_TICKS = re.compile(r"(`+)")
_LINK = re.compile(r"(!?)\[([^\[\]]*+)\](?:\((?:[^()\n]|\([^()\n]*\))*+\)|\[[^\[\]\n]*+\])")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]*+)>")
_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]+\]:[^\n]*$", re.M)
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3}|~~)(?=[^\s*])([^*\n]{1,400})(?<=\S)\1(?![\w*])")
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])([^_\n]{1,400})(?<=[^\s_])\1(?!\w)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]+|(?=[A-Za-z])|$)([^\n]*)$", re.M)
_QUOTE = re.compile(r"^ {0,3}(?:>[ \t]?)+", re.M)
_RULE = re.compile(r"^[ \t]*+(?:[-*_=][ \t]*+){3,}$", re.M)
_DELIMITER = re.compile(r"^[ \t|]*+:?-[-|: \t]*+$", re.M)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CELLS = re.compile(r"^[ \t]*\|[^\n]*$", re.M)


def _markdown(text: str) -> str:
    """Links become labels, emphasis words; code in fences, spans and indented blocks stays."""
    kept: list[str] = []
    text = _FENCED.sub(lambda found: _keep(kept, found[2]), text.replace(_MARK, "\ufffd"))
    text = _INDENTED.sub(lambda found: _keep(kept, found[0]), text)
    text = _HEADING.sub(_heading, _keep_spans(kept, text))
    text = _ESCAPE.sub(lambda found: _keep(kept, found[1]), text)
    text = _LINK.sub(_label, _LINK.sub(_label, _LINK_DEFINITION.sub("", text)))
    text = _untag(_AUTOLINK.sub(r"\1", text))
    text = _UNDERSCORES.sub(_unless_dunder, _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)))
    text = _CELLS.sub(lambda found: found[0].replace("|", " ").strip(), _DELIMITER.sub("", _RULE.sub("", text)))
    return _tidy(_restore(kept, _entities(_QUOTE.sub("", text))))


def _keep_spans(kept: list[str], text: str) -> str:
    """Keeps the content of code spans: a run of backticks closes at the next run as long, unless the
    paragraph ends before."""
    parts = _TICKS.split(text)  # text and runs, in turn
    following: dict[str, int] = {}
    closing = [0] * len(parts)
    for i in range(len(parts) - 2, 0, -2):
        closing[i] = following.get(parts[i], 0)
        following[parts[i]] = i
    out, i = parts[:1], 1
    while i < len(parts):
        end = closing[i]
        if end and not any("\n\n" in part for part in parts[i + 1 : end : 2]):
            out += [_keep(kept, "".join(parts[i + 1 : end])), parts[end + 1]]
            i = end + 2
        else:
            out += parts[i : i + 2]
            i += 2
    return "".join(out)


def _heading(found: re.Match[str]) -> str:
    """Without the marks at the end, if a blank sets them apart: `# C#` is about C#."""
    title = found[1].rstrip()
    bare = title.rstrip("#")
    return bare.rstrip() if bare != title and (not bare or bare[-1].isspace()) else title


def _label(link: re.Match[str]) -> str:
    """The label; an empty one (Fossil takes the target's title) is replaced by the target."""
    return link[2] or ("" if link[1] else link[0][2:].strip("()[]"))


def _unless_dunder(found: re.Match[str]) -> str:
    """`__init__` is a name more often than one bold word."""
    return found[0] if found[1] == "__" and found[2].isidentifier() else found[2]


# -- (4) marked lines ----------------------------------------------------------------------------

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
        text = text.replace(_MARK, "\ufffd")
        if literal:
            text = literal.sub(lambda found: _keep(kept, found[found.lastindex or 0]), text)
        for pattern, words in rules:
            text = pattern.sub(words, text)
        return _tidy(_restore(kept, text))

    return reduce


_REDUCERS: dict[str, Callable[[str], str]] = {
    "html": _html,
    "wiki": _wiki,
    "markdown": _markdown,
    "rst": _by_rules(_RST, _RST_LITERAL),
    "asciidoc": _by_rules(_ASCIIDOC, _ASCIIDOC_LITERAL),
    "man": _by_rules(_MAN),
}
