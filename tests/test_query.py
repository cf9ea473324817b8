"""The query language: whatever is typed means something, and nothing typed is an error."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from vecsearch.errors import UsageError
from vecsearch.search.fuse import add_ranks, best_of, ranked
from vecsearch.search.lexical import unwanted, words_of
from vecsearch.search.query import MAX_CHARS, MAX_TERMS, Query, clean, known_kind, parse, whole_number

JAN_2024 = 1704067200  # date -u -d 2024-01-01 +%s


@pytest.mark.parametrize(("typed", "expected"), [
    ("clone a repository", Query(text="clone a repository", terms=("clone", "a", "repository"))),
    ('"exact phrase" rest', Query(text="exact phrase rest", terms=("rest",), phrases=("exact phrase",))),
    ("merge -branch", Query(text="merge", terms=("merge",), excluded=("branch",))),
    ("-branch", Query(text="branch", terms=("branch",))),
    ("sync*", Query(text="sync", prefixes=("sync",))),
    ("kind:doc,wiki x", Query(text="x", terms=("x",), kinds=frozenset({"doc", "wiki"}))),
    ("kind:nonsense x", Query(text="kind:nonsense x", terms=("kind:nonsense", "x"))),
    ("foo:bar", Query(text="foo:bar", terms=("foo:bar",))),
    ("c:\\temp", Query(text="c:\\temp", terms=("c:\\temp",))),
    ("path:src/*.c user:drh x", Query(text="x", terms=("x",), paths=("src/*.c",), user="drh")),
    ("after:2024 x", Query(text="x", terms=("x",), after=JAN_2024)),
    ("before:2024-13-45 x", Query(text="before:2024-13-45 x", terms=("before:2024-13-45", "x"))),
    ("x in:title", Query(text="x", terms=("x",), in_title=True)),
    ('"unbalanced', Query(text='"unbalanced', terms=('"unbalanced',))),
    ("project:", Query(text="project:", terms=("project:",))),
    ("--flag", Query(text="--flag", terms=("--flag",))),
    ("", Query()),
])
def test_parse(typed, expected):
    assert parse(typed) == expected


def test_what_is_cut_is_said():
    assert parse("word " * 10000).cut and len(parse("word " * 10000).terms) <= MAX_TERMS
    assert not parse("x" * MAX_CHARS).cut and parse("x" * (MAX_CHARS + 1)).cut


@pytest.mark.parametrize(("typed", "cleaned"), [
    ("a\u0000b", "ab"), ("re\u200bbase", "rebase"), ("\udcff\ud83d", ""), ("שלום", "שלום"), ("a\u202eb", "ab"), (" a \n b ", "a b"),
])
def test_clean(typed, cleaned):
    assert clean(typed) == cleaned


@pytest.mark.parametrize("typed", [
    '"unbalanced', "AND", "NOT NEAR(", "a AND", "*", "-", "foo:bar", "c:\\temp", "backoffice-nodelay", "38.101", "don't", "(",
    "^x", "{a b}: c", "%", "_", 'a"b', "''", "title : x", "a + b", "NEAR(a b, 3)", "🔥", "検索", 'x"*', "-*", '""', "in:title",
    "a OR", "\\", "a\u0000b", "--", "C++", "a::b", '"', '-"', "* *", "x -", "-x -y", 'x -"', "in:title -x", "^", "٣",
])
def test_every_expression_is_valid_fts5(typed):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(title, path, symbol, body, parts, tokenize=\"unicode61 tokenchars '_-'\")")
    query = parse(typed)
    expressions = [text for word in words_of(query) for text in (word.expression, word.forms, f"title : ({word.forms})")]
    for expression in filter(None, [*expressions, unwanted(query)]):
        db.execute("SELECT 1 FROM t WHERE t MATCH ?", (expression,)).fetchall()
    db.close()


@pytest.mark.parametrize("text", ["-1", "0", "101", "abc", "1e3", "", " 5", "٣", "99999999999"])
def test_k_out_of_range_names_the_range(text):
    with pytest.raises(UsageError, match="from 1 to 100"):
        whole_number("k", text, 1, 100)


def test_unknown_kind_lists_the_kinds():
    with pytest.raises(UsageError, match='no kind "docs"; kinds are: api, checkin, code, doc'):
        known_kind("docs")


def test_ranks_are_of_positive_scores_and_ties_keep_their_order():
    scores = np.array([0.0, 0.6, 1.0, 0.6, -1.0, 0.6])
    assert ranked(scores, 10).tolist() == [2, 1, 3, 5]
    assert ranked(scores, 2).tolist() == [2, 1]
    assert ranked(scores[:1], 3).tolist() == []


@pytest.mark.parametrize("seed", range(6))
def test_of_many_scores_the_same_are_best(seed):
    """Of thousands most are not looked at one by one; many are equal."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(-1, 1, 9000 + seed), 1 + seed % 2).astype(np.float32)
    by_hand = sorted(np.flatnonzero(scores > 0).tolist(), key=lambda at: (-scores[at], at))
    for depth in (1, 25, 50, 139, 5000):
        assert ranked(scores, depth).tolist() == by_hand[:depth]


def test_fusion_by_hand():
    # k = 60: 1/61 + 1/62 for the first; 1/61 for the second, 1/62 for the third.
    fused = np.zeros(3)
    add_ranks(fused, ranked(np.array([0.9, 0.0, 0.5]), 50), 1.0, 60)
    assert fused == pytest.approx([1 / 61, 0, 1 / 62])
    add_ranks(fused, ranked(np.array([2.0, 3.0, 0.0]), 50), 1.0, 60)
    assert fused == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])


def test_best_of_each_artifact():
    assert best_of(np.array([0, 3, 4]), np.array([1.0, 5.0, 2.0, 3.0])).tolist() == [5.0, 3.0]


@pytest.mark.parametrize(("typed", "said"), [
    ("kind:nosuch x", ['"kind:nosuch" is no filter and was searched as words: kinds are api, checkin, code, doc, forum, instruction, media, '
                       "technote, ticket, wiki"]),
    ("before:yesterdayish x", ['"before:yesterdayish" is no filter and was searched as words: a date is YYYY, YYYY-MM or YYYY-MM-DD']),
    ("in:body x", ['"in:body" is no filter and was searched as words: there is only in:title']),
    ("path: x", ['"path:" is no filter and was searched as words: a path follows the colon at once']),
    ("word " * 3000, ["the query was too long; its beginning was searched"]),
    ('foo:bar c:\\temp a::b "kind:x y" kind:doc after:2024 in:title path:src user:ann project:p', []),
])
def test_what_looks_like_a_filter_and_is_none_is_said(typed, said):
    assert list(parse(typed).notes) == said
