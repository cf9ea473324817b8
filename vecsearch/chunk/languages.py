"""All languages whose definitions can be seen, by the name that a document's format has."""

from __future__ import annotations

from . import braces, indented
from .grammar import Language

#: Languages that are close enough to another one.
_LIKE = {
    "starlark": "python", "vue": "typescript", "svelte": "typescript", "gradle": "groovy", "d": "java",
    "raku": "perl", "proto": "protobuf", "scheme": "lisp", "elm": "haskell", "glsl": "c", "lex": "c",
}

LANGUAGES: dict[str, Language] = braces.LANGUAGES | indented.LANGUAGES
LANGUAGES |= {name: LANGUAGES[other] for name, other in _LIKE.items()}
