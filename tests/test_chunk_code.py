"""Code: what becomes one chunk, what is packed, what is cut, what is lost (nothing)."""

import random
import sysconfig
import time
from pathlib import Path

import pytest

from vecsearch import chunk
from vecsearch.chunk.languages import LANGUAGES
from vecsearch.config import default_settings
from vecsearch.types import Document, Source

SETTINGS = default_settings() | {"max-data-chunks": 100_000}
CEILING = 2000


def split(language, text, **settings):
    return chunk.split(Document(Source("code", "0" * 64, "x", ""), "", language, text), SETTINGS | settings)


def shape(language, text):
    return [(piece.symbol, piece.lines) for piece in split(language, text)]


def function(name, size, indent=""):
    """A Python function of so many lines of about 25 characters."""
    return f"{indent}def {name}(self):\n" + f"{indent}    call_something(argument)\n" * (size - 1)


def test_comment_and_function_are_one_chunk():
    text = "import x\n\n\n# retries with back-off\ndef send():\n" + "\tcall_something(argument)\n" * 20
    assert shape("python", text) == [("send", (1, 25))]
    assert shape("python", "import x\n" * 40 + text)[1] == ("send", (44, 65))


def test_one_chunk_per_definition():
    text = function("a", 30) + "\n" + function("b", 40) + "\n" + function("c", 35)
    assert shape("python", text) == [("a", (1, 30)), ("b", (32, 71)), ("c", (73, 107))]


def test_small_definitions_are_packed_and_named_after_the_longest():
    text = "".join(function(f"f{i}", 3 if i == 2 else 2) for i in range(8))
    assert shape("python", text) == [("f2", (1, 17))]
    assert chunk.symbols("python", text) == [f"f{i}" for i in range(8)]


def test_large_class_is_cut_at_its_methods():
    text = "class A:\n    size = 3\n\n" + "".join(function(f"m{i}", 30, "    ") + "\n" for i in range(4))
    assert shape("python", text) == [("A.m0", (1, 33)), ("A.m1", (35, 64)), ("A.m2", (66, 95)), ("A.m3", (97, 126))]


def test_large_function_is_cut_where_code_is_shallow():
    body = "".join(f"  step({i});\n  if( a ){{\n    deeper();\n    deeper();\n  }}\n\n" for i in range(80))
    pieces = split("c", "void f(void){\n" + body + "}\n")
    assert {piece.symbol for piece in pieces} == {"f"} and len(pieces) == 4
    assert all(piece.text.startswith("  step(") for piece in pieces[1:])


def test_closing_brace_stays_with_the_last_method():
    methods = "".join(f"  m{i}(a) {{\n" + "    call(something, a, 1234567890);\n" * 52 + "  }\n" for i in range(3))
    pieces = split("javascript", "class A {\n" + methods + "}\n")
    assert pieces[-1].text.endswith("  }\n}") and pieces[-1].symbol == "A.m2"


def test_code_without_definitions_comes_in_windows():
    pieces = split("python", "".join(f"x{i} = compute({i})\n" + "\n" * (i % 7 == 6) for i in range(300)))
    assert {piece.symbol for piece in pieces} == {""}
    assert all(piece.text.startswith("x") and 700 < len(piece.text) < CEILING for piece in pieces)


def test_symbols_are_qualified_as_far_as_the_piece_shows():
    assert chunk.symbols("python", "class A:\n    def f(self): pass\n") == ["A", "A.f"]
    assert chunk.symbols("python", "    def f(self): pass\n") == ["f"]
    assert chunk.symbols("go", "func (s *Server) Start() {\n}\n") == ["Server.Start"]
    assert chunk.symbols("json", '{"a": 1}') == []


def test_minified_bundle():
    text = "var a=function(b){return b+1};" * 15_000 + "function initCheckout(){}" + "var a=function(b){return b+1};" * 15_000
    start = time.process_time()
    pieces = split("javascript", text)
    assert time.process_time() - start < 5  # measured: 0.1 s
    assert max(len(piece.text) for piece in pieces) <= CEILING and {piece.lines for piece in pieces} == {(1, 1)}
    assert sum("initCheckout" in piece.text for piece in pieces) == 1
    assert len(split("javascript", text, **{"max-data-chunks": 40})) == 40


# -- nothing is lost ---------------------------------------------------------------------------------

MARKUPS = ("markdown", "wiki", "html", "rst", "asciidoc", "man", "plain")
FORMATS = (*MARKUPS, *LANGUAGES, "json", "no such format")
LINES = (
    "", "", "", "word word word.", "# Title", "Title", "=====", "-----", "```", "~~~", "<h1>T</h1>", "<pre>", "</pre>", "<!--", "-->",
    "| a | b |", "|---|---|", "    code", "\tcode", "== T", "----", ".SH X", "Code::", "1. Item", "def f(a):", "class A {", "class B:",
    "int f(int a)", "{", "  {", "}", "  }", "});", "/*", "*/", '"""', "end", "function g() {", "x = (", ")", "@decorator(", "#if A",
    "#define X \\", "CREATE TABLE x(", "proc p {} {", "---", "x" * 2500, "word " * 700, "\u2028", "\x0c", "  ", "\ufeff",
)


def assert_nothing_lost(language, text):
    """Chunks are verbatim, in order, within the ceiling, and hold all that is not blank."""
    pieces = split(language, text)
    lines = text.split("\n")
    for number, piece in enumerate(pieces):
        first, last = piece.lines
        assert piece.seq == number and 0 < len(piece.text) <= CEILING and piece.text.strip()
        whole = "\n".join(lines[first - 1 : last])
        assert piece.text == whole or (piece.text in whole and max(map(len, lines[first - 1 : last])) >= CEILING)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(text.split())
    assert [piece.lines[0] for piece in pieces] == sorted(piece.lines[0] for piece in pieces)


@pytest.mark.parametrize("language", FORMATS)
def test_nothing_of_random_text_is_lost(language):
    dice = random.Random(language)
    for _ in range(15):
        assert_nothing_lost(language, "\n".join(dice.choices(LINES, k=dice.randrange(1, 200))))


def files(folder, pattern, most):
    found = sorted(path for path in Path(folder).glob(pattern) if path.is_file() and path.stat().st_size < 300_000)
    return found[:: max(1, len(found) // most)]


REAL = {
    "python": files(sysconfig.get_path("stdlib"), "*.py", 60),
    "c": files(sysconfig.get_path("include"), "**/*.h", 30),
    "plain": files("/usr/share/doc", "**/copyright", 30),
    "markdown": files(Path(__file__).parents[1], "**/*.md", 30),
}


@pytest.mark.parametrize("language", REAL)
def test_nothing_of_real_files_is_lost(language):
    for path in REAL[language]:
        assert_nothing_lost(language, path.read_text("utf-8", "replace").replace("\r\n", "\n").replace("\0", " "))


def test_real_code_is_well_packed():
    """Chunks of real code are neither crumbs nor only as large as they may be."""
    sizes = [len(piece.text) for path in REAL["python"] for piece in split("python", path.read_text("utf-8", "replace"))]
    assert 800 < sum(sizes) / len(sizes) < 1500
    assert sum(size < 100 for size in sizes) < 0.02 * len(sizes)


@pytest.mark.parametrize("scrap", [
    "<", "[", "*", "{\n", "}\n", "f(\n", "f(a\n", "def f():\n", "class A {\n", "/*", '"', '"""\n', "`", "\\\n", "@a\n", "enum\n", "a,\n",
    "x ::\n", "impl<", "const x = (a\n", "async ", "template<", "typedef ", "# \n", "a::\n", "====\n", "|-", "[a](", "<h1>", ".SH\n", " ",
])
def test_hostile_text_costs_linear_time(scrap):
    """20 kB of each scrap in the formats that have most patterns; what is quadratic takes far longer."""
    text = scrap * (20_000 // len(scrap))
    for language in ("cpp", "typescript", "csharp", "rust", "haskell", "python", "sql", "markdown", "html", "rst"):
        start = time.process_time()
        split(language, text)
        assert time.process_time() - start < 3, language
