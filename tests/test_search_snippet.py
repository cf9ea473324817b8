"""The passage that is shown: where the words stand together, marked, and nothing that the browser would run."""

from __future__ import annotations

import pytest

from vecsearch.plain import plain
from vecsearch.search.inflect import forms, stem
from vecsearch.search.query import parse
from vecsearch.search.snippet import LENGTH, one_line
from vecsearch.search.snippet import snippet as on_line
from vecsearch.search.suggest import distance

FAR = "nothing of note here. " * 40


def snippet(format, readable, query, title=""):
    return on_line(one_line(format, readable, title), query)


def test_different_words_together_count_before_one_word_repeated():
    text = f"sync sync sync sync. {FAR}the sync protocol needs a password. {FAR}"
    shown = snippet("plain", text, parse("sync password protocol"))
    assert "the <mark>sync</mark> <mark>protocol</mark> needs a <mark>password</mark>" in shown
    assert shown.startswith("…") and shown.endswith("…") and len(shown.striptags()) <= LENGTH + 2


@pytest.mark.parametrize(("query", "text", "marked"), [
    ("uninstall", "while uninstalling it", "<mark>uninstalling</mark>"),
    ("component emit", "call componentEmits now", "<mark>componentEmits</mark>"),
    ("user", "the user_id column", "<mark>user_id</mark>"),
    ("cafe", "the Café here", "<mark>Café</mark>"),
    ("検索", "全文検索機能", "<mark>全文検索機能</mark>"),
    ("sync*", "a synclog table", "<mark>synclog</mark>"),
    ("the", "the end", "<mark>the</mark>"),
])
def test_forms_parts_accents_and_pairs_are_marked(query, text, marked):
    assert marked in snippet("plain", text, parse(query))


def test_headings_stand_apart_and_not_twice():
    text = "# Getting files back\n\n## Restore one file\n\n    tern restore a\n\nThe newest\nversion.\n\n## Other\n\nText"
    shown = snippet("markdown", plain("markdown", text), parse("version"), "Getting files back > Restore one file")
    assert shown == "tern restore a · The newest <mark>version</mark>. Other · Text"
    assert snippet("passages", "Only a title", parse("zz"), "Only a title") == "Only a title"
    assert snippet("python", "a = 1\n\n\nb = 2", parse("b")) == "a = 1 <mark>b</mark> = 2"


def test_nothing_of_the_text_is_markup():
    shown = snippet("plain", 'a <script>alert(1)</script> & "script" tag', parse("script"))
    assert "<script" not in shown and "&lt;<mark>script</mark>&gt;" in shown and "&amp;" in shown


def test_a_minified_line_is_cut_around_the_match():
    text = "var a=0;" * 50_000 + " initCheckout() " + "var b=1;" * 1000
    assert len(snippet("javascript", text[390_000:], parse("initCheckout"))) < 2 * LENGTH


@pytest.mark.parametrize(("word", "form"), [("uninstall", "uninstalling"), ("commit", "committed"), ("directory", "directories"),
                                            ("merge", "merging"), ("encrypted", "encrypt"), ("files", "file")])
def test_forms_by_rule(word, form):
    assert form in forms(word) and stem(word) == stem(form)


def test_names_and_short_words_have_no_forms():
    assert forms("user_id") == forms("git") == forms("größe") == []


@pytest.mark.parametrize(("a", "b", "apart"), [("extrot", "extroot", 1), ("snapshto", "snapshot", 1), ("same", "same", 0), ("abcd", "wxyz", 2)])
def test_distance(a, b, apart):
    assert distance(a, b, 1) == apart
