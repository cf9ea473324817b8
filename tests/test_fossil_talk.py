"""Wiki pages, technotes, tickets, forum posts and check-ins: the version that stands now, and by whom."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from contextlib import closing

from looking import forge, look  # noqa: F401

from vecsearch.fossil.visible import visible


def test_wiki_pages(forge, look):  # noqa: F811
    forge.wiki("a/b & <c>", "# Odd name\n", user="bea")
    forge.wiki("Plain", "just text", "text/plain")
    forge.wiki("Old", "first version")
    second = forge.wiki("Old", "second version")
    forge.wiki("Gone", "will be deleted")
    forge.wiki("Gone", "")
    held = forge.wiki("Held", "waits for a moderator")
    forge.hold_for_moderation(held)
    edit = forge.wiki("Old", "an edit that waits")
    forge.hold_for_moderation(edit)
    seen = look(forge)
    assert {s.path: (seen.document(s).text, seen.document(s).format, s.user) for s in seen.of("wiki")} == {
        "a/b & <c>": ("# Odd name\n", "markdown", "bea"), "Plain": ("just text", "plain", "ann"), "Old": ("second version", "markdown", "ann")}
    assert visible(seen.db, [("wiki", held), ("wiki", second), ("wiki", edit)]) == {("wiki", second)}
    forge.approve(edit)
    assert look(forge).file("Old").text == "an edit that waits"
    # As Fossil lists them, but for the page that waits.
    assert set(forge.fossil("wiki", "list").splitlines()) - {"Held"} == {s.path for s in seen.of("wiki")}


def test_technotes(forge, look):  # noqa: F811
    forge.technote("# v1\n", title="Release 1.0")
    forge.technote("# v2\n", title="Release 1.0")
    seen = look(forge)
    [note] = seen.of("technote")
    document = seen.document(note)
    assert (document.title, document.text, document.format) == ("Release 1.0", "# v2\n", "markdown")
    assert note.path == forge.one("SELECT substr(tagname, 7) FROM tag WHERE tagname GLOB 'event-*'")
    assert note.mtime == int(forge.one("SELECT strftime('%s', mtime) FROM event WHERE type='e'"))


def test_tickets(forge, look):  # noqa: F811
    uuid = forge.ticket("Backup stops", "It stops at 2:30.", private_contact="5" * 40, subsystem="core", foundin="hide@example.org")
    forge.ticket_change(uuid, icomment="Seen here too.", user="bea")
    forge.ticket_change(uuid, icomment="  ")
    forge.ticket_change(uuid, plus_comment="\nAppended words.", user="cid")
    forge.ticket_change(uuid, status="Fixed", unknown="no column of the site")
    seen = look(forge)
    [source] = seen.of("ticket")
    document = seen.document(source)
    assert (source.hash, source.path, document.title, document.format, document.notes) == (uuid, None, "Backup stops", "passages", ("closed",))
    assert [(p.text, p.user, p.title) for p in document.passages] == [
        ("Backup stops\n\nIt stops at 2:30.\n\nstatus: Fixed\nsubsystem: core", "ann", "Backup stops"),
        ("Seen here too.", "bea", ""), ("Appended words.", "cid", "")]
    times = [int(row[0]) for row in forge.sql("SELECT strftime('%s', tkt_mtime) FROM ticketchng WHERE icomment='Seen here too.'")]
    assert [document.passages[1].mtime] == times
    assert visible(seen.db, [("ticket", uuid), ("ticket", "0" * 40)]) == {("ticket", uuid)}


def test_a_ticket_of_an_old_fossil_is_split_at_its_separators(forge, look):  # noqa: F811
    text = ("It fails.\n\n<hr /><i>bea claiming to be Bea &amp; Co added on 2010-05-01 12:00:00 UTC:</i><br />\nMe too.\n\n"
            "<hr><i>cid added on 2010-06-01 12:00:00:</i><br>\nFixed.")
    forge.ticket("Old", text)
    seen = look(forge)
    passages = seen.document(seen.of("ticket")[0]).passages
    assert [(p.text, p.user, p.mtime) for p in passages[1:]] == [("Me too.", "bea", 1272715200), ("Fixed.", "cid", 1275393600)]
    assert passages[0].text.startswith("Old\n\nIt fails.\n\nstatus: Open")


def test_moderated_ticket_changes(forge, look):  # noqa: F811
    uuid = forge.ticket("Title", "Text")
    pending = forge.ticket_change(uuid, icomment="not yet approved", title="A title that waits")
    forge.hold_for_moderation(pending, uuid)
    new = forge.ticket("A new ticket", "that waits itself")
    change = forge.one("SELECT b.uuid FROM tagxref x JOIN tag USING (tagid) JOIN blob b ON b.rid=x.rid WHERE tagname='tkt-'||?", new)
    forge.hold_for_moderation(change, new)
    before = look(forge)
    assert before.texts("ticket") == [["Title\n\nText\n\nstatus: Open"]]
    assert visible(before.db, [("ticket", uuid), ("ticket", new)]) == {("ticket", uuid)}
    forge.approve(pending)
    after = look(forge)
    assert after.texts("ticket") == [["A title that waits\n\nText\n\nstatus: Open", "not yet approved"]]
    assert after.of("ticket")[0].fingerprint != before.of("ticket")[0].fingerprint


def test_a_ticket_with_five_hundred_comments(forge, look):  # noqa: F811
    uuid = forge.ticket("Long", "story")
    # Straight into the database: 500 commands would take a minute.
    with closing(sqlite3.connect(forge.path)) as db, db:
        for n in range(500):
            body = f"D 2026-05-01T00:{n // 60:02}:{n % 60:02}.000\nJ icomment comment\\s{n}\nK {uuid}\nU ann\n".encode()
            body += b"Z " + hashlib.md5(body).hexdigest().encode() + b"\n"
            db.execute("INSERT INTO blob(rcvid, size, uuid, content) VALUES(1, ?, ?, ?)",
                       (len(body), hashlib.sha3_256(body).hexdigest(), len(body).to_bytes(4, "big") + zlib.compress(body)))
    forge.settle()
    assert look(forge).texts("ticket")[0][1:] == [f"comment {n}" for n in range(500)]


def test_a_site_with_its_own_ticket_columns(forge, look):  # noqa: F811
    forge.setting("ticket-table", """CREATE TABLE ticket(tkt_id INTEGER PRIMARY KEY, tkt_uuid TEXT UNIQUE, tkt_mtime DATE,
        tkt_ctime DATE, summary TEXT, body TEXT, reporter_email TEXT, sev TEXT);
        CREATE TABLE ticketchng(tkt_id INTEGER, tkt_rid INTEGER, tkt_mtime DATE, note TEXT);""")
    forge.setting("ticket-title-expr", "summary")
    forge.setting("ticket-status-column", "sev")
    forge.settle()
    uuid = "a" * 40
    forge.ticket_change(uuid, summary="Own columns", body="described", reporter_email="x@example.org", sev="high", title="no such column")
    forge.ticket_change(uuid, note="a note")
    assert look(forge).texts("ticket") == [["Own columns\n\ndescribed\n\nsev: high", "a note"]]


def test_forum_posts(forge, look):  # noqa: F811
    root = forge.post("How do I restore?", title="Restoring", user="bea")
    reply = forge.post("Like this.", root=root, reply_to=root, user="cid")
    edited = forge.post("Like that.", root=root, reply_to=root, edit_of=reply, user="ann")
    retitled = forge.post("How do I restore a file?", title="Restoring files", root=root, edit_of=root, user="bea")
    doomed = forge.post("regretted", root=root, reply_to=reply)
    forge.post("", root=root, reply_to=reply, edit_of=doomed)
    pending = forge.post("spam", root=root, reply_to=root, user="dan")
    forge.hold_for_moderation(pending)
    pending_title = forge.post("hijacked", title="Hijacked", root=root, edit_of=retitled, user="bea")
    forge.hold_for_moderation(pending_title)
    seen = look(forge)
    posts = {s.hash: seen.document(s) for s in seen.of("forum")}
    assert {h: (d.title, d.passages[0].text, d.source.user) for h, d in posts.items()} == {
        retitled: ("Restoring files", "How do I restore a file?", "bea"), edited: ("Restoring files", "Like that.", "cid")}
    assert visible(seen.db, [("forum", h) for h in (retitled, pending, pending_title)]) == {("forum", retitled)}
    before = {s.hash: s.fingerprint for s in seen.of("forum")}
    forge.reject(pending)
    forge.approve(pending_title)
    after = look(forge)
    assert {s.hash for s in after.of("forum")} == {pending_title, edited}
    assert next(s.fingerprint for s in after.of("forum") if s.hash == edited) != before[edited]
    assert {after.document(s).title for s in after.of("forum")} == {"Hijacked"}


def test_a_thread_whose_opening_post_was_deleted(forge, look):  # noqa: F811
    root = forge.post("Opening", title="Title")
    reply = forge.post("Reply", root=root, reply_to=root)
    forge.post("", root=root, edit_of=root)
    seen = look(forge)
    assert [(s.hash, seen.document(s).title) for s in seen.of("forum")] == [(reply, "(no title)")]


def test_checkins(forge, look):  # noqa: F811
    first = forge.commit({"src/a.c": "int a;\n", "b.md": "b\n"}, "First words\nand more", user="bea")
    forge.commit({f"many/{n}.txt": f"{n}\n" for n in range(60)}, "import", branch="wide")
    empty = forge.commit({"b.md": "c\n"}, "placeholder")
    forge.fossil("amend", empty, "-m", "Amended comment", "--author", "cid")
    seen = look(forge)
    documents = {s.hash: seen.document(s) for s in seen.of("checkin")}
    assert documents[first].passages[0].text == "First words\nand more\n\nbranch: trunk\n\nb.md\nsrc/a.c"
    assert documents[first].title == "First words" and documents[first].source.user == "bea"
    assert documents[empty].passages[0].text == "Amended comment\n\nbranch: wide\n\nb.md"
    assert documents[empty].source.user == "cid"
    assert [d.passages[0].text for d in documents.values() if d.title == "import"][0].endswith("and 20 more files")
    before = {s.hash: s.fingerprint for s in seen.of("checkin")}
    forge.fossil("amend", empty, "-m", "Amended again")
    after = {s.hash: s.fingerprint for s in look(forge).of("checkin")}
    assert {hash_ for hash_ in after if after[hash_] != before[hash_]} == {empty}
    forge.sql("UPDATE event SET comment='', ecomment=NULL WHERE objid=?", forge.rid(first))
    again = look(forge)
    bare = next(again.document(s) for s in again.of("checkin") if s.hash == first)
    assert (bare.title, bare.passages[0].text) == (f"check-in {first[:10]}", "branch: trunk\n\nb.md\nsrc/a.c")
