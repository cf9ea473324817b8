"""One row per programming language: what comments and strings look like, and what a definition does.

Every pattern is anchored at the start of a line (leading blanks are added, except in `at_margin`
patterns) and its groups are the parts of the name: two groups make `Class.method`. A pattern that
ends in `\\{` says that the brace opens the body. Patterns see masked text (see definitions.py), so
none of them needs to know about comments or strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Pieces of patterns. ARGS is what stands between the parentheses of a function, at most two deep.
ARGS = r"(?:[^(){};]++|\([^(){};]*+\))*+"
JS_ARGS = r"(?:[^(){};]++|\([^(){};]*+\)|\{[^(){}]*+\})*+"
C_TAIL = r"(?:[^(){};=:]|::)*+(?::[^{};]{0,1000}+)?\{"
CONTROL = r"(?!(?:if|for|while|switch|catch|return|else|do|case|new|throw|using|lock|foreach|synchronized|assert|await|yield|try|elif|elsif|unless|until|match|loop|with|sizeof|typeof|delete|function|super|namespace)\b)"
HEAD = CONTROL + r"(?:[\w.<>\[\],?@&*:$~]+[ \t]+)+?"

# Comments and strings. An unclosed one ends with its line or with the text.
C_BLOCK = r"/\*.*?(?:\*/|\Z)"
C_LINE = r"//[^\n]*"
HASH = r"(?<![^\s;])#[^\n]*"
DASHES = r"--[^\n]*"
DOUBLE = r'"(?:[^"\\\n]|\\.)*+"?'
SINGLE = r"'(?:[^'\\\n]|\\.)*+'?"
CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
BACKTICK = r"`(?:[^`\\]|\\.)*+`?"
TRIPLE = r'"""(?:[^\\]|\\.)*?(?:"""|\Z)'
TRIPLE_SINGLE = r"'''(?:[^\\]|\\.)*?(?:'''|\Z)"


@dataclass(frozen=True, slots=True)
class Language:
    """`opaque` finds comments (group `comment`) and strings; `definitions` finds definitions;
    `above` the lines above one that belong to it; `braces`: bodies stand in braces."""

    opaque: re.Pattern[str]
    definitions: re.Pattern[str]
    above: re.Pattern[str]
    braces: bool


def _language(comments: str, strings: str, definitions: tuple[str, ...], *, above: str = r"@\w|#\[|\[\w|%", braces: bool = True,
              at_margin: tuple[str, ...] = (), ignore_case: bool = False) -> Language:
    inside = "|".join(f"(?:{pattern})" for pattern in definitions) or r"(?!)"
    margin = "".join(f"|(?:{pattern})" for pattern in at_margin)
    return Language(
        re.compile(f"(?P<comment>{comments})|{strings}", re.S | re.M),
        re.compile(f"^(?:[ \\t]*(?:{inside}){margin})", re.M | (re.I if ignore_case else 0)),
        re.compile(rf"[ \t]*(?:{above})"),
        braces,
    )


def _any(*patterns: str) -> str:
    return "|".join(patterns)


C_COMMENTS = _any(C_BLOCK, C_LINE)
_C_TYPE = r"(?:typedef[ \t]+)?(?:struct|union|enum(?:[ \t]+class)?|class)\b[ \t]*(?:\[\[[^\]\n]*\]\][ \t]*)?(?:[A-Z_]+[ \t]+)?(\w*)(?=[^;(){}=]{0,300}+\{)"
_C_DEFINE = r"#[ \t]*define[ \t]+(\w+)"
_C_TYPEDEF = r"typedef\b[^;{}\n]*?\b(\w+)[ \t]*;"
_C_FUNCTION = CONTROL + r"(?:[A-Za-z_][\w \t*&:<>,]*?[ \t*&])??(~?[A-Za-z_][\w:~]*)[ \t]*\(" + ARGS + r"\)" + C_TAIL
_C_OLD_FUNCTION = CONTROL + r"(?:[A-Za-z_][\w \t*]*?[ \t*])??([A-Za-z_]\w*)[ \t]*\([\w, \t\n]*+\)[ \t]*\n(?:[ \t]*[A-Za-z_][\w \t*,\[\]]*;[ \t]*\n)++\{"
_C_ABOVE = r"template\b|@\w|\[\[|[A-Za-z_][\w \t*]*$"
_CPP_METHOD = r"[ \t]+" + CONTROL + r"(?:(?:[\w<>,:*&~]+[ \t]+)+?[*&]*(~?\w+|operator[^\s(]+)|(?:explicit[ \t]+)?(~?[A-Z]\w*))[ \t]*\(" + ARGS + r"\)" + C_TAIL

_JS_NAME = r"([\w$]+)"
_JS_EXPORT = r"(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
_JS_VALUE = r"(?:async[ \t]*)?(?:function\b|class\b|(?:<[^<>\n]*>)?\(" + JS_ARGS + r"\)[^=;(){}\n]*=>|[\w$]+[ \t]*=>)"
_JAVASCRIPT = (
    _JS_EXPORT + r"(?:async[ \t]+)?function\b[ \t]*\*?[ \t]*" + _JS_NAME,
    _JS_EXPORT + r"class[ \t]+" + _JS_NAME,
    r"(?:export[ \t]+)?(?:const|let|var)[ \t]+" + _JS_NAME + r"[ \t]*(?::[^=\n]+)?=\s*" + _JS_VALUE,
    r"export[ \t]+(default)[ \t]+(?:async[ \t]+)?(?:function\b|class\b|\{|\w+\()",
    r"(?:module\.)?exports(?:\.([\w$]+))?[ \t]*=[ \t]*(?:" + _JS_VALUE + r"|\{)",
    r"([\w$.]+)\.prototype\.([\w$]+)[ \t]*=[ \t]*" + _JS_VALUE,
    r"([A-Za-z_$][\w$]*(?:\.[\w$]+)+)[ \t]*=[ \t]*" + _JS_VALUE,
    r"([\w$]+)[ \t]*:[ \t]*" + _JS_VALUE,
    CONTROL + r"(?:(?:static|async|get|set|public|private|protected|readonly|override)[ \t]+|\*[ \t]*)*(#?[\w$]+)[ \t]*(?:<[^<>\n]*>)?\("
    + JS_ARGS + r"\)[ \t]*(?::[^{};=()]+)?\{",
)
_TYPESCRIPT = (_JS_EXPORT + r"(?:const[ \t]+)?(?:interface|type|enum|namespace|module)[ \t]+" + _JS_NAME, *_JAVASCRIPT)
_JAVA = (
    r"(?:[\w@]+[ \t]+)*?(?:class|interface|enum|record|@interface)[ \t]+(\w+)",
    HEAD + r"(\w+)[ \t]*\(" + ARGS + r"\)[^(){};=]*\{",
)
_CSHARP = (
    r"(?:[\w]+[ \t]+)*?(?:class|interface|enum|record(?:[ \t]+struct)?|struct|delegate[ \t]+[\w<>]+)[ \t]+(\w+)",
    HEAD + r"(\w+)(?:<[^<>\n]*>)?[ \t]*\(" + ARGS + r"\)(?:[^(){};=]|new\(\))*\{",
    HEAD + r"(\w+)(?:<[^<>\n]*>)?[ \t]*\(" + ARGS + r"\)[ \t]*=>",
    HEAD + r"(\w+)\s*\{\s*(?:get|set|init|private|internal|protected)\b",
)
_RUBY = (
    r"(?:(?:private|protected|public|abstract|memoize|private_class_method)[ \t]+)*def[ \t]+([^\s(;]+)",
    r"(?:(?:private|abstract)[ \t]+)*(?:class|module)[ \t]+([A-Z][\w:]*)",
)
_RUST_HEAD = r"(?:pub(?:\([^()\n]*\))?[ \t]+)?(?:(?:async|const|unsafe|extern|default)[ \t]+(?:\"[^\"\n]*\"[ \t]+)?)*"
_SQL_NAME = r"(?:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?((?:[\w.$]|\"[^\"\n]*\"|`[^`\n]*`|\[[^\]\n]*\])+)"

LANGUAGES: dict[str, Language] = {
    "python": _language(r"#[^\n]*", _any(TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE),
                        (r"(?:async[ \t]+)?def[ \t]+(\w+)", r"class[ \t]+(\w+)"), braces=False),
    "c": _language(C_COMMENTS, _any(DOUBLE, SINGLE), (_C_DEFINE,), at_margin=(_C_TYPE, _C_TYPEDEF, _C_FUNCTION, _C_OLD_FUNCTION), above=_C_ABOVE),
    "cpp": _language(C_COMMENTS, _any(r'R"(\w*)\(.*?\)(?:\2)"', DOUBLE, CHARACTER), (_C_DEFINE, _C_TYPE, _C_TYPEDEF),
                     at_margin=(_C_FUNCTION, _CPP_METHOD), above=_C_ABOVE),
    "objc": _language(C_COMMENTS, _any(DOUBLE, CHARACTER), (_C_DEFINE, r"@(?:interface|implementation|protocol)[ \t]+(\w+)", r"[-+][ \t]*\([^()\n]*\)[ \t]*(\w+)"),
                      at_margin=(_C_TYPE, _C_FUNCTION), above=_C_ABOVE),
    "tcl": _language(r"^[ \t]*#[^\n]*|(?<=;)[ \t]*#[^\n]*", DOUBLE,
                     (r"proc[ \t]+([^\s{}]+)", r"namespace[ \t]+eval[ \t]+([^\s{}]+)", r"(?:oo::class[ \t]+create|oo::define|itcl::class|snit::\w+)[ \t]+([^\s{}]+)",
                      r"(?:method|classmethod|typemethod)[ \t]+([^\s{}]+)", r"(constructor|destructor)\b", r"(?:do_\w*test|test)[ \t]+([\w.-]+)")),
    "javascript": _language(C_COMMENTS, _any(BACKTICK, DOUBLE, SINGLE), _JAVASCRIPT),
    "typescript": _language(C_COMMENTS, _any(BACKTICK, DOUBLE, SINGLE), _TYPESCRIPT),
    "go": _language(C_COMMENTS, _any(r"`[^`]*`?", DOUBLE, CHARACTER), (), at_margin=(
        r"func[ \t]+(?:\([ \t]*(?:\w+[ \t]+)?\*?[ \t]*(\w+)(?:\[[^\]\n]*\])?[ \t]*\)[ \t]*)?(\w+)", r"type[ \t]+(\w+)")),
    "rust": _language(C_COMMENTS, _any(r'r#*".*?(?:"#*|\Z)', DOUBLE, CHARACTER), (
        _RUST_HEAD + r"fn[ \t]+(\w+)", _RUST_HEAD + r"(?:struct|enum|trait|union|mod|type|macro)[ \t]+(\w+)", r"macro_rules![ \t]*(\w+)",
        r"(?:unsafe[ \t]+)?impl\b(?:<[^{;\n]*?>)?[ \t]+(?:[^{;\n]*?[ \t]for[ \t]+)?(?:&|mut[ \t]|dyn[ \t]|'\w+[ \t])*(?:\w+::)*(\w+)")),
    "java": _language(C_COMMENTS, _any(TRIPLE, DOUBLE, CHARACTER), _JAVA),
    "csharp": _language(C_COMMENTS, _any(r'@"(?:[^"]|"")*"?', DOUBLE, CHARACTER), _CSHARP),
    "kotlin": _language(C_COMMENTS, _any(TRIPLE, DOUBLE, CHARACTER), (
        r"(?:[\w@]+[ \t]+)*?fun[ \t]+(?:<[^>\n]*>[ \t]*)?(?:[\w<>?, *]+\.)?(\w+|`[^`\n]+`)[ \t]*\(", r"(?:[\w@]+[ \t]+)*?(?:class|interface|object|typealias)[ \t]+(\w+)")),
    "swift": _language(C_COMMENTS, _any(TRIPLE, DOUBLE), (
        r"(?:[\w@()]+[ \t]+)*?func[ \t]+([^\s(<]+)", r"(?:[\w@()]+[ \t]+)*?(?:class|struct|enum|protocol|extension|actor|typealias)[ \t]+([\w.]+)", r"(?:[\w@]+[ \t]+)*?(init)[?!]?[(<]")),
    "scala": _language(C_COMMENTS, _any(TRIPLE, DOUBLE, CHARACTER), (
        r"(?:[\w\[\]@]+[ \t]+)*?def[ \t]+([^\s(\[:=]+)", r"(?:[\w\[\]@]+[ \t]+)*?(?:class|object|trait|enum|given|type)[ \t]+(\w+)")),
    "groovy": _language(C_COMMENTS, _any(TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE), _JAVA),
    "dart": _language(C_COMMENTS, _any(TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE), (r"(?:[\w]+[ \t]+)*?(?:class|mixin|extension|enum|typedef)[ \t]+(\w+)", _JAVA[1])),
    "php": _language(_any(C_COMMENTS, r"#(?!\[)[^\n]*"), _any(DOUBLE, SINGLE), (
        r"(?:(?:public|private|protected|static|abstract|final)[ \t]+)*function[ \t]+&?(\w+)", r"(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait|enum)[ \t]+(\w+)"), ignore_case=True),
    "perl": _language(_any(r"^=[a-z]\w*.*?(?:^=cut[^\n]*|\Z)", HASH), _any(DOUBLE, SINGLE), (r"sub[ \t]+([\w:']+)", r"package[ \t]+([\w:]+)")),
    "shell": _language(HASH, _any(DOUBLE, SINGLE), (
        r"(?:function[ \t]+)?([\w:.-]+)[ \t]*\([ \t]*\)", r"function[ \t]+([\w:.-]+)", r'@test[ \t]+"([^"\n]*)"')),
    "awk": _language(HASH, DOUBLE, (r"func(?:tion)?[ \t]+(\w+)", r"(BEGIN|END)[ \t]*\{")),
    "powershell": _language(_any(r"<#.*?(?:#>|\Z)", r"#[^\n]*"), _any(DOUBLE, SINGLE), (r"function[ \t]+([\w:-]+)", r"class[ \t]+(\w+)"), ignore_case=True),
    "ruby": _language(_any(r"^=begin.*?(?:^=end[^\n]*|\Z)", HASH), _any(DOUBLE, SINGLE), _RUBY, braces=False),
    "crystal": _language(HASH, _any(DOUBLE, CHARACTER), (*_RUBY, r"(?:private[ \t]+)?(?:abstract[ \t]+)?(?:struct|enum|lib|annotation|macro|fun|alias|record)[ \t]+(\w+)"), braces=False, above=r"@\["),
    "elixir": _language(HASH, _any(TRIPLE, DOUBLE), (
        r"(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate)[ \t]+([\w?!]+)", r"(?:defmodule|defprotocol|defimpl)[ \t]+([\w.]+)", r"(?:test|describe)[ \t]+\"([^\"\n]*)\""), braces=False, above=r"@\w"),
    "lua": _language(_any(r"--\[(=*)\[.*?(?:\](?:\2)\]|\Z)", DASHES), _any(r"\[\[.*?(?:\]\]|\Z)", DOUBLE, SINGLE), (
        r"(?:local[ \t]+)?function[ \t]+([\w.:]+)", r"(?:local[ \t]+)?([\w.]+)[ \t]*=[ \t]*function\b"), braces=False),
    "sql": _language(_any(C_BLOCK, DASHES), _any(r"\$(\w*)\$.*?(?:\$(?:\2)\$|\Z)", r"'[^'\n]*'?"), (
        r"CREATE[ \t]+(?:OR[ \t]+REPLACE[ \t]+)?(?:(?:TEMP|TEMPORARY|UNIQUE|VIRTUAL|MATERIALIZED|GLOBAL|EXTERNAL)[ \t]+)*(?:TABLE|VIEW|INDEX|TRIGGER|FUNCTION|PROCEDURE|TYPE|SCHEMA|SEQUENCE|DOMAIN|EXTENSION)[ \t]+" + _SQL_NAME,),
        braces=False, ignore_case=True),
    "haskell": _language(_any(r"\{-.*?(?:-\}|\Z)", r"--(?![!#$%&*+./<=>?@\\^|~:])[^\n]*"), _any(DOUBLE, CHARACTER), (), at_margin=(
        r"(?:data|newtype|type|class)[ \t]+(?:family[ \t]+)?(?:[^=\n]*=>[ \t]*)?(\w+)", r"(instance[ \t]+[^\n]*?)(?:[ \t]+where)?[ \t]*$", r"([a-z_][\w']*)(?:[ \t]*,[ \t]*\w+)*\s*::", r"(?!(?:module|import|infix[lr]?|deriving|default|foreign)\b)([a-z_][\w']*)\b[^=\n:]*(?:=|\|)"), braces=False),
    "ocaml": _language(r"\(\*.*?(?:\*\)|\Z)", DOUBLE, (), at_margin=(r"(?:let|and)[ \t]+(?:rec[ \t]+)?([\w']+)", r"(?:module|type|class|exception)[ \t]+(?:type[ \t]+|rec[ \t]+|'\w+[ \t]+)*(\w+)"), braces=False),
    "clojure": _language(r";[^\n]*", r'"(?:[^"\\]|\\.)*+"?', (), at_margin=(r"\((?:def\w*|ns)-?[ \t]+(?:\^\S+[ \t]+)?([^\s()\[\]]+)",), braces=False),
    "lisp": _language(_any(r"#\|.*?(?:\|#|\Z)", r";[^\n]*"), r'"(?:[^"\\]|\\.)*+"?', (), at_margin=(r"\(def\w*[ \t]+\(?([^\s()]+)",), braces=False),
    "erlang": _language(r"%[^\n]*", DOUBLE, (), at_margin=(r"([a-z]\w*)\(",), above=r"-spec\b", braces=False),
    "julia": _language(_any(r"#=.*?(?:=#|\Z)", HASH), _any(TRIPLE, DOUBLE), (r"(?:function|macro)[ \t]+([\w.!]+)", r"(?:mutable[ \t]+)?struct[ \t]+(\w+)", r"(?:module|abstract[ \t]+type)[ \t]+(\w+)", r"([\w.]+!?)\([^()\n]*\)[ \t]*=(?!=)"), braces=False),
    "r": _language(HASH, _any(DOUBLE, SINGLE), (r"([\w.]+)[ \t]*(?:<-|=)[ \t]*function\b",)),
    "zig": _language(C_LINE, DOUBLE, (r"(?:pub[ \t]+)?(?:(?:export|extern|inline|noinline)[ \t]+)*fn[ \t]+(\w+)", r"(?:pub[ \t]+)?const[ \t]+(\w+)[ \t]*=[ \t]*(?:packed[ \t]+|extern[ \t]+)?(?:struct|enum|union|opaque|error)\b", r'test[ \t]+"([^"\n]*)"')),
    "nim": _language(r"#[^\n]*", _any(TRIPLE, DOUBLE), (r"(?:proc|func|method|iterator|template|macro)[ \t]+(\w+)",), braces=False),
    "css": _language(C_BLOCK, _any(DOUBLE, SINGLE), (r"([^\s{}@/;\\][^{};\n]*?)[ \t]*\{", r"(@[\w-]+[^{};\n]*?)[ \t]*\{"), above=r"[^{};\n]*,$"),
    "make": _language(HASH, r"(?!)", (), at_margin=(r"([\w./%$()-][\w./%$() -]*?)[ \t]*::?(?![=:])",), braces=False),
    "cmake": _language(_any(r"#\[\[.*?(?:\]\]|\Z)", r"#[^\n]*"), DOUBLE, (r"(?:function|macro)[ \t]*\([ \t]*(\w+)",), braces=False, ignore_case=True),
    "vim": _language(r'^[ \t]*"[^\n]*', SINGLE, (r"fu(?:n|nc|nct|ncti|nctio|nction)?!?[ \t]+([\w:.#<>]+)",), braces=False),
    "protobuf": _language(C_COMMENTS, DOUBLE, (r"(?:message|service|enum)[ \t]+(\w+)", r"rpc[ \t]+(\w+)")),
    "yaml": _language(HASH, _any(DOUBLE, r"(?!)"), (), at_margin=(r"([\w.$/-]+):(?=[ \t]*$)",), braces=False),
    "toml": _language(HASH, r"(?!)", (), at_margin=(r"\[{1,2}([^\]\n]+)\]",), braces=False),
    "ini": _language(r"^[;#][^\n]*", r"(?!)", (), at_margin=(r"\[([^\]\n]+)\]",), braces=False),
}
