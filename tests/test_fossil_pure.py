"""Parsers and links without a repository: cards, languages, addresses."""

from __future__ import annotations

import hashlib

import pytest

from vecsearch.fossil import links, manifest
from vecsearch.fossil.corpus.languages import language, shebang_language


def sealed(text: str | bytes) -> bytes:
    body = text.encode() if isinstance(text, str) else text
    return body + b"Z " + hashlib.md5(body).hexdigest().encode() + b"\n"


CHECKIN = "C Two\\slines\\nand\\sa\\s\\\\\nD 2026-03-01T10:00:00.500\nF a\\sb.c " + "1" * 40 + " x old.c\nF gone\nP " + "2" * 64 + " " + "3" * 64 + \
    "\nT *branch * x\\sy\nT +sym-x *\nU J\\sDoe\n"


def test_cards_of_a_checkin():
    cards = manifest.parse(sealed(CHECKIN))
    assert cards.comment == "Two lines\nand a \\"
    assert cards.files == [manifest.File("a b.c", "1" * 40, "x", "old.c"), manifest.File("gone")]
    assert cards.parents == ["2" * 64, "3" * 64]
    assert cards.tags == [manifest.TagCard("*branch", "*", "x y"), manifest.TagCard("+sym-x", "*")]
    assert (cards.user, manifest.unix_time(cards.date)) == ("J Doe", 1772359200)
    assert cards.cards == frozenset("CDFPTUZ")


def test_a_pgp_signature_is_taken_off():
    signed = b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\n" + sealed(CHECKIN) + b"\n-----BEGIN PGP SIGNATURE-----\nVersion: 1\n\niD8=\n-----END PGP SIGNATURE-----\n"
    unsigned = manifest.parse(sealed(CHECKIN))
    assert manifest.parse(signed.replace(b"\n\n-----BEGIN PGP SIG", b"\n-----BEGIN PGP SIG")) == unsigned


def test_text_may_hold_anything():
    text = "Z looks like a card\n\nW 5\nÄ\0".encode()
    page = manifest.parse(sealed(b"D 2026-03-01T10:00:00\nL Name\nU ann\nW %d\n%s\n" % (len(text), text)))
    assert (page.text, page.page, page.user) == (text, "Name", "ann")


@pytest.mark.parametrize(("content", "problem"), [
    (b"", "no Z card"),
    (b"just a file\n", "no Z card"),
    (sealed(CHECKIN).replace(b"Two", b"Ten"), "does not fit"),
    (sealed("D 2026-03-01\nnot a card\n"), "begins no card"),
    (sealed("L x\nW 999\nshort\n"), "longer than the artifact"),
    (sealed("L x\nW -1\n\n"), "no size"),
])
def test_what_is_no_manifest_says_why(content, problem):
    with pytest.raises(ValueError, match=problem):
        manifest.parse(content)


@pytest.mark.parametrize(("plain", "escaped"), [("a b", "a\\sb"), ("\\s", "\\\\s"), ("\t\r\n\v\f", "\\t\\r\\n\\v\\f"), ("", ""), ("x\\", "x\\\\")])
def test_escapes(plain, escaped):
    assert manifest.unescape(escaped) == plain


@pytest.mark.parametrize(("line", "expected"), [
    (b"#!/usr/bin/env python3\n", "python"), (b"#!/bin/sh -e\n", "shell"), (b"#! /usr/bin/tclsh8.6", "tcl"),
    (b"#!/usr/bin/env -S node --flag\n", "javascript"), (b"#!/usr/bin/env LANG=C perl -w\n", "perl"), (b"#!/usr/bin/luajit\r\n", "lua"),
    (b"#!\n", ""), (b"", ""), (b"# comment\n", ""), (b"#!/usr/bin/unheard-of\n", ""), (b"#!" + b"x" * 1000, ""),
])
def test_shebang_lines(line, expected):
    assert shebang_language(line) == expected


@pytest.mark.parametrize(("path", "expected"), [
    ("a/b/MAKEFILE", "make"), ("x.Py", "python"), ("a.tar.gz", ""), (".gitignore", ""), (".c", ""), ("Dockerfile.dev", "dockerfile"),
    ("src/x.h++", "cpp"), ("x.", ""), ("", ""), ("configure.ac", "shell"), ("config.h.in", "c"), ("src/[id].vue", "vue"),
])
def test_languages_by_name(path, expected):
    assert language(path) == expected


CI, HASH = "c" * 64, "f" * 64


@pytest.mark.parametrize(("kind", "path", "lines", "expected"), [
    ("doc", "docs/ä b's #1?.md", (3, 9), f"/doc/{CI}/docs/%C3%A4%20b%27s%20%231%3F.md"),
    ("instruction", "b/100%.md", None, f"/doc?name={CI}%2Fb%2F100%25.md"),
    ("code", "src/a.c", (6, 8), f"/info/{HASH}?ln=6-8"),
    ("code", "src/a.c", None, f"/info/{HASH}"),
    ("wiki", "a/b & <c>", None, "/wiki?name=a%2Fb%20%26%20%3Cc%3E"),
    ("technote", "abc123", None, "/technote/abc123"),
    ("ticket", None, None, f"/tktview/{HASH}"),
    ("forum", None, None, f"/forumpost/{HASH}"),
    ("checkin", None, None, f"/info/{HASH}"),
    ("media", "media/a.json", (1, 2), f"/info/{HASH}"),
    ("api", "auto-captcha", None, "/help/auto-captcha"),
])
def test_links(kind, path, lines, expected):
    assert links.url(kind, path, HASH, CI, lines, "/base") == "/base" + expected
    assert links.url(kind, path, HASH, CI, lines, "", ":~:text=x").endswith("#:~:text=x")


def test_a_doc_without_a_checkin_opens_as_an_artifact():
    assert links.url("doc", "a.md", HASH, "", None, "") == f"/info/{HASH}"
