"""What is embedded is words, not markup; and no string is too strange for it."""

import random
import time

import pytest

from vecsearch.plain import plain

CASES = [
    ("markdown", "# Title #\n\n## C#", "Title\n\nC#"),
    ("markdown", "Setext\n======\ntext", "Setext\n\ntext"),
    ("markdown", "*a* **b _c_** ~~d~~ ***e***", "a b c d e"),
    ("markdown", "__init__ and snake_case and _it_", "__init__ and snake_case and it"),
    ("markdown", "`__init__` `*ptr` `a<b` `List<int>` ``a`b``", "__init__ *ptr a<b List<int> a`b"),
    ("markdown", "2 * 3 * 4, f(a, *args, **kw)", "2 * 3 * 4, f(a, *args, **kw)"),
    ("markdown", "[label](http://x/a_b_(c)) [see][ref] [`code`](x)", "label see code"),
    ("markdown", "![alt text](i.png) [![badge](b.svg)](http://ci)", "alt text badge"),
    ("markdown", "see [](./wikitheory.wiki)", "see ./wikitheory.wiki"),
    ("markdown", "<https://fossil-scm.org> \\*no\\* C:\\temp", "https://fossil-scm.org *no* C:\\temp"),
    ("markdown", "<b>bold</b> &amp; List<int> a < b", "bold & List<int> a < b"),
    ("markdown", "```c\nint *p = a<b;  // [x](y)\n```", "int *p = a<b;  // [x](y)"),
    ("markdown", "~~~~\n```\n*x*\n~~~~\n*y*", "```\n*x*\ny"),
    ("markdown", "text\n\n    self.__init__(*a)\n\n*b*", "text\n\n    self.__init__(*a)\n\nb"),
    ("markdown", "| a | b |\n|---|:-:|\n| port | 8080 |", "a   b\n\nport   8080"),
    ("markdown", "> quoted\n\n---\n\n* item", "quoted\n\n* item"),
    ("markdown", "[ref]: http://x\nwords", "words"),
    ("wiki", "<h2>1.0 Foo</h2>\n<p>See [./x.wiki|CGI] and [abc123]", "1.0 Foo\n\nSee CGI and abc123"),
    ("wiki", "<verbatim>if( a<b ) [x|y] <b></verbatim>", "if( a<b ) [x|y] <b>"),
    ("wiki", "<nowiki>[a|b]</nowiki> <ul><li>one<li>two</ul>", "[a|b]\n\none\ntwo"),
    ("html", "<style>p{}</style><script>if(a<b)</script><p>One<br>two<!-- no -->", "One\ntwo"),
    ("html", "<img src=x alt='a picture'> &lt;b&gt; &#x41; &nosuch;", "a picture <b> A &nosuch;"),
    ("html", "&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
    ("html", "<table><tr><td>a</td><td>b</td></tr></table><pre>  keep\n  this</pre>", " a b\n\n  keep\n  this"),
    ("rst", "Title\n=====\n\n``__init__`` :func:`foo.bar` `link <http://x>`_ *a* **b**", "Title\n\n__init__ foo.bar link a b"),
    ("rst", ".. note:: Careful\n.. _target:\n\nCode::\n\n   x = `y`", "Careful\n\nCode:\n   x = `y`"),
    ("asciidoc", "== Head\n\n*bold* _it_ `snake_case` link:x.html[Label] <<ref,see>>", "Head\n\nbold it snake_case Label see"),
    ("asciidoc", "[source,c]\n----\nint *a;\n----", "int *a;"),
    ("man", ".TH LS 1\n.SH NAME\nls \\- list\n.B foo\n\\fIbar\\fR", "LS 1\nNAME\nls - list\nfoo\nbar"),
    ("man", ".Sh OPTIONS\n.Op Fl x Ar file", "OPTIONS\n-x file"),
    ("c", "/* *a* <b> */", "/* *a* <b> */"),
    ("plain", "*a* <b>", "*a* <b>"),
    ("passages", "*a*", "*a*"),
    ("no such format", "*a*", "*a*"),
]


@pytest.mark.parametrize(("markup", "text", "words"), CASES)
def test_words(markup, text, words):
    assert _lines(plain(markup, text)) == _lines(words)


def _lines(text):
    return [line.rstrip() for line in text.split("\n") if line.strip()]


MARKUPS = ("markdown", "wiki", "html", "rst", "asciidoc", "man")
SCRAPS = (
    "<", "[", "*", "`", "_", "&", "<!--", "```\n", "~~~\n", "[a](", "[a](b", "<a ", "<td>", "<h1>", "|-", "|\n|-|\n", "\\",
    "::\n a\n", "::\n\n", "<<a,", "link:a[", "\\f", ".B ", "<verbatim>", "<script>", "&#9", " ", "\n", "    x\n", "# ", "# a #",
    "``a", "`a`\n\n", "----\n", "**a", "_a ", "<b>", "\0", "\0" + "7\0", "\ud800", "\u2028", "word ",
)


@pytest.mark.parametrize("markup", MARKUPS)
def test_hostile_text_costs_linear_time(markup):
    """100 kB of each scrap; what is quadratic takes minutes, so that a slow machine does not matter."""
    for scrap in SCRAPS:
        start = time.process_time()
        plain(markup, scrap * (100_000 // len(scrap)))
        assert time.process_time() - start < 5, scrap


@pytest.mark.parametrize("markup", MARKUPS)
def test_any_mixture_is_accepted(markup):
    dice = random.Random(markup)
    for _ in range(300):
        text = "".join(dice.choices(SCRAPS, k=40))
        assert "word" in plain(markup, text + "\n\nword\n") or "<!--" in text or "<script>" in text
