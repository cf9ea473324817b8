"""One repository with every kind of content and every hazard that issue reports told of; for each item
whether it must be found, through the real index run and the real search."""

from __future__ import annotations

import codecs
import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from conftest import VECSEARCH
from forge import Forge

from vecsearch.embed.builtin import Builtin
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.types import KINDS

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4

FILES: dict[str, bytes] = {
    "bom.md": codecs.BOM_UTF8 + b"# Bomtitle\n\nText after a byte order mark, alphabom.\n",
    "win-le.txt": codecs.BOM_UTF16_LE + "Rechnung offen zweiundvierzig\r\n".encode("utf-16-le"),
    "win-be.txt": codecs.BOM_UTF16_BE + "Mahnung verschickt\r\n".encode("utf-16-be"),
    "latin.c": b"/* Gr\xf6\xdfe des Puffers */\nint n;\n",
    "crlf.md": b"# Crlfhead\r\n\r\nwindows line ends, alphacrlf\r\n",
    "cr.txt": b"old mac line one\rline two alphacr\r",
    "nul-inside.txt": b"x" * 9000 + b"\n\0 after the nul: alphanul\n",
    "nul-first.txt": b"\0hello alphabinary",
    "logo.md": PNG,
    "one-line.txt": b"needleinahaystack " + b"filler " * 750_000,
    "empty.md": b"",
    "blank.md": b"   \n\t\n",
    "newline.md": b"\n",
    "docs/with space.md": b"# Spacious\n\nalphaspace\n",
    "docs/it's \"quoted\".md": b"# Quoted\n\nalphaquote\n",
    "docs/a#b?c%d&e.md": b"# Special\n\nalphaspecial\n",
    "docs/\u6587\u66f8.md": "# 文書\n\n検索機能の説明です。\n".encode(),
    "-dash.md": b"# Dashed\n\nalphadash\n",
    "src/[id].vue": b"<template>alphavue</template>\n",
    "fence.md": b"~~~~\n# not a heading alphafence\n~~~~\n# Real\n\nafter the fence\n",
    "setext.md": b"---\ntitle: Frontmatter Title\n---\nSetexthead\n==========\n\n| name | value |\n|---|---|\n| port | 8080 |\n",
    "html.md": b"# Mixed\n\n<div class='x'><p>inside <b>html</b> alphahtml</p></div>\n",
    "app.min.js": b"var a=1;" * 60_000 + b"function initCheckout(){return 1}" + b"var b=2;" * 50_000,
    "conf.sql": b"".join(b"INSERT INTO t VALUES(%d, 'row');\n" % i for i in range(400)),
    "tabs.py": b"# retries with back-off\ndef send():\n\tfor i in range(3):\n\t\tpass\n",
    "big.md": b"# UNIQUEHEAD alignment\n" + b"filler text.\n" * 200_000,
    "package-lock.json": b'{"lockfileVersion": 3, "packages": {"alphalock": {}}}\n',
    "prompts/start.md": b"# Preprompt\n\nConsult minimally, alphaprompt.\n",
    "CLAUDE.md": b"Never push, alphaclaude.\n",
    "media/talk.json": json.dumps({"uri": "https://m.example/t.mp4", "sha3": "a" * 64, "mime": "video/mp4", "bytes": 5,
                                   "transcript": "media/talk.txt"}).encode(),
    "media/talk.txt": b"Good evening, this is the alphatranscript.\n",
    "media/broken.json": b'{"uri": "https://m.example/x.mp4", "bytes": "many"}',
    "again.md": b"# Deleted and added again\n\nalphaagain\n",
    "HACKING": b"Who wants to change alphahacking begins with the tests, and then with the rest of it.\n",
    "rules.unheardof": b"allow {\n  alpharules = [a];\n}\n",
    "shot.png": PNG + b"another",
    "picture.md": b"\x89PNG\r\n\x1a\n alphapicture without a NUL\n",
    "docs/twin-one.md": b"# Twins\n\nalphatwins\n",
    "lib/twin-two.md": b"# Twins\n\nalphatwins\n",
}

#: What to ask, and what the best hit must be: (kind, path), or None where nothing may be found.
ASKED = [
    ("alphabom", ("doc", "bom.md")), ("zweiundvierzig", ("doc", "win-le.txt")), ("Mahnung verschickt", ("doc", "win-be.txt")),
    ("Größe Puffers", ("code", "latin.c")), ("alphacrlf", ("doc", "crlf.md")), ("alphacr", ("doc", "cr.txt")),
    ("alphanul", ("doc", "nul-inside.txt")), ("alphabinary", None), ("logo.md", ("doc", "logo.md")), ("empty.md", ("doc", "empty.md")),
    ("needleinahaystack", ("doc", "one-line.txt")), ("alphaspace", ("doc", "docs/with space.md")),
    ("alphaquote", ("doc", "docs/it's \"quoted\".md")), ("alphaspecial", ("doc", "docs/a#b?c%d&e.md")),
    ("検索", ("doc", "docs/文書.md")), ("alphadash", ("doc", "-dash.md")), ("alphavue", ("code", "src/[id].vue")),
    ("alphafence", ("doc", "fence.md")), ("port 8080", ("doc", "setext.md")), ("alphahtml", ("doc", "html.md")),
    ("initCheckout", ("code", "app.min.js")), ("retries with back-off", ("code", "tabs.py")), ("UNIQUEHEAD", ("doc", "big.md")),
    ("alphalock", None), ("alphaprompt", ("instruction", "prompts/start.md")), ("alphaclaude", ("instruction", "CLAUDE.md")),
    ("alphatranscript", ("media", "media/talk.json")), ("alphaagain", ("doc", "again.md")), ("alphawiki", ("wiki", "a/b & <c>")),
    ("alphatechnote", ("technote", None)), ("alphaticket", ("ticket", None)), ("alphacomment499", ("ticket", None)),
    ("alphaforum", ("forum", None)), ("alphaedited", ("forum", None)), ("alphaunedited", None), ("alphaprivate", None), ("alphashunned", None),
    ("alphapending", None), ("alpharejected", None), ("alphaconcealed", None), ("alphaphantom", None), ("alphalink", None),
    ("alphahacking", ("doc", "HACKING")), ("alpharules", ("code", "rules.unheardof")), ("alphapicture", None),
    ("alphafire", ("doc", "\N{FIRE}.md")), ("twin-two", ("doc", "docs/twin-one.md")), ("alphatwins path:lib", ("doc", "docs/twin-one.md")),
    ("alphatwins path:docs", ("doc", "docs/twin-one.md")),
]

SECRETS = ("alphaprivate", "alphashunned", "alphapending", "alpharejected", "alphaconcealed", "alphaunedited")


@pytest.fixture(scope="module")
def forge(tmp_path_factory) -> Forge:
    forge = Forge(tmp_path_factory.mktemp("hazards"))
    forge.commit({"again.md": b"# first\n", "secret-later.md": b"# Later\n\nalphashunned\n"}, message="one")
    forge.commit({"again.md": None}, message="two")
    forge.commit(FILES, message="everything", links={"link.md": "../../etc/alphalink"})
    forge.commit({}, message=" ")
    forge.commit({"secret.md": b"# Plan\n\nalphaprivate\n"}, message="alphaprivate plan", branch="hush", private=True)
    forge.update("trunk")
    import_emoji(forge)
    forge.shun(forge.hash_of(b"# Later\n\nalphashunned\n"))
    forge.wiki("a/b & <c>", "# A page\n\nalphawiki\n")
    forge.technote("Released, alphatechnote.", title="Release")
    forge.ticket("It breaks", "alphaticket", private_contact="alphaconcealed@example.org")
    many = forge.ticket("Many comments")
    db_changes = [f"alphacomment{i}" for i in range(500)]
    add_comments(forge, many, db_changes)
    root = forge.post("alphaforum opens", title="A thread")
    reply = forge.post("alphaunedited text", reply_to=root, root=root)
    forge.post("alphaedited text", edit_of=reply, reply_to=root, root=root, user="bob")
    pending = forge.post("alphapending", title="Wait")
    rejected = forge.post("alpharejected", title="No")
    forge.hold_for_moderation(pending)
    forge.hold_for_moderation(rejected)
    forge.reject(rejected)
    forge.sql("INSERT INTO blob(rcvid, size, uuid) VALUES(0, -1, ?)", "f" * 64)
    subprocess.run([VECSEARCH, "index", "-R", str(forge.path)], check=True, capture_output=True)
    return forge


def import_emoji(forge: Forge) -> None:
    """A name that `fossil add` does not take, but `fossil import --git` brings."""
    tip = forge.one("SELECT b.uuid FROM event e JOIN blob b ON b.rid=e.objid WHERE e.type='ci' AND b.rid NOT IN (SELECT rid FROM private)"
                    " ORDER BY e.mtime DESC")
    cards = [line for line in forge.fossil("artifact", tip).split("\n") if line.startswith("F ")]
    fire = forge.put(b"# Fire\n\nalphafire\n")
    forge.artifact(C="import", F=[*cards, f"F \N{FIRE}.md {fire}"], P=tip, U="ann")


def add_comments(forge: Forge, uuid: str, comments: list[str]) -> None:
    """500 changes without 500 rebuilds."""
    forge.settle, settle = (lambda: None), forge.settle
    for comment in comments:
        forge.ticket_change(uuid, icomment=comment)
    forge.settle = settle
    forge.settle()


def hits(path: Path, query: str) -> list:
    db = open_readonly(path)
    try:
        return search(db, Builtin, parse(query, k=50), KINDS).hits
    finally:
        db.close()


@pytest.mark.parametrize(("query", "expected"), ASKED, ids=[query for query, _ in ASKED])
def test_each_item_is_found_or_is_not(forge, query, expected):
    found = hits(forge.path, query)
    if expected is None:
        assert not any(query in f"{hit.text}{hit.path}{hit.title}{hit.snippet}" for hit in found)
    else:
        kind, path = expected
        assert found and found[0].kind == kind and (path is None or found[0].path == path), [(h.kind, h.path) for h in found[:3]]
        if path not in ("logo.md", "empty.md"):
            assert len(found[0].snippet) < 1200 and found[0].text


def test_what_is_no_text_and_of_no_kind_is_listed_but_no_hit(forge):
    assert "shot.png" not in {hit.path for hit in hits(forge.path, "shot.png")}


def test_status_names_what_was_skipped_and_why(forge):
    done = subprocess.run([VECSEARCH, "status", "--skipped", "-R", str(forge.path)], check=True, capture_output=True, text=True)
    for line in ("logo.md: skipped: binary", "nul-first.txt: skipped: binary", "empty.md: skipped: empty", "blank.md: skipped: empty",
                 "package-lock.json: skipped: lock file", "shot.png: skipped: binary", "picture.md: skipped: binary", "latin.c: decoded as cp1252", "link.md: skipped: symbolic link", "app.min.js: minified"):
        assert line in done.stdout, line
    assert "big.md: indexed 1.0 of 2.6 MB" in done.stdout and "media/broken.json: skipped: broken manifest" in done.stdout


def test_a_second_run_has_nothing_to_do(forge):
    before = forge.path.read_bytes()
    done = subprocess.run([VECSEARCH, "index", "-R", str(forge.path)], check=True, capture_output=True, text=True)
    assert done.stdout == "nothing to do: the index is current\n" and forge.path.read_bytes() == before


def test_no_secret_stands_in_any_table_or_file_of_ours(forge):
    db = sqlite3.connect(forge.path)
    try:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'fx\\_vec%' ESCAPE '\\'")]
        content = {name: repr(db.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables if name != "fx_vec_fts"}
        names = [name for (name,) in db.execute("SELECT name FROM unversioned WHERE hash IS NOT NULL")]
    finally:
        db.close()
    for name in names:
        content[name] = repr(forge.fossil("uv", "cat", name, text=False))
    assert len(content) > 10
    for secret in SECRETS:
        assert [name for name, text in content.items() if secret in text] == []


def test_what_becomes_secret_leaves_no_byte_behind(tmp_path):
    """Found first; then hidden in one of the ways there are; after the next run not a byte is left.
    Fossil itself keeps its artifacts compressed, so a plain word in the file is ours."""
    forge = Forge(tmp_path)
    for mode in ("DELETE", "WAL"):
        forge.sql(f"PRAGMA journal_mode={mode}")
        other = sqlite3.connect(forge.path)  # a server that has the file open, though it does not read now
        other.execute("SELECT count(*) FROM blob").fetchone()
        words = {way: f"zq{way}{mode.lower()}xv" for way in ("shunned", "pending", "private", "spoken")}
        content = {way: f"# Title {word}\n\n{word} stands here.\n".encode() * 40 for way, word in words.items()}
        forge.commit({f"{way}-{mode}.md": content[way] for way in ("shunned", "private")} | {
            f"media/{mode}.txt": content["spoken"], f"media/{mode}.json": json.dumps({
                "uri": "https://m.example/t.mp4", "sha3": "a" * 64, "mime": "video/mp4", "bytes": 5, "transcript": f"media/{mode}.txt"})}, message="plain")
        post = forge.post(content["pending"].decode(), title="Post")
        subprocess.run([VECSEARCH, "index", "-R", str(forge.path)], check=True, capture_output=True)
        for word in words.values():
            assert hits(forge.path, word)
        forge.shun(forge.hash_of(content["shunned"]))
        forge.shun(forge.hash_of(content["spoken"]))
        forge.hold_for_moderation(post)
        forge.sql("INSERT OR IGNORE INTO private VALUES(?)", forge.rid(forge.hash_of(content["private"])))
        assert not any(word in repr(hits(forge.path, word)) for word in words.values())  # hidden at once, before any run
        subprocess.run([VECSEARCH, "index", "-R", str(forge.path)], check=True, capture_output=True)
        for file in forge.path.parent.glob(f"{forge.path.name}*"):
            if file.is_file():
                data = file.read_bytes()
                assert [word for word in words.values() if word.encode() in data] == [], file.name
        other.close()


def test_changes_of_every_kind_are_picked_up(tmp_path):
    """An amended check-in, an edited post, a changed ticket, a new version of a page, an approved post."""
    forge = Forge(tmp_path)
    checkin = forge.commit({"a.md": b"# A\n\nplain\n"}, message="first wordingbefore")
    forge.wiki("Page", "wikibefore")
    note = forge.technote("notebefore", title="Note")
    ticket = forge.ticket("Broken", "ticketbefore")
    post = forge.post("postbefore", title="Thread")
    waiting = forge.post("postwaiting", title="Waiting")
    forge.hold_for_moderation(waiting)
    run = [VECSEARCH, "index", "-R", str(forge.path), "--json"]
    subprocess.run(run, check=True, capture_output=True)
    assert not any("postwaiting" in hit.text for hit in hits(forge.path, "postwaiting"))
    forge.fossil("amend", checkin, "-m", "amended wordingafter", "--no-verify-comment") if "verify-comment" in forge.fossil("help", "amend") else forge.fossil(
        "amend", checkin, "-m", "amended wordingafter")
    forge.wiki("Page", "wikiafter")
    forge.technote("noteafter", title="Note")
    forge.ticket_change(ticket, icomment="ticketafter")
    forge.post("postafter", title="Thread", edit_of=post)
    forge.approve(waiting)
    report = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert note and report["embedded"] <= 8
    for word in ("wordingafter", "wikiafter", "noteafter", "ticketafter", "ticketbefore", "postafter", "postwaiting"):
        assert hits(forge.path, word), word
    for word in ("wordingbefore", "wikibefore", "notebefore", "postbefore"):
        assert not any(word in hit.text for hit in hits(forge.path, word)), word


def test_the_same_content_on_a_public_branch_stays(tmp_path):
    """CASES 34: private only while nothing public holds it."""
    forge = Forge(tmp_path)
    forge.commit({"open.md": b"# Open\n\nsharedword\n"}, message="public")
    forge.commit({"copy.md": b"# Open\n\nsharedword\n", "only.md": b"# Only\n\nprivateword\n"}, message="hush", branch="hush", private=True)
    forge.update("trunk")
    subprocess.run([VECSEARCH, "index", "-R", str(forge.path)], check=True, capture_output=True)
    assert hits(forge.path, "sharedword")[0].path == "open.md" and not hits(forge.path, "privateword")


def test_what_was_replaced_first_and_shunned_later_leaves_no_word_behind(tmp_path):
    """The usual reason to shun: a password was committed, then cleaned away, then somebody remembers the old version."""
    forge = Forge(tmp_path)
    old = b"# Notes\n\nthe password is zqxoldpass\n"
    run = [VECSEARCH, "index", "-R", str(forge.path)]
    for content in (old, b"# Notes\n\nnothing to see\n"):
        forge.commit({"notes.md": content}, message="notes")
        subprocess.run(run, check=True, capture_output=True)
    forge.shun(forge.hash_of(old))
    subprocess.run(run, check=True, capture_output=True)
    assert b"zqxoldpass" not in forge.path.read_bytes()
