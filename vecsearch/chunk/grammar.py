"""What must be known of a programming language to see its definitions, and how a row of the tables
in braces.py and indented.py becomes regular expressions.

In patterns of definitions a blank stands for blanks and tabs, ` ?` for none or some. They are
anchored at the start of a line: those `at_margin` at its first column, the others behind any
indentation. Groups are the parts of the name, so that two make `Class.method`. A pattern that ends
in `\\{` promises that this brace opens the body. Patterns see masked text (see definitions.py):
none has to know of comments or of what strings hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

# Comments and strings, for `opaque`. An unclosed one ends with its line or with the text.
C_COMMENT = r"/\*.*?(?:\*/|\Z)|//[^\n]*"
HASH = r"(?<![^\s;])#[^\n]*"
DASHES = r"--[^\n]*"
DOUBLE = r'"(?:[^"\\\n]|\\.)*+"?'
SINGLE = r"'(?:[^'\\\n]|\\.)*+'?"
CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
BACKTICKS = r"`(?:[^`\\]|\\.)*+`?"
TRIPLE = r'"""(?:[^\\]|\\.)*?(?:"""|\Z)'
TRIPLE_SINGLE = r"'''(?:[^\\]|\\.)*?(?:'''|\Z)"

#: What stands between the parentheses of a function; possessive, so that it is read only once.
ARGUMENTS = r"(?:[^(){};]++|\([^(){};]*+\))*+"

#: Words that look like the name of a function with a body, or like the type in front of one.
NO_CONTROL = (
    r"(?!(?:assert|await|case|catch|delete|do|elif|else|elsif|for|foreach|function|if|lock|loop|match|namespace"
    r"|new|return|sizeof|super|switch|synchronized|throw|try|typeof|unless|until|using|while|with|yield)\b)"
)

#: Modifiers and type in front of the name of a method.
TYPES = NO_CONTROL + r"(?:[\w.<>\[\],?@&*:$~]+ )+?"

_BLANK = re.compile(r"\[(?:\\.|[^\]\\])*\]|( \?)|( )")


@dataclass(frozen=True)
class Language:
    """`opaque` finds comments (its group `comment`) and strings, `definitions` the first line of
    definitions, `above` what may stand right above one. `body` says where they end: at the closing of
    `braces`, with the `indent`, or where the `next` one begins. Each is compiled when it is first needed:
    no repository holds all languages."""

    sources: tuple[str, str, str]
    flags: re.RegexFlag
    body: str

    @cached_property
    def opaque(self) -> re.Pattern[str]:
        return re.compile(self.sources[0], re.S | re.M)

    @cached_property
    def definitions(self) -> re.Pattern[str]:
        return re.compile(_blanks(self.sources[1]), re.M | self.flags)

    @cached_property
    def above(self) -> re.Pattern[str]:
        return re.compile(_blanks(self.sources[2]))


def language(
    comments: str,
    strings: tuple[str, ...],
    *definitions: str,
    at_margin: tuple[str, ...] = (),
    above: str = r"@[\w\[]|#\[|\[\w",
    body: str = "braces",
    ignore_case: bool = False,
) -> Language:
    """One row of a table."""
    indented = "|".join(f"(?:{pattern})" for pattern in definitions) or r"(?!)"
    margin = "".join(f"|(?:{pattern})" for pattern in at_margin)
    sources = ("|".join((f"(?P<comment>{comments})", *strings)), f"^(?: ?(?:{indented}){margin})", f" ?(?:{above})")
    return Language(sources, re.I if ignore_case else re.NOFLAG, body)


def _blanks(pattern: str) -> str:
    """Blanks outside of character classes, written out; possessive, for a failing line is tried once."""
    return _BLANK.sub(lambda found: r"[ \t]*+" if found[1] else r"[ \t]++" if found[2] else found[0], pattern)
