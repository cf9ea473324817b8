"""A run looks only at what was touched since the last one. Whatever was done to the repository in between, by
Fossil itself, the index is then the one that a first run over the same repository makes."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from forge import Forge

from vecsearch.embed.hashing import Hashing
from vecsearch.fossil import corpus
from vecsearch.index import index
from vecsearch.store import catalog, connection, schema, unversioned, ve01

STEPS, EVERY = 24, 4


class Walk:
    """Random changes of one repository, each by a real command; posts and the like come by a pull from
    another one, where they may be written past Fossil's commands."""

    def __init__(self, folder: Path, seed: int):
        self.random = random.Random(seed)
        self.here = Forge(folder, "here.fossil")
        self.here.user("nobody", "gjorz2")
        self.here.commit({"docs/a.md": "# A\n\nfirst\n", "docs/b.md": "# B\n\nsecond\n", "src/m.py": "def first():\n    pass\n"}, "first")
        self.there = self.here.copy(folder / "there.fossil")
        self.there.checkout = folder / "there.checkout"
        self.there.checkout.mkdir()
        self.there.fossil("open", "--keep", self.there.path)
        self.posts: list[tuple[str, str]] = []
        self.tickets: list[str] = []
        self.held: list[str] = []
        self.checkins = [self.here.one("SELECT uuid FROM blob JOIN event ON objid=rid WHERE type='ci' ORDER BY mtime DESC")]
        self.number = 0

    def step(self) -> str:
        """One change; its name."""
        change: Callable[[], object] = self.random.choice(
            [self.edit, self.edit, self.edit, self.copy, self.rename, self.delete, self.again, self.amend, self.amend, self.branch, self.hide, self.date,
             self.wiki, self.wiki_gone, self.technote, self.ticket, self.post, self.reply, self.edit_post, self.shun, self.hold,
             self.release, self.reject, self.private, self.publish, self.rebuild, self.setting, self.media, self.close, self.cancel, self.nothing])
        self.number += 1
        try:
            change()
        except (AssertionError, OSError, IndexError):  # Fossil refuses some, such as a check-in after a closed one: no change
            return f"no {change.__name__}"
        return change.__name__

    def word(self) -> str:
        return f"word{self.number}x{self.random.randrange(3)}"

    def files(self) -> list[str]:
        return [name for name in str(self.here.fossil("ls")).splitlines() if not name.startswith("media/")]

    def commit(self, files: dict, **options) -> None:
        self.checkins.append(self.here.commit(files, f"commit {self.word()}", **options))

    def edit(self) -> None:
        self.commit({f"docs/{self.random.choice('abcdef')}.md": f"# Page\n\n{self.word()}\n"})

    def copy(self) -> None:
        name = self.random.choice(self.files())
        self.commit({f"{self.random.choice(['lib', 'docs', 'prompts'])}/copy{self.number}.md": (self.here.checkout / name).read_bytes()})

    def rename(self) -> None:
        old = self.random.choice(self.files())
        self.here.fossil("mv", "--hard", old, f"docs/moved{self.number}.{self.random.choice(['md', 'txt', 'py'])}")
        self.commit({})

    def delete(self) -> None:
        if len(self.files()) > 2:
            self.commit({self.random.choice(self.files()): None})

    def again(self) -> None:
        """Content that was there before, perhaps under another name."""
        self.commit({f"docs/{self.random.choice('abc')}.md": "# A\n\nfirst\n"})

    def media(self) -> None:
        manifest = '{"uri": "https://e.org/a", "sha3": "%s", "mime": "a/b", "bytes": 1, "transcript": "media/t.txt"}' % ("a" * 64)
        self.commit({"media/t.txt": f"spoken {self.word()}\n", **({} if (self.here.checkout / "media").exists() else {"media/m.json": manifest})})

    def amend(self) -> None:
        self.here.fossil("amend", self.random.choice(self.checkins), "-m", f"amended {self.word()}", "--author", self.random.choice(["ann", "bob"]))

    def date(self) -> None:
        self.here.fossil("amend", self.random.choice(self.checkins), "--date", f"2026-0{self.random.randrange(1, 9)}-11 10:00:00")

    def branch(self) -> None:
        self.here.fossil("amend", self.random.choice(self.checkins[1:] or self.checkins), "--branch", self.random.choice(["trunk", "side"]))
        self.here.fossil("update", "trunk")

    def close(self) -> None:
        self.here.fossil("amend", self.random.choice(self.checkins[:-1] or self.checkins), "--close")

    def hide(self) -> None:
        self.here.fossil("amend", self.random.choice(self.checkins), "--hide")

    def cancel(self) -> None:
        self.here.fossil("tag", "cancel", "--raw", self.random.choice(["hidden", "comment", "user", "branch"]), self.random.choice(self.checkins[1:] or self.checkins))
        self.here.fossil("update", "trunk")

    def wiki(self) -> None:
        file = self.here.home / "page"
        file.write_text(f"# Page\n\n{self.word()}\n")
        name = self.random.choice(["One", "Two"])
        known = name in str(self.here.fossil("wiki", "list")).split()
        self.here.fossil("wiki", "commit" if known else "create", name, file, "-M", "markdown")

    def wiki_gone(self) -> None:
        file = self.here.home / "page"
        file.write_text("")
        if "One" in str(self.here.fossil("wiki", "list")).split():
            self.here.fossil("wiki", "commit", "One", file)

    def technote(self) -> None:
        self.there.technote(f"note {self.word()}", title=self.random.choice(["N1", "N2"]))
        self.pull()

    def ticket(self) -> None:
        if not self.tickets or self.random.random() < 0.4:
            made = str(self.here.fossil("ticket", "add", "title", f"ticket {self.word()}", "status", "Open"))
            self.tickets.append(made.split()[-1])
        else:
            self.here.fossil("ticket", "set", self.random.choice(self.tickets), "icomment", f"comment {self.word()}", "status", "Closed")

    def pull(self) -> None:
        self.here.fossil("pull", self.there.path, "--once")

    def post(self) -> None:
        made = self.there.post(f"post {self.word()}", title=f"Thread {self.number}")
        self.posts.append((made, made))
        self.pull()

    def reply(self) -> None:
        if self.posts:
            root = self.random.choice(self.posts)[1]
            self.posts.append((self.there.post(f"reply {self.word()}", reply_to=root, root=root), root))
            self.pull()

    def edit_post(self) -> None:
        openings = [i for i, (post, root) in enumerate(self.posts) if post == root]
        if openings:
            root = self.posts[self.random.choice(openings)][1]
            self.there.post(f"edited {self.word()}", title=f"Renamed {self.number}", edit_of=root)
            self.pull()

    def shun(self) -> None:
        files = self.here.sql("SELECT DISTINCT uuid FROM blob JOIN mlink ON fid=rid WHERE uuid NOT IN (SELECT uuid FROM shun) ORDER BY rid")
        if files:
            self.here.shun(self.random.choice(files)[0], rebuild=self.random.random() < 0.5)

    def hold(self) -> None:
        if self.posts:
            hash_ = self.random.choice(self.posts)[0]
            if self.here.rid(hash_) and hash_ not in self.held:
                self.here.hold_for_moderation(hash_)
                self.held.append(hash_)

    def release(self) -> None:
        if self.held:
            self.here.approve(self.held.pop())

    def reject(self) -> None:
        if self.held:
            self.here.reject(self.held.pop())

    def private(self) -> None:
        self.commit({f"docs/hush{self.number}.md": f"# Hush\n\n{self.word()}\n"}, branch=f"hush{self.number}", private=True)
        self.here.update("trunk")

    def publish(self) -> None:
        names = [name for name in str(self.here.fossil("branch", "list", "-p")).split() if name.startswith("hush")]
        if names:
            self.here.fossil("publish", self.random.choice(names))

    def rebuild(self) -> None:
        self.here.settle()

    def setting(self) -> None:
        self.here.setting("main-branch", self.random.choice(["trunk", "side"]))

    def nothing(self) -> None:
        """Nothing at all."""


def made_anew(path: Path, copy: Path) -> Path:
    """A copy of the repository with an index by a first run."""
    copy.write_bytes(path.read_bytes())
    db = connection.open_writable(copy)
    with connection.transaction(db):
        schema.drop(db, keep=())
        db.execute("DELETE FROM unversioned WHERE name GLOB 'vec/*'")
    db.close()
    index(copy, lambda settings: Hashing())
    return copy


def contents(path: Path) -> dict[str, object]:
    """All that is indexed and published. Vectors are left out: a renamed file keeps those it had."""
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'fx_vec_fts', 'row')")
    found: dict[str, object] = {
        "sources": db.execute("SELECT hash, kind, path, format, title, fingerprint, branch, user, mtime, skipped, notes"
                              " FROM fx_vec_source ORDER BY hash").fetchall(),
        "chunks": db.execute("SELECT c.hash, c.kind, c.path, c.seq, c.text, d.title, d.symbol, d.line_a, d.line_b, d.user, d.mtime,"
                             " (SELECT count(*) FROM fx_vec_embedding e WHERE e.chunk_id=c.id) FROM fx_vec_chunk c"
                             " JOIN fx_vec_detail d ON d.chunk_id=c.id ORDER BY c.hash, c.seq").fetchall(),
        "words": db.execute("SELECT * FROM temp.words ORDER BY term").fetchall(),
        "tips": db.execute("SELECT * FROM fx_vec_tip ORDER BY branch").fetchall(),
    }
    for name in unversioned.files(db):
        data = unversioned.read(db, name)
        if name == catalog.NAME:
            head, entries = catalog.split(data)
            found[name] = (sorted(head.packs), head.tips, head.checkin, {h: e | {"blob": ""} for h, e in entries.items()})
        elif name.endswith(".bin"):
            found[name] = [(r.seq, r.text) for r in ve01.decode(data, 128, name)]
        else:
            found[name] = len(data)
    db.close()
    return found


def walk(folder: Path, seed: int, steps: int, every: int, looked: list[bool]) -> None:
    """Change and index; compare after `every` so many steps."""
    way = Walk(folder, seed)
    index(way.here.path, lambda settings: Hashing())
    done = []
    for number in range(steps):
        done.append(way.step())
        looked.append(False)
        index(way.here.path, lambda settings: Hashing())
        if (number + 1) % every == 0:
            assert contents(way.here.path) == contents(made_anew(way.here.path, folder / "anew.fossil")), (seed, done)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_index_that_grew_is_the_one_that_is_made_at_once(tmp_path, monkeypatch, seed):
    looked: list[bool] = []
    listing = corpus.listing

    def watched(*args):
        found = listing(*args)
        if looked:
            looked[-1] |= found.scope is not None
        return found

    monkeypatch.setattr(corpus, "listing", watched)
    walk(tmp_path, seed, STEPS, EVERY, looked)
    assert sum(looked) >= STEPS // 4  # what was secret, rebuilt or replaced is another matter


def grew_as_made_at_once(here: Forge, folder: Path) -> bool:
    index(here.path, lambda settings: Hashing())
    return contents(here.path) == contents(made_anew(here.path, folder / "anew.fossil"))


def test_a_change_of_a_ticket_that_waits_leaves_no_trace_whenever_it_was_made(tmp_path):
    here = Forge(tmp_path)
    early = here.clock
    ticket = here.ticket("Broken", "as it was", comments=["one"])
    assert grew_as_made_at_once(here, tmp_path)
    late, here.clock = here.clock, early.replace(year=early.year - 1)
    waiting = here.ticket_change(ticket, icomment="waits")
    here.hold_for_moderation(waiting, ticket)
    here.clock = late
    assert grew_as_made_at_once(here, tmp_path)
    opened = here.one("SELECT min(mtime) FROM fx_vec_detail JOIN fx_vec_chunk ON id=chunk_id WHERE kind='ticket'")
    assert opened > early.timestamp()
    here.approve(waiting)
    assert grew_as_made_at_once(here, tmp_path)


def test_what_the_site_says_of_its_tickets_is_followed(tmp_path):
    """Which column is the title, and which tells that a ticket is closed, are settings of Fossil's."""
    here = Forge(tmp_path)
    here.ticket("Broken", "as it was", type="Incident", resolution="Fixed")
    index(here.path, lambda settings: Hashing())
    for name, column, query, then in (("ticket-title-expr", "type", "SELECT title FROM fx_vec_source WHERE kind='ticket'", "Incident"),
                                      ("ticket-status-column", "resolution", "SELECT notes FROM fx_vec_source WHERE kind='ticket'", "closed")):
        assert here.one(query) != then
        here.setting(name, column)
        assert grew_as_made_at_once(here, tmp_path) and here.one(query) == then


@pytest.mark.parametrize("names_its_thread", [True, False])
def test_a_thread_has_the_title_of_its_opening_post_as_far_as_that_is_shown(tmp_path, names_its_thread):
    """An edit without a G card is none to Fossil's pages, but a thread of its own."""
    here = Forge(tmp_path)
    opening = here.post("opens", title="Before")
    here.post("answers", reply_to=opening, root=opening)
    edit = here.artifact(G=opening if names_its_thread else None, H="After", N="text/x-markdown", P=opening, U="bob", W="opens otherwise")
    assert grew_as_made_at_once(here, tmp_path)
    title = "SELECT title FROM fx_vec_source JOIN fx_vec_chunk USING (hash) WHERE text='answers'"
    seen = [here.one(title)]
    for held in (opening, edit):
        for change in (here.hold_for_moderation, here.approve):
            change(held)
            assert grew_as_made_at_once(here, tmp_path)
            seen.append(here.one(title))
    assert seen == (["After", "After", "After", "Before", "After"] if names_its_thread else ["Before", "(no title)", "Before", "Before", "Before"])
