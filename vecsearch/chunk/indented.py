"""Languages whose bodies end where the indentation does, with or without an `end`. How to read a
row: grammar.py."""

from __future__ import annotations

from .grammar import C_COMMENT, CHARACTER, DASHES, DOUBLE, HASH, SINGLE, TRIPLE, TRIPLE_SINGLE, Language
from .grammar import language as _row


def language(comments: str, strings: tuple[str, ...], *definitions: str, body: str = "indent", **more) -> Language:
    return _row(comments, strings, *definitions, body=body, **more)


_RUBY = (
    r"(?:(?:private|protected|public|abstract|memoize|private_class_method) )*def ([^\s(;]+)",
    r"(?:(?:private|abstract) )*(?:class|module) ([A-Z][\w:]*)",
)
_SQL_NAME = r"(?:IF NOT EXISTS )?((?:[\w.$]|\"[^\"\n]*\"|`[^`\n]*`|\[[^\]\n]*\])+)"
_SQL_KINDS = "TABLE|VIEW|INDEX|TRIGGER|FUNCTION|PROCEDURE|TYPE|SCHEMA|SEQUENCE|DOMAIN|EXTENSION"
_LISP_STRING = r'"(?:[^"\\]|\\.)*+"?'

LANGUAGES: dict[str, Language] = {
    "python": language(r"#[^\n]*", (TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE), r"(?:async )?def (\w+)", r"class (\w+)"),
    "ruby": language(r"^=begin.*?(?:^=end[^\n]*|\Z)|" + HASH, (DOUBLE, SINGLE), *_RUBY),
    "crystal": language(
        HASH, (DOUBLE, CHARACTER), *_RUBY,
        r"(?:private )?(?:abstract )?(?:struct|enum|lib|annotation|macro|fun|alias|record) (\w+)",
    ),
    "elixir": language(
        HASH, (TRIPLE, DOUBLE),
        r"(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate) ([\w?!]+)",
        r"(?:defmodule|defprotocol|defimpl) ([\w.]+)", r'(?:test|describe) "([^"\n]*)"',
    ),
    "lua": language(
        r"--\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z)|" + DASHES, (r"\[\[.*?(?:\]\]|\Z)", DOUBLE, SINGLE),
        r"(?:local )?function ([\w.:]+)", r"(?:local )?([\w.]+) ?= ?function\b",
    ),
    "sql": language(
        r"/\*.*?(?:\*/|\Z)|" + DASHES, (r"\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)", r"'[^'\n]*'?"),
        r"CREATE (?:OR REPLACE )?(?:(?:TEMP|TEMPORARY|UNIQUE|VIRTUAL|MATERIALIZED|GLOBAL|EXTERNAL) )*(?:"
        + _SQL_KINDS + ") " + _SQL_NAME, ignore_case=True,
    ),
    "haskell": language(
        r"\{-.*?(?:-\}|\Z)|--(?![!#$%&*+./<=>?@\\^|~:])[^\n]*", (DOUBLE, CHARACTER),
        at_margin=(
            r"(?:data|newtype|type|class) (?:family )?(?:[^=\n]*=> ?)?(\w+)", r"(instance [^\n]*?)(?: where)? ?$",
            r"([a-z_][\w']*)(?: ?, ?\w+)*\s*::",
            r"(?!(?:module|import|infix[lr]?|deriving|default|foreign)\b)([a-z_][\w']*)\b[^=\n:]*(?:=|\|)",
        ),
    ),
    "ocaml": language(
        r"\(\*.*?(?:\*\)|\Z)", (DOUBLE,),
        at_margin=(r"(?:let|and) (?:rec )?([\w']+)", r"(?:module|type|class|exception) (?:type |rec |'\w+ )*(\w+)"),
    ),
    "fsharp": language(
        r"\(\*(?!\)).*?(?:\*\)|\Z)|//[^\n]*", (TRIPLE, DOUBLE),
        r"(?:let|and) (?:inline |rec |private |mutable )*(\w+)", r"(?:module|type) (?:private |internal |rec )*([\w.]+)",
        r"(?:static )?(?:member|override|abstract) (?:\w+\.)?(\w+)",
    ),
    "clojure": language(r";[^\n]*", (_LISP_STRING,), at_margin=(r"\((?:def\w*|ns)-? (?:\^\S+ )?([^\s()\[\]]+)",)),
    "lisp": language(r"#\|.*?(?:\|#|\Z)|;[^\n]*", (_LISP_STRING,), at_margin=(r"\(def[\w-]* \(?([^\s()]+)",)),
    "erlang": language(r"%[^\n]*", (DOUBLE,), at_margin=(r"([a-z]\w*)\(",), above=r"-spec\b"),
    "julia": language(
        r"#=.*?(?:=#|\Z)|" + HASH, (TRIPLE, DOUBLE), r"(?:function|macro) ([\w.!]+)", r"(?:mutable )?struct (\w+)",
        r"(?:module|abstract type) (\w+)", r"([\w.]+!?)\([^()\n]*\) ?=(?!=)",
    ),
    "nim": language(r"#[^\n]*", (TRIPLE, DOUBLE), r"(?:proc|func|method|iterator|template|macro) (\w+)"),
    "pascal": language(
        r"\{.*?(?:\}|\Z)|\(\*.*?(?:\*\)|\Z)|//[^\n]*", (r"'[^'\n]*'?",),
        r"(?:class )?(?:procedure|function|constructor|destructor) ([\w.]+)", ignore_case=True,
    ),
    "fortran": language(
        r"![^\n]*", (DOUBLE, SINGLE),
        r"(?:(?:pure|elemental|recursive|integer|real|logical) )*(?:subroutine|function|module|program) (\w+)",
        ignore_case=True,
    ),
    "vb": language(
        r"'[^\n]*", (DOUBLE,),
        r"(?:(?:public|private|friend|shared|static|overrides) )*"
        r"(?:sub|function|property|class|module|structure) (\w+)",
        ignore_case=True,
    ),
    "lemon": language(C_COMMENT, (DOUBLE, CHARACTER), at_margin=(r"(\w+)(?:\(\w+\))? ?::=",)),
    "make": language(HASH, (), at_margin=(r"([\w./%$()-][\w./%$() -]*?) ?::?(?![=:])",)),
    "cmake": language(r"#\[\[.*?(?:\]\]|\Z)|#[^\n]*", (DOUBLE,), r"(?:function|macro) ?\( ?(\w+)", ignore_case=True),
    "vim": language(r'^[ \t]*"[^\n]*', (SINGLE,), r"fu(?:n|nc|nct|ncti|nctio|nction)?!? ([\w:.#<>]+)"),
    "fish": language(HASH, (DOUBLE, SINGLE), r"function ([\w:.-]+)"),
    "yaml": language(HASH, (DOUBLE,), body="next", at_margin=(r"([\w.$/-]+):(?= ?$)",)),
    "toml": language(HASH, (), body="next", at_margin=(r"\[{1,2}([^\]\n]+)\]",)),
    "ini": language(r"^[;#][^\n]*", (), body="next", at_margin=(r"\[([^\]\n]+)\]",)),
}
