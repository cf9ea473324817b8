"""Markdown."""

from __future__ import annotations

import re

from .tags import MARK, Pattern, entities, keep, restore, tidy, untag

_FENCED = Pattern(("```", "~~~"), r"^ {0,3}(`{3,}+(?=[^`\n]*\n)|~{3,}+)[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$\n?|\Z)", re.M | re.S)
_INDENTED = Pattern(("    ", "\t"), r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
_TICKS = re.compile(r"(`+)")
_LINK = Pattern("[", r"(!?)\[([^\[\]]*+)\](?:\((?:[^()\n]|\([^()\n]*\))*+\)|\[[^\[\]\n]*+\])")
_AUTOLINK = Pattern("<", r"<((?:https?|ftp|mailto):[^<>\s]*+)>")
_LINK_DEFINITION = Pattern("]:", r"^ {0,3}\[[^\[\]\n]+\]:[^\n]*$", re.M)
_EMPHASIS = Pattern(("*", "~~"), r"(?<![\w*\\])(\*{1,3}|~~)(?=[^\s*])([^*\n]{1,400})(?<=\S)\1(?![\w*])")
_UNDERSCORES = Pattern("_", r"(?<![\w\\])(_{1,3})(?=[^\s_])([^_\n]{1,400})(?<=[^\s_])\1(?!\w)")
_HEADING = Pattern("#", r"^ {0,3}#{1,6}(?:[ \t]+|(?=[A-Za-z])|$)([^\n]*)$", re.M)
_QUOTE = Pattern(">", r"^ {0,3}(?:>[ \t]?)+", re.M)
_RULE = Pattern(tuple("-*_="), r"^[ \t]*+(?:[-*_=][ \t]*+){3,}$", re.M)
_DELIMITER = Pattern("-", r"^[ \t|]*+:?-[-|: \t]*+$", re.M)
_ESCAPE = Pattern("\\", r"\\([!-/:-@\[-`{-~])")
_CELLS = Pattern("|", r"^[ \t]*\|[^\n]*$", re.M)


def markdown(text: str) -> str:
    """Links become labels, emphasis words; code in fences, spans and indented blocks stays."""
    kept: list[str] = []
    text = _FENCED.sub(lambda found: keep(kept, found[2]), text.replace(MARK, "\ufffd"))
    text = _INDENTED.sub(lambda found: keep(kept, found[0]), text)
    text = _HEADING.sub(_heading, _keep_spans(kept, text))
    text = _ESCAPE.sub(lambda found: keep(kept, found[1]), text)
    text = _LINK.sub(_label, _LINK.sub(_label, _LINK_DEFINITION.sub("", text)))
    text = untag(_AUTOLINK.sub(r"\1", text))
    text = _UNDERSCORES.sub(_unless_dunder, _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)))
    text = _CELLS.sub(lambda found: found[0].replace("|", " ").strip(), _DELIMITER.sub("", _RULE.sub("", text)))
    return tidy(restore(kept, entities(_QUOTE.sub("", text))))


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
            out += [keep(kept, "".join(parts[i + 1 : end])), parts[end + 1]]
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
