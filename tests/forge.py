"""Builds real Fossil repositories for tests, with the real `fossil` and nothing else.

    forge = Forge(tmp_path)
    forge.commit({"docs/a.md": b"# A\n"}, message="first", user="ann")
    forge.wiki("Start", "# Hello"); forge.ticket("It breaks", comments=["me too"])
    forge.path                          # the repository

What has no command of its own (forum posts, old tickets) is written as an artifact
(www/fileformat.wiki); `settle()` lets Fossil take notice of these.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path


def escape(text: str) -> str:
    """A value as it stands in a card."""
    for plain, escaped in (("\\", "\\\\"), (" ", "\\s"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return text


class Forge:
    """One repository and one check-out of it; the administrator is ann."""

    def __init__(self, folder: Path, name: str = "r.fossil"):
        self.path, self.checkout = folder / name, folder / f"{name}.checkout"
        self.home = folder / f"{name}.home"
        self.home.mkdir(parents=True)
        self.checkout.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "USER": "ann", "LC_ALL": "C.UTF-8"}
        self.clock = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
        self.fossil("init", "--project-name", "forge", "--admin-user", "ann", "--date-override", "2026-02-01", self.path, cwd=folder)
        self.fossil("open", "--keep", self.path)
        # Any bytes may be committed, and a file that is written twice in a second was changed twice.
        for setting, value in (("encoding-glob", "*"), ("crlf-glob", "*"), ("binary-glob", "*"), ("allow-symlinks", "1"), ("mtime-changes", "0")):
            self.setting(setting, value)

    def fossil(self, *args: object, cwd: Path | None = None, text: bool = True) -> str | bytes:
        """Run `fossil`; its output (bytes unless `text`)."""
        done = subprocess.run(["fossil", *map(str, args)], cwd=cwd or self.checkout, env=self.env,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (args, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "replace") if text else done.stdout

    def sql(self, statement: str, *values: object) -> list[tuple]:
        """Straight to the database, as Fossil's own pages do for what has no command."""
        db = sqlite3.connect(self.path)
        try:
            with db:
                return db.execute(statement, values).fetchall()
        finally:
            db.close()

    def one(self, query: str, *values: object):
        """The first column of the first row."""
        rows = self.sql(query, *values)
        return rows[0][0] if rows else None

    def copy(self, path: Path) -> Forge:
        """The repository as it stands, under another name and without a check-out."""
        twin = copy(self)
        twin.path = Path(shutil.copy(self.path, path))
        return twin

    # Check-ins

    def commit(self, files: dict[str, bytes | str | None], message: str = "change", branch: str = "", private: bool = False,
               user: str = "ann", links: dict[str, str] | None = None) -> str:
        """A check-in; a file that is None is deleted. Returns the hash."""
        for name, content in files.items():
            self._write(name, content)
        for name, target in (links or {}).items():
            (self.checkout / name).symlink_to(target)
            self.fossil("add", "--", name)
        options = [*(["--branch", branch] if branch else []), *(["--private"] if private else [])]
        comment = self.home / "comment"
        comment.write_text(message, "utf-8")
        when = self._tick().strftime("%Y-%m-%d %H:%M:%S")
        self.fossil("commit", "--no-warnings", "--allow-empty", "--no-prompt", "--allow-older", "--date-override", when,
                    "--user-override", user, *options, "-M", comment)
        return self.one("SELECT b.uuid FROM event e JOIN blob b ON b.rid=e.objid WHERE e.type='ci' ORDER BY b.rid DESC LIMIT 1")

    def _write(self, name: str, content: bytes | str | None) -> None:
        path = self.checkout / name
        if content is None:
            self.fossil("rm", "--hard", "--", name)
            return
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        if new:
            self.fossil("add", "--force", "--dotfiles", "--", name)

    def update(self, version: str) -> None:
        self.fossil("update", version)

    def hash_of(self, content: bytes | str) -> str:
        """The artifact that has this content."""
        return hashlib.sha3_256(content.encode() if isinstance(content, str) else content).hexdigest()

    def rid(self, hash_: str) -> int:
        return self.one("SELECT rid FROM blob WHERE uuid=?", hash_)

    # Pages, tickets, posts

    def wiki(self, name: str, text: str, mimetype: str = "text/x-markdown", user: str = "ann") -> str:
        """A version of a wiki page. Returns the hash of the artifact."""
        prior = self.one("SELECT b.uuid FROM tag JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid WHERE tagname='wiki-'||? "
                         "ORDER BY x.mtime DESC", name)
        return self.artifact(L=escape(name), N=mimetype, P=prior, U=escape(user), W=text)

    def technote(self, text: str, title: str = "A note", id_: str = "", mimetype: str = "text/x-markdown", user: str = "ann") -> str:
        """A version of a technote; `id_` says of which. Returns the hash of the artifact."""
        id_ = id_ or hashlib.sha1(title.encode()).hexdigest()
        prior = self.one("SELECT b.uuid FROM tag JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid WHERE tagname='event-'||? "
                         "ORDER BY x.mtime DESC", id_)
        return self.artifact(C=escape(title), E=f"2026-03-02T10:00:00 {id_}", N=mimetype, P=prior, U=escape(user), W=text)

    def ticket(self, title: str, text: str = "", comments: list[str] | tuple[str, ...] = (), **fields: str) -> str:
        """A ticket with comments. Returns its uuid."""
        uuid = hashlib.sha1(repr((title, self.clock)).encode()).hexdigest()
        self.ticket_change(uuid, **{"title": title, "comment": text, "status": "Open", **fields})
        for comment in comments:
            self.ticket_change(uuid, icomment=comment)
        return uuid

    def ticket_change(self, uuid: str, user: str = "ann", **fields: str) -> str:
        """A change of a ticket; a field whose name begins with `plus_` is appended to. Returns its hash."""
        cards = [f"J {name.replace('plus_', '+')} {escape(value)}" for name, value in sorted(fields.items())]
        return self.artifact(J=cards, K=uuid, U=escape(user))

    def post(self, text: str, title: str = "", reply_to: str = "", edit_of: str = "", root: str = "", user: str = "ann") -> str:
        """A forum post, reply (give `root` and `reply_to`) or edit. Returns its hash. An edit names its thread, as
        forum_post in src/forum.c has it."""
        if edit_of and not root:
            root = self.one("SELECT r.uuid FROM blob b JOIN forumpost ON fpid=b.rid JOIN blob r ON r.rid=froot WHERE b.uuid=?", edit_of)
        return self.artifact(G=root, H=escape(title), I=reply_to, N="text/x-markdown", P=edit_of, U=escape(user), W=text)

    def artifact(self, **cards: str | list[str] | None) -> str:
        """Store a structural artifact. Returns its hash; see `settle`."""
        cards = {"D": self._tick().strftime("%Y-%m-%dT%H:%M:%S.000"), **cards}
        lines = []
        for letter, value in sorted(cards.items()):
            if isinstance(value, list):
                lines += value
            elif letter == "W":
                lines.append(f"W {len((value or '').encode())}\n{value or ''}")
            elif value:
                lines.append(f"{letter} {value}")
        body = ("\n".join(lines) + "\n").encode()
        return self.put(body + b"Z " + hashlib.md5(body).hexdigest().encode() + b"\n")

    def put(self, content: bytes) -> str:
        """Store any artifact. Returns its hash."""
        file = self.home / "artifact"
        file.write_bytes(content)
        self.fossil("test-content-put", file)
        self.settle()
        return hashlib.sha3_256(content).hexdigest()

    def settle(self) -> None:
        """Let Fossil see what was written past its commands."""
        self.fossil("rebuild", self.path)

    def _tick(self) -> datetime:
        self.clock += timedelta(minutes=1)
        return self.clock

    # What takes content out of sight

    def shun(self, hash_: str, rebuild: bool = True) -> None:
        self.sql("INSERT INTO shun(uuid, mtime) VALUES(?, 0)", hash_)
        if rebuild:
            self.settle()

    def hold_for_moderation(self, hash_: str, ticket: str | None = None) -> None:
        """As src/forum.c and src/tkt.c do for a user who is not trusted."""
        self.sql("CREATE TABLE IF NOT EXISTS modreq(objid INTEGER PRIMARY KEY, attachRid INT, tktid TEXT)")
        self.sql("INSERT INTO modreq(objid, tktid) VALUES(?, ?)", self.rid(hash_), ticket)
        self.sql("INSERT OR IGNORE INTO private VALUES(?)", self.rid(hash_))

    def approve(self, hash_: str) -> None:
        """As moderation_approve in src/moderate.c."""
        self.sql("DELETE FROM private WHERE rid=?", self.rid(hash_))
        self.sql("DELETE FROM modreq WHERE objid=?", self.rid(hash_))

    def reject(self, hash_: str) -> None:
        """As moderation_disapprove in src/moderate.c."""
        rid = self.rid(hash_)
        for table, column in (("blob", "rid"), ("delta", "rid"), ("event", "objid"), ("tagxref", "rid"), ("private", "rid"),
                              ("modreq", "objid"), ("forumpost", "fpid")):
            if self.one("SELECT 1 FROM sqlite_schema WHERE name=?", table):
                self.sql(f"DELETE FROM {table} WHERE {column}=?", rid)

    def tag(self, name: str, hash_: str) -> None:
        self.fossil("tag", "add", "--raw", name, hash_)

    # Users and settings

    def user(self, login: str, caps: str, password: str = "secret") -> None:
        """Add a user, or change one."""
        if self.one("SELECT 1 FROM user WHERE login=?", login):
            self.sql("UPDATE user SET cap=? WHERE login=?", caps, login)
        else:
            self.fossil("user", "new", login, "", password, "-R", self.path)
            self.sql("UPDATE user SET cap=? WHERE login=?", caps, login)

    def setting(self, name: str, value: str) -> None:
        self.sql("REPLACE INTO config(name, value, mtime) VALUES(?, ?, 0)", name, value)
