"""Languages whose bodies stand in braces. How to read a row: grammar.py."""

from __future__ import annotations

from .grammar import ARGUMENTS, BACKTICKS, C_COMMENT, CHARACTER, DOUBLE, HASH, NO_CONTROL, SINGLE
from .grammar import TRIPLE, TRIPLE_SINGLE, TYPES, Language, language

# C. A body follows its header directly, or (before 1989) declarations of the parameters, or (C++)
# initialisers. The type may stand on the line above the name: see _C_ABOVE.
_C_BODY = r"(?:[^(){};=:]|::)*+(?::[^{};]{0,1000}+)?\{"
_C_TYPE = (
    r"(?:typedef )?(?:struct|union|enum(?: class)?|class)\b ?(?:\[\[[^\]\n]*\]\] ?)?(?:[A-Z_]+ )?(\w*)"
    r"(?=[^;(){}=]{0,300}+\{)"
)
_C_TYPEDEF = r"typedef\b[^;{}\n]*?\b(\w+) ?;"
_C_DEFINE = r"# ?define (\w+)"
_C_NAME = NO_CONTROL + r"(?:[A-Za-z_][\w \t*&:<>,]*?[ \t*&])??(~?[A-Za-z_]\w*(?:(?:<[^<>(){};\n]*>)?::~?\w+)*) ?"
_C_FUNCTION = _C_NAME + r"\(" + ARGUMENTS + r"\)" + _C_BODY
_C_OLD_FUNCTION = _C_NAME + r"\([\w, \t\n]*+\) ?\n(?: ?[A-Za-z_][\w \t*,\[\]]*+; ?\n)+\{"
_CPP_METHOD = (
    r" " + NO_CONTROL + r"(?:(?:[\w<>,:*&~]+ )+?[*&]*(~?\w+|operator[^\s(]+)|(?:explicit )?(~?[A-Z]\w*)) ?\("
    + ARGUMENTS + r"\)" + _C_BODY
)
_C_ABOVE = r"template\b|@\w|\[\[|[A-Za-z_][\w \t*]*$"
_C_STRINGS = (DOUBLE, CHARACTER)

# JavaScript. A value that defines something is a function, an arrow or a class.
_JS_ARGUMENTS = r"(?:[^(){};]++|\([^(){};]*+\)|\{[^(){}]*+\})*+"
_JS_EXPORT = r"(?:export )?(?:default )?(?:declare )?(?:abstract )?"
_JS_VALUE = (
    r"(?:async ?)?(?:function\b|class\b|(?:<[^<>\n]*>)?\(" + _JS_ARGUMENTS + r"\)[^=;(){}\n]*=>|[\w$]+ ?=>)"
)
_JAVASCRIPT = (
    _JS_EXPORT + r"(?:async )?function\b ?\*? ?([\w$]+)",
    _JS_EXPORT + r"class ([\w$]+)",
    r"(?:export )?(?:const|let|var) ([\w$]+) ?(?::[^=\n]+)?=\s*" + _JS_VALUE,
    r"export (default) (?:async )?(?:function\b|class\b|\{|\w+\()",
    r"(?:module\.)?exports(?:\.([\w$]+))? ?= ?(?:" + _JS_VALUE + r"|\{)",
    r"([\w$]++(?:\.(?!prototype\b)[\w$]++)*)\.prototype\.([\w$]++) ?= ?" + _JS_VALUE,
    r"([A-Za-z_$][\w$]*+(?:\.[\w$]++)++) ?= ?" + _JS_VALUE,
    r"([\w$]++) ?: ?" + _JS_VALUE,
    NO_CONTROL + r"(?:(?:static|async|get|set|public|private|protected|readonly|override) |\* ?)*(#?[\w$]++) ?"
    + r"(?:<[^<>\n]*>)?\(" + _JS_ARGUMENTS + r"\) ?(?::[^{};=()]+)?\{",
)
_JS_STRINGS = (BACKTICKS, DOUBLE, SINGLE)

_METHOD = TYPES + r"(\w+)(?:<[^<>\n]*>)? ?\(" + ARGUMENTS + r"\)"
_JAVA = (
    r"(?:[\w@]+ )*?(?:class|interface|enum|record|@interface) (\w+)",
    _METHOD + r"[^(){};=]*\{",
)
_RUST_PUB = r"(?:pub(?:\([^()\n]*\))? )?(?:(?:async|const|unsafe|extern|default) (?:\"[^\"\n]*\" )?)*"

LANGUAGES: dict[str, Language] = {
    "c": language(
        C_COMMENT, (DOUBLE, SINGLE), _C_DEFINE,
        at_margin=(_C_TYPE, _C_TYPEDEF, _C_FUNCTION, _C_OLD_FUNCTION), above=_C_ABOVE,
    ),
    "cpp": language(
        C_COMMENT, (r'R"(?P<raw>\w*)\(.*?\)(?P=raw)"', *_C_STRINGS), _C_DEFINE, _C_TYPE, _C_TYPEDEF,
        at_margin=(_C_FUNCTION, _CPP_METHOD), above=_C_ABOVE,
    ),
    "objc": language(
        C_COMMENT, _C_STRINGS, _C_DEFINE, r"@(?:interface|implementation|protocol) (\w+)", r"[-+] ?\([^()\n]*\) ?(\w+)",
        at_margin=(_C_TYPE, _C_FUNCTION), above=_C_ABOVE,
    ),
    "tcl": language(
        r"^[ \t]*#[^\n]*|(?<=;)[ \t]*#[^\n]*", (DOUBLE,),
        r"proc ([^\s{}]+)", r"namespace eval ([^\s{}]+)",
        r"(?:oo::class create|oo::define|itcl::class|snit::\w+) ([^\s{}]+)",
        r"(?:method|classmethod|typemethod) ([^\s{}]+)", r"(constructor|destructor)\b", r"(?:do_\w*test|test) ([\w.-]+)",
    ),
    "javascript": language(C_COMMENT, _JS_STRINGS, *_JAVASCRIPT),
    "typescript": language(
        C_COMMENT, _JS_STRINGS, _JS_EXPORT + r"(?:const )?(?:interface|type|enum|namespace|module) ([\w$]+)", *_JAVASCRIPT,
    ),
    "go": language(
        C_COMMENT, (r"`[^`]*`?", DOUBLE, CHARACTER),
        at_margin=(r"func (?:\( ?(?:\w+ )?\*? ?(\w+)(?:\[[^\]\n]*\])? ?\) ?)?(\w+)", r"type (\w+)"),
    ),
    "rust": language(
        C_COMMENT, (r'r#*".*?(?:"#*|\Z)', DOUBLE, CHARACTER),
        _RUST_PUB + r"fn (\w+)", _RUST_PUB + r"(?:struct|enum|trait|union|mod|type|macro) (\w+)", r"macro_rules! ?(\w+)",
        r"(?:unsafe )?impl\b(?:<[^{;\n]*?>)? (?:[^{;\n]*?[ \t]for )?(?:&|mut[ \t]|dyn[ \t]|'\w+[ \t])*(?:\w+::)*(\w+)",
    ),
    "java": language(C_COMMENT, (TRIPLE, DOUBLE, CHARACTER), *_JAVA),
    "groovy": language(C_COMMENT, (TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE), *_JAVA),
    "dart": language(
        C_COMMENT, (TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE),
        r"(?:\w+ )*?(?:class|mixin|extension|enum|typedef) (\w+)", _METHOD + r"[^(){};=]*\{",
    ),
    "csharp": language(
        C_COMMENT, (r'\$?@"(?:[^"]|"")*"?', TRIPLE, DOUBLE, CHARACTER),
        r"(?:\w+ )*?(?:class|interface|enum|record(?: struct)?|struct|delegate [\w<>]+) (\w+)",
        _METHOD + r"(?:[^(){};=]|new\(\))*\{", _METHOD + r" ?=>",
        TYPES + r"(\w+)\s*\{\s*(?:get|set|init|private|internal|protected)\b",
    ),
    "kotlin": language(
        C_COMMENT, (TRIPLE, DOUBLE, CHARACTER),
        r"(?:[\w@]+ )*?fun (?:<[^>\n]*> ?)?(?:[\w<>?, *]+\.)?(\w+|`[^`\n]+`) ?\(",
        r"(?:[\w@]+ )*?(?:class|interface|object|typealias) (\w+)",
    ),
    "swift": language(
        C_COMMENT, (TRIPLE, DOUBLE),
        r"(?:[\w@()]+ )*?func ([^\s(<]+)",
        r"(?:[\w@()]+ )*?(?:class|struct|enum|protocol|extension|actor|typealias) ([\w.]+)",
        r"(?:[\w@]+ )*?(init)[?!]?[(<]",
    ),
    "scala": language(
        C_COMMENT, (TRIPLE, DOUBLE, CHARACTER),
        r"(?:[\w\[\]@]+ )*?def ([^\s(\[:=]+)", r"(?:[\w\[\]@]+ )*?(?:class|object|trait|enum|given|type) (\w+)",
    ),
    "php": language(
        C_COMMENT + r"|#(?!\[)[^\n]*", (DOUBLE, SINGLE),
        r"(?:(?:public|private|protected|static|abstract|final) )*function &?(\w+)",
        r"(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) (\w+)", ignore_case=True,
    ),
    "perl": language(
        r"^=[a-z]\w*.*?(?:^=cut[^\n]*|\Z)|" + HASH, (DOUBLE, SINGLE),
        r"(?:sub|method) ([\w:']+)", r"(?:package|class) ([\w:]+)",
    ),
    "shell": language(
        HASH, (DOUBLE, SINGLE),
        r"(?:function )?([\w:.-]+) ?\( ?\)", r"function ([\w:.-]+)", r'@test "([^"\n]*)"',
    ),
    "awk": language(HASH, (DOUBLE,), r"func(?:tion)? (\w+)", r"(BEGIN|END) ?\{"),
    "powershell": language(
        r"<#.*?(?:#>|\Z)|#[^\n]*", (DOUBLE, SINGLE), r"function ([\w:-]+)", r"class (\w+)", ignore_case=True,
    ),
    "r": language(HASH, (DOUBLE, SINGLE), r"([\w.]+) ?(?:<-|=) ?function\b"),
    "zig": language(
        r"//[^\n]*", (DOUBLE,), r"(?:pub )?(?:(?:export|extern|inline|noinline) )*fn (\w+)", r'test "([^"\n]*)"',
        r"(?:pub )?const (\w+) ?= ?(?:packed |extern )?(?:struct|enum|union|opaque|error)\b",
    ),
    "css": language(
        r"/\*.*?(?:\*/|\Z)", (DOUBLE, SINGLE),
        r"([^\s{}@/;\\][^{};\n]*?) ?\{", r"(@[\w-]+[^{};\n]*?) ?\{", above=r"[^{};\n]*,$",
    ),
    "protobuf": language(C_COMMENT, (DOUBLE,), r"(?:message|service|enum) (\w+)", r"rpc (\w+)"),
    "graphql": language(HASH, (TRIPLE, DOUBLE), r"(?:type|input|interface|enum|union|query|mutation|fragment) (\w+)"),
    "terraform": language(
        HASH + "|" + C_COMMENT, (DOUBLE,),
        at_margin=(r'(?:resource|data) "([^"\n]*)" "([^"\n]*)"', r'(?:variable|output|module) "([^"\n]*)"'),
    ),
    "solidity": language(
        C_COMMENT, (DOUBLE, SINGLE),
        r"(?:abstract )?(?:contract|interface|library|struct|enum|event|modifier|function) (\w+)",
    ),
}
