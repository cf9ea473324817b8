"""Files at the tips: encodings, names, kinds, what a file is by its content."""

from __future__ import annotations

import codecs
import re

from looking import forge, look  # noqa: F401
from serve import FossilServer

from vecsearch.fossil import artifact
from vecsearch.fossil.repository import tips

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 40

#: path, content, text (None: skipped), note or reason
ENCODINGS = [
    ("latin.c", b"/* Gr\xf6\xdfe des Puffers */\nint n;\n", "/* Größe des Puffers */\nint n;\n", "decoded as cp1252"),
    ("end.c", b"/* caf\xe9", "/* café", "decoded as cp1252"),
    ("bom.md", codecs.BOM_UTF8 + b"# Title\n", "# Title\n", ""),
    ("win.txt", codecs.BOM_UTF16_LE + "Rechnung offen\r\n".encode("utf-16-le"), "Rechnung offen\n", "decoded as utf-16-le"),
    ("be.txt", codecs.BOM_UTF16_BE + "Straße\r\n".encode("utf-16-be"), "Straße\n", "decoded as utf-16-be"),
    ("nobom.txt", "Rechnung ohne Marke\n".encode("utf-16-le"), "Rechnung ohne Marke\n", "decoded as utf-16-le"),
    ("utf32.txt", codecs.BOM_UTF32_LE + "vier\n".encode("utf-32-le"), "vier\n", "decoded as utf-32-le"),
    ("crlf.md", b"a\r\nb\r\n", "a\nb\n", ""),
    ("cr.md", b"old\rmac\r", "old\nmac\n", ""),
    ("mixed.md", b"a\r\nb\rc\r\r\nd\n", "a\nb c \nd\n", ""),
    ("late.txt", b"x" * 9000 + b"\0" + b"after the NUL\n", "x" * 9000 + " after the NUL\n", ""),
    ("first.txt", b"\0hello", None, "binary"),
    ("logo.md", PNG, None, "binary"),
    ("empty.md", b"", None, "empty"),
    ("blank.md", b"   \n\t\n", None, "empty"),
    ("newline.md", b"\n", None, "empty"),
    ("control.txt", bytes(range(1, 9)) * 50, None, "binary"),
    ("picture.md", b"\x89PNG\r\n\x1a\n" + b"no NUL in here " * 9, None, "binary"),
    ("paper.txt", b"%PDF-1.4\nplain enough\n", None, "binary"),
]

NAMES = ["docs/ä b's #1?.md", "src/[id].vue", "100%.md", 'a"b.md', "日本/説明.md", "☎ ☃.md", "-dash.md", "a&b;c.md", "a b.c"]


def test_encodings_and_names(forge, look):  # noqa: F811
    files = {path: content for path, content, _, _ in ENCODINGS}
    # Distinct contents: the same artifact under two names is one source.
    files |= {name: f"content of {name}\n".encode() for name in NAMES}
    forge.commit(files)
    seen = look(forge)
    for path, _, text, note in ENCODINGS:
        document = seen.file(path)
        assert (document.text, document.skipped) == (text or "", "" if text else note), path
        assert not text or note in ("", *document.notes), path
        assert "\0" not in document.text
    for name in NAMES:
        assert seen.file(name).text == f"content of {name}\n"
    assert {s.path for s in seen.sources if s.path} == set(files)
    # The reader agrees with Fossil on what is at the tip.
    assert sorted(files) == sorted(forge.fossil("ls", "-r", "tip").splitlines())


def test_a_name_that_only_an_import_can_bring(forge, look):  # noqa: F811
    """`fossil add` takes no character beyond the basic plane, `fossil import --git` does."""
    fire = forge.put(b"fire\n")
    parent = forge.commit({"a.md": "a\n"})
    forge.artifact(C="import", F=[f"F \N{FIRE}.md {fire}"], P=parent, U="ann")
    assert look(forge).file("\N{FIRE}.md").text == "fire\n"


def test_long_files_are_cut_at_a_line(forge, look):  # noqa: F811
    forge.commit({"big.md": "# UNIQUEHEAD alignment\n" + "filler text.\n" * 200000, "one.json": b"x" * 5_000_000,
                  "uml.md": "ä" * 600_000})
    seen = look(forge)
    big = seen.file("big.md")
    assert big.text.startswith("# UNIQUEHEAD alignment\n") and big.text.endswith("filler text.\n")
    assert len(big.text) <= 1 << 20 and big.notes == ("indexed 1.0 of 2.6 MB",)
    assert len(seen.file("one.json").text) == 1 << 20
    assert "minified" in seen.file("one.json").notes
    assert set(seen.file("uml.md").text) == {"ä"}


def test_kinds_languages_and_second_hand_files(forge, look):  # noqa: F811
    expected = {
        "README": ("doc", "plain"), "a/README.rst": ("doc", "rst"), "man/x.1": ("doc", "man"), "x.adoc": ("doc", "asciidoc"),
        "page.html": ("doc", "html"), "w.wiki": ("doc", "wiki"), "n.2": ("doc", "plain"),
        "AGENTS.md": ("instruction", "markdown"), "sub/CLAUDE.md": ("instruction", "markdown"), "prompts/a.txt": ("instruction", "markdown"),
        ".cursorrules": ("instruction", "markdown"), "docs/agents.md": ("doc", "markdown"), "skill.md": ("doc", "markdown"), "Conventions.md": ("doc", "markdown"),
        "run": ("code", "python"), "tool": ("code", "tcl"), "Makefile": ("code", "make"), "CMakeLists.txt": ("code", "cmake"),
        "Dockerfile.dev": ("code", "dockerfile"), "config.h.in": ("code", "c"), "q.sql": ("code", "sql"), "a.cr": ("code", "crystal"),
        "vendor/lib.js": ("code", "javascript"), "app.min.js": ("code", "javascript"), "parse.c": ("code", "c"),
        "package-lock.json": ("code", "text"),
        # Names that say nothing: what the content is.
        "COPYING": ("doc", "plain"), "notes.unheardof": ("doc", "plain"), "rules.xyz": ("code", "text"), "LICENSE": ("code", "text"),
        "shot.png": ("code", ""), "named.png": ("code", "text"), "nothing.xyz": ("code", ""), "script.unheardof": ("code", "shell"),
        "dump.xyz": ("code", ""),
    }
    contents = {path: f"content of {path}\n" for path in expected}
    contents |= {"run": "#!/usr/bin/env python3\nx = 1\n", "tool": "#!/bin/tclsh8.6\nputs 1\n", "man/x.1": ".TH X 1\n.SH NAME\nx\n",
                 "app.min.js": "function initCheckout(){}" * 9000, "parse.c": "/* Generated by lemon. DO NOT EDIT. */\nint x;\n",
                 "COPYING": "Everyone is permitted to copy and distribute verbatim copies of this license document.\n",
                 "notes.unheardof": "We met on Tuesday, and agreed that the harbour wall is to be mended before winter.\n",
                 "rules.xyz": "allow {\n  from = [a, b];\n  to = (c | d);\n  when <= 3;\n}\n", "shot.png": PNG,
                 "named.png": "int x = 1;\n", "nothing.xyz": "", "script.unheardof": "#!/bin/sh\necho\n", "dump.xyz": "x" * 5_000_000,
                 "media/talk.txt": "a transcript without manifest\n"}
    forge.commit(contents)
    seen = look(forge)
    assert {s.path: (s.kind, seen.document(s).format) for s in seen.sources if s.path} == expected
    assert seen.file("vendor/lib.js").notes == ("vendored",)
    assert seen.file("app.min.js").notes == ("minified",)
    assert seen.file("parse.c").notes == ("generated",)
    assert seen.file("package-lock.json").skipped == "lock file"
    assert [seen.file(path).skipped for path in ("shot.png", "nothing.xyz", "dump.xyz")] == ["binary", "empty", "5.0 MB of an unknown kind"]
    globs = {"ignore-glob": ("vendor/*", "*.SQL"), "code-glob": ("LICENSE",), "doc-glob": ("*.rst",)}
    again = {s.path: s.kind for s in look(forge, **globs).sources if s.path}
    assert again["LICENSE"] == "code" and again["a/README.rst"] == "doc"
    assert not again.keys() & {"vendor/lib.js", "q.sql", "w.wiki"}


def test_a_symbolic_link_is_not_followed(forge, look):  # noqa: F811
    forge.commit({"real.md": "real\n"}, links={"link.md": "../../etc/passwd"})
    document = look(forge).file("link.md")
    assert (document.text, document.skipped) == ("", "symbolic link")


def test_an_artifact_is_claimed_once_and_a_rename_changes_nothing_else(forge, look):  # noqa: F811
    forge.commit({"z.md": "same\n", "a/b.md": "same\n", "AGENTS.md": "same\n", "old.c": "int x;\n"}, user="bea")
    before = look(forge)
    assert [(s.kind, s.path, s.also) for s in before.sources if s.path] == [
        ("instruction", "AGENTS.md", ("a/b.md", "z.md")), ("code", "old.c", ())]
    assert [s.user for s in before.sources if s.path] == ["bea", "bea"]
    forge.fossil("mv", "--hard", "old.c", "new name.c")
    forge.commit({"AGENTS.md": None}, "renamed", user="cid")
    after = look(forge)
    moved, old = after.of("code")[0], before.of("code")[0]
    assert (moved.path, moved.hash, moved.fingerprint, moved.user, moved.mtime) == ("new name.c", old.hash, old.fingerprint, "bea", old.mtime)
    claimed = after.of("doc")[0]
    assert claimed.path == "a/b.md" and claimed.fingerprint != before.of("instruction")[0].fingerprint


def test_delta_manifests_deletion_and_return(forge, look):  # noqa: F811
    forge.setting("forbid-delta-manifests", "0")
    files = {f"f{n:03}.md": f"text {n}\n" for n in range(60)}
    forge.commit(files)
    for name, content in (("f001.md", None), ("f002.md", "changed\n"), ("f001.md", "back again\n"), ("f003.md", None)):
        (forge.checkout / name).unlink(missing_ok=True) if content is None else (forge.checkout / name).write_text(content)
        forge.fossil("addremove")
        forge.fossil("commit", "--delta", "--no-warnings", "-m", "delta")
    seen = look(forge)
    tip = tips(seen.db, seen.settings)[0]
    assert b"\nB " in b"\n" + artifact.read(seen.db, tip.rid)
    assert {s.path: seen.document(s).text for s in seen.of("doc")} == {
        name: forge.fossil("cat", name, "-r", "tip") for name in forge.fossil("ls", "-r", "tip").splitlines()}
    assert seen.file("f001.md").text == "back again\n"


def test_branches_by_role(forge, look):  # noqa: F811
    forge.commit({"a.md": "trunk doc\n", "a.c": "int trunk;\n"})
    forge.commit({"a.md": "manual doc\n", "a.c": "int manual;\n"}, branch="manual")
    forge.update("trunk")
    forge.commit({"b.md": "more\n"}, branch="extra")
    def texts(**settings): return {seen.document(s).text for seen in [look(forge, **settings)] for s in seen.sources if s.path}
    assert texts() == {"trunk doc\n", "int trunk;\n"}
    forge.setting("doc-branch", "manual, extra")
    assert texts() == {"manual doc\n", "trunk doc\n", "more\n", "int trunk;\n"}
    forge.setting("main-branch", "manual")
    assert texts() == {"manual doc\n", "trunk doc\n", "more\n", "int manual;\n"}
    assert texts(branch="extra") == {"trunk doc\n", "more\n", "int trunk;\n"}
    forge.setting("doc-branch", "no-such")
    forge.setting("main-branch", "gone")
    assert texts() == {"trunk doc\n", "int trunk;\n"}


def test_line_numbers_are_those_that_fossil_shows(forge, look, tmp_path):  # noqa: F811
    contents = [b"a\nb\nc\n", b"a\r\nb\r\nc\r\n", b"a\rb\nc\r\r\nd\n", b"a\x0bb\x0cc\xc2\x85d\ne\n", b"\n\n\na\n",
                b"\xff\xfe" + "a\r\nb\n".encode("utf-16-le"), "a\u2028b\nc\n".encode()]
    forge.commit({f"{n}.c": content for n, content in enumerate(contents)})
    forge.user("nobody", "o")
    seen = look(forge)
    (tmp_path / "ext").mkdir()
    with FossilServer(forge.path, tmp_path / "ext") as server:
        for source in seen.of("code"):
            _, page, _ = server.get(f"/info/{source.hash}?ln=1-2")
            numbers = [int(number) for number in re.findall(r"<span[^>]*> *(\d+)</span>", page)]
            assert numbers == list(range(1, seen.document(source).text.count("\n") + 1)), source.path
