"""Prose: sections, titles, fences, tables; and the shape of chunks of any document."""

import pytest

from vecsearch import chunk
from vecsearch.config import default_settings
from vecsearch.types import Chunk, Document, Passage, Source

SETTINGS = default_settings()
CEILING = 2000


def document(markup, text="", title="", path="doc/x", passages=()):
    return Document(Source("doc", "0" * 64, path, ""), title, markup, text, passages)


def split(markup, text, title="", **settings):
    return chunk.split(document(markup, text, title), SETTINGS | settings)


def sections(markup, text, title=""):
    """(title, lines) of each chunk, cut so small that no sections are joined."""
    return [(piece.title, piece.lines) for piece in split(markup, text, title)]


BODY = "Words about this. " * 15  # enough not to be joined with a neighbour
LONG = "Words about this.\n" * 200

CASES = [
    ("markdown", f"# A\n{BODY}\n## B\n{BODY}\n# C\n{BODY}\n", [("A", (1, 2)), ("A > B", (3, 4)), ("A > C", (5, 6))]),
    ("markdown", f"Head\n====\n{BODY}\n\nSub\n---\n{BODY}", [("Head", (1, 3)), ("Head > Sub", (5, 7))]),
    ("markdown", f"~~~~\n# comment\n~~~~\n{BODY}\n# Real\n{BODY}\nfix #123 now", [("", (1, 4)), ("Real", (5, 7))]),
    ("markdown", f"# A\n````\n```\n# no\n````\n{BODY}\n## B\n{BODY}", [("A", (1, 6)), ("A > B", (7, 8))]),
    ("markdown", f"# A\n{BODY}\n```\n# unclosed\n{BODY}", [("A", (1, 5))]),
    ("markdown", f"# A\n{BODY}\n\n    # indented\n\n#123 is no heading\n{BODY}", [("A", (1, 7))]),
    ("markdown", f"---\ntitle: 'T'\n---\nHead\n====\n{BODY}\n\n---\n{BODY}", [("T > Head", (1, 9))]),
    ("markdown", f'<h1 id="a">A <i>b</i></h1>\n{BODY}\n## C# `f()`\n{BODY}', [("A b", (1, 2)), ("A b > C# f()", (3, 4))]),
    ("markdown", f"# A\n{BODY}\n<!--\n# no\n-->\n<pre>\n# no\n</pre>\n## B\n{BODY}", [("A", (1, 8)), ("A > B", (9, 10))]),
    ("markdown", f"{BODY}\n- - -\n{BODY}\n***\n| a |\n|---|\n", [("", (1, 6))]),
    ("wiki", f"<title>T</title>\n\n<h2>1.0 A</h2>\n{BODY}\n<h3>B</h3>\n{BODY}", [("T > 1.0 A", (1, 4)), ("T > 1.0 A > B", (5, 6))]),
    ("wiki", f"<h1>A</h1>\n{BODY}\n<verbatim>\n<h1>no</h1>\n</verbatim>\n<h1>B [x|y]\n</h1>{BODY}", [("A", (1, 5)), ("A > B [x|y]", (6, 7))]),
    ("html", f"<html><head>\n<title>T</title>\n<script>'<h1>no</h1>'</script></head>\n<body><h1>A</h1>\n{BODY}", [("T > A", (1, 5))]),
    ("rst", f"=====\nTitle\n=====\n{BODY}\n\nSub\n---\n{BODY}\n\nCode::\n\n  no\n  --\n", [("Title", (1, 4)), ("Title > Sub", (6, 13))]),
    ("asciidoc", f"= T\n{BODY}\n\n== A\n----\n== no\n----\n{BODY}\n\nBee\n---\n{BODY}", [("T", (1, 2)), ("T > A", (4, 8)), ("T > Bee", (10, 12))]),
    ("man", f'.TH LS 1\n.SH NAME\nls \\- list\n{BODY}\n.SS "Sub section"\n{BODY}', [("ls(1) > NAME", (1, 4)), ("ls(1) > NAME > Sub section", (5, 6))]),
    ("man", f".Dd May 1\n.Dt CP 1\n.Sh NAME\n{BODY}\n.Sh OPTIONS\n{BODY}", [("cp(1) > NAME", (1, 4)), ("cp(1) > OPTIONS", (5, 6))]),
    ("plain", f"Title\n=====\n{BODY}\n\n1.2. Numbered\n\n{BODY}\n\nALL CAPS:\n\n{BODY}", [("Title", (1, 3)), ("Title > 1.2. Numbered", (5, 7)), ("Title > ALL CAPS", (9, 11))]),
    ("plain", f"Not a heading.\n\n1. an item\n\n{BODY}\n10 Apples, pears.\n", [("", (1, 6))]),
]


@pytest.mark.parametrize(("markup", "text", "expected"), CASES)
def test_sections(markup, text, expected):
    assert sections(markup, text) == expected


def test_title_of_the_document_comes_first_once():
    text = f"# Install\n{BODY}\n## On Linux\n{BODY}"
    assert sections("markdown", text, "Guide") == [("Guide > Install", (1, 2)), ("Guide > Install > On Linux", (3, 4))]
    assert sections("markdown", text, "install") == [("Install", (1, 2)), ("Install > On Linux", (3, 4))]
    assert sections("markdown", text, "doc/x") == [("Install", (1, 2)), ("Install > On Linux", (3, 4))]


def test_heading_never_stands_alone():
    [first, *_] = split("markdown", f"# Manual\n\n## Options\n\n### Verbose\n\n{LONG}")
    assert first.title == "Manual > Options > Verbose" and first.text.count("Words") > 10


def test_small_neighbours_are_joined():
    text = "# Settings\n" + "".join(f"## s{i}\nShort, too short to be found alone.\n" for i in range(5)) + f"## big\n{LONG}"
    assert [piece.lines for piece in split("markdown", text)][0] == (1, 11)


def test_fence_and_table_are_kept_whole_if_they_fit():
    fence = "```\n" + "x = 1\n\n" * 180 + "```\n"
    texts = [piece.text for piece in split("markdown", f"# A\n{BODY}\n\n{fence}\n{BODY}\n{BODY}\n{BODY}")]
    assert any(fence.strip() in text for text in texts)


def test_rows_of_a_cut_table_carry_its_header():
    table = "| port | use of it |\n|---|---|\n" + "".join(f"| {i} | something |\n" for i in range(400))
    first, second, *_ = split("markdown", f"# Ports\n\n{table}")
    assert first.title == "Ports" and second.title == "Ports > port | use of it"
    assert split("markdown", "| a | b |\n|---|---|\n| port | 8080 |\n")[0].text.endswith("| port | 8080 |")


@pytest.mark.parametrize("markup", ["markdown", "wiki", "plain", "python", "json", "no such format"])
@pytest.mark.parametrize("text", ["", "   \n\t\n", "\n", "\n\n\n"])
def test_nothing_gives_nothing(markup, text):
    assert split(markup, text) == []


def test_huge_file_keeps_its_head():
    chunks = split("markdown", "# UNIQUEHEAD alignment\n" + "filler text.\n" * 200_000)
    assert chunks[0].text.startswith("# UNIQUEHEAD") and all(len(piece.text) <= CEILING for piece in chunks)


def test_one_line_of_5_megabytes():
    text = "It never ends. " * 333_333
    chunks = split("plain", text)
    assert {piece.lines for piece in chunks} == {(1, 1)} and max(len(piece.text) for piece in chunks) <= CEILING
    assert "".join(piece.text for piece in chunks) == text
    assert all(piece.text.startswith("It never") for piece in chunks)  # cut between sentences


def test_lines_stay_right_behind_an_overlong_line():
    chunks = split("plain", "x" * 9000 + "\n\nlast words")
    assert chunks[-1].lines[1] == 3 and chunks[-1].text.endswith("\nlast words")


def test_sequence_fits_two_bytes():
    chunks = split("plain", "word " * 4_000_000, **{"chunk-chars": 200})
    assert [chunks[0].seq, chunks[-1].seq, len(chunks)] == [0, 65535, 65536]
    assert chunk.cut_short(document("plain", "word " * 4_000_000), chunks).endswith("% indexed")


def test_aim_is_a_setting_and_the_ceiling_follows():
    assert max(len(piece.text) for piece in split("plain", LONG * 9, **{"chunk-chars": 4000})) > CEILING
    assert max(len(piece.text) for piece in split("plain", LONG * 9, **{"chunk-chars": 300})) <= 300 * 10 / 7


def test_data_is_capped_and_says_so():
    data = "{\n" + "".join(f'  "key{i}": "value",\n' for i in range(15_000)) + "}\n"
    chunks = split("json", data)
    assert len(chunks) == SETTINGS["max-data-chunks"] and chunks[0].lines[0] == 1
    assert chunk.cut_short(document("json", data), chunks) == "16% indexed"
    assert chunk.cut_short(document("json", data), split("json", data, **{"max-data-chunks": 9999})) == ""
    assert chunk.cut_short(document("json", "{}"), split("json", "{}")) == ""


def test_inserts_are_data_but_a_schema_is_not():
    inserts = "INSERT INTO port VALUES(8080, 'proxy of the web', 'tcp', 'somebody');\n" * 2000
    assert len(split("sql", inserts)) == 40
    assert len(split("sql", "CREATE TABLE port(number INT);\n" + inserts)) > 40


def test_passages():
    words = (Passage("first", "Ticket", "drh", 7), Passage(LONG, "", "alice", 8), Passage(" \n"))
    chunks = chunk.split(document("passages", title="Thread", passages=words), SETTINGS)
    assert chunks[0] == Chunk(0, "first", "Ticket", "", None, "drh", 7)
    assert {(piece.title, piece.user, piece.mtime, piece.lines) for piece in chunks[1:]} == {("Thread", "alice", 8, None)}
    assert len(chunks) == 4 and "\n".join(piece.text for piece in chunks[1:]) == LONG.strip()


def test_what_is_embedded_names_the_place():
    piece = Chunk(0, "## *Install*\n\nRun `make`.", "Guide > Install")
    assert chunk.embedding_text("doc/build.md", piece, "markdown") == "doc/build.md\nGuide > Install\nInstall\n\nRun make."
    code = Chunk(0, "int x(void){}", symbol="x")
    assert chunk.embedding_text("src/x.c", code, "c") == "src/x.c\nx\nint x(void){}"
    assert chunk.embedding_text(None, Chunk(0, "words"), "passages") == "words"
    assert chunk.embedding_text(None, Chunk(0, "[a]: http://x"), "markdown") == "[a]: http://x"
