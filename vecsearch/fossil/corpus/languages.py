"""Which files are code, and in which language: by ending, by whole name, by the `#!` line. Pure."""

from __future__ import annotations

_ENDINGS = """
python py pyw pyi pyx
c c h
cpp cc cpp cxx c++ hh hpp hxx h++ inl ipp tcc cu cuh
tcl tcl tk tm th1 test
javascript js mjs cjs jsx es6
typescript ts tsx mts cts
go go
rust rs
java java
ruby rb rake gemspec ru
crystal cr
php php php3 php5 phtml inc
shell sh bash zsh ksh dash bats
fish fish
sql sql ddl pgsql psql
lua lua
csharp cs csx
kotlin kt kts
swift swift
scala scala sc sbt
haskell hs lhs
elixir ex exs
zig zig
perl pl pm pod
raku raku rakumod p6
r r
julia jl
dart dart
clojure clj cljs cljc edn
erlang erl hrl
ocaml ml mli mll mly
fsharp fs fsi fsx
vb vb vbs bas
pascal pas pp dpr lpr
fortran f f77 f90 f95 f03 f08 for
asm s asm nasm
make mk mak
cmake cmake
css css scss sass less styl
html-template tmpl tpl j2 jinja jinja2 erb ejs hbs mustache haml slim pug
yaml yaml yml
toml toml
json json json5 jsonc jsonl ndjson geojson
xml xml xsd xsl xslt svg plist wsdl csproj vcxproj
ini ini cfg conf properties editorconfig
dockerfile dockerfile
nix nix
proto proto
graphql graphql gql
vue vue
svelte svelte
elm elm
nim nim nims
d d
ada adb ads
lisp lisp lsp el cl
scheme scm ss rkt
vhdl vhd vhdl
verilog v sv svh vh
awk awk
sed sed
batch bat cmd
powershell ps1 psm1 psd1
groovy groovy gvy
gradle gradle
objc m mm
solidity sol
terraform tf hcl tfvars
lemon y yy
lex l ll
glsl glsl vert frag hlsl wgsl metal
pikchr pikchr
prolog pro
smalltalk st
matlab mlx
coffeescript coffee
gettext po pot
diff diff patch
starlark bzl star
meson meson
apl apl
cobol cob cbl
""".split("\n")

#: Ending (lower case, without its dot) to language.
BY_ENDING = {ending: words[0] for words in map(str.split, _ENDINGS) if words for ending in words[1:]}

#: Names that say it without an ending, in lower case.
BY_NAME = {
    "makefile": "make", "gnumakefile": "make", "bsdmakefile": "make", "makefile.in": "make", "makefile.am": "make",
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "cmakelists.txt": "cmake", "meson.build": "meson",
    "rakefile": "ruby", "gemfile": "ruby", "podfile": "ruby", "vagrantfile": "ruby", "jenkinsfile": "groovy",
    "configure": "shell", "configure.ac": "shell", "configure.in": "shell", ".profile": "shell", ".bashrc": "shell",
    "build.bazel": "starlark", "sconstruct": "python", "wscript": "python",
    "justfile": "make", ".editorconfig": "ini", ".gitconfig": "ini", "procfile": "yaml",
}

#: Programs that a `#!` line names.
_INTERPRETERS = {
    "python": "python", "pypy": "python", "sh": "shell", "bash": "shell", "dash": "shell", "ksh": "shell", "zsh": "shell",
    "fish": "fish", "perl": "perl", "ruby": "ruby", "node": "javascript", "nodejs": "javascript", "deno": "typescript",
    "bun": "typescript", "php": "php", "lua": "lua", "luajit": "lua", "tclsh": "tcl", "wish": "tcl", "jimsh": "tcl",
    "expect": "tcl", "awk": "awk", "gawk": "awk", "sed": "sed", "make": "make", "Rscript": "r", "julia": "julia",
    "crystal": "crystal", "elixir": "elixir", "escript": "erlang", "groovy": "groovy", "scala": "scala", "swift": "swift",
    "pwsh": "powershell", "osascript": "applescript", "guile": "scheme", "racket": "scheme", "sbcl": "lisp", "ocaml": "ocaml",
    "runghc": "haskell", "runhaskell": "haskell", "nix": "nix", "dart": "dart",
}


def language(path: str) -> str:
    """The language of a file by its name; "" if the name does not say."""
    name = path.rpartition("/")[2].lower()
    if name in BY_NAME:
        return BY_NAME[name]
    stem, _, ending = name.removesuffix(".in").rpartition(".")
    if not stem:
        return ""
    # Dockerfile.dev, Makefile.linux: the first word counts where the ending says nothing.
    return BY_ENDING.get(ending) or BY_NAME.get(stem.partition(".")[0], "")


def shebang_language(content: bytes) -> str:
    """The language that the `#!` line names; "" if there is none."""
    first = content[:200].split(b"\n", 1)[0].decode("latin-1")
    words = [word.rpartition("/")[2] for word in first.removeprefix("#!").split() if not word.startswith("-") and "=" not in word]
    if not first.startswith("#!") or not words:
        return ""
    program = words[1] if words[0] == "env" and len(words) > 1 else words[0]
    return _INTERPRETERS.get(program.rstrip("0123456789."), "")
