"""Builds a small Fossil repository that holds every kind of content vecsearch finds, to try it on.

    python deploy/demo.py FILE.fossil

The project in it, `tern`, is made up: a backup tool for a small office.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

FILES = {
    "README.md": """# tern

A backup tool for a small office. It copies what changed to a disk or to another machine, keeps old
versions, and says loudly when it could not.

## Install

Copy `tern.py` to a directory on your PATH. It needs Python and nothing else.

## Five minutes

    tern init /mnt/disk
    tern backup ~/Documents

See `docs/restore.md` for the way back, which is the part that matters.
""",
    "docs/restore.md": """# Getting files back

## Restore one file

    tern restore ~/Documents/letter.odt

The newest version is taken unless you say `--at 2026-03-01`.

## Restore everything after a disk failure

Plug in the backup disk and run `tern restore --all /home`. Files that exist already are kept and the
copy gets the ending `.tern`. Nothing is overwritten without a question.

## When the backup disk itself is damaged

`tern verify` reads every block and compares checksums. Damaged blocks are named; versions that do
not need them can still be restored.
""",
    "docs/schedule.md": """# Running by itself

## Nightly with cron

    30 2 * * *  tern backup --quiet ~/Documents

## How long old versions are kept

Every version of the last seven days, then one a week for a year. The setting `keep-weeks` changes
that; `tern prune` applies it.
""",
    "docs/fehler.txt": "FEHLERMELDUNGEN\n\nDatentraeger voll: die Sicherung bricht ab, die vorige bleibt vollständig.\n",
    "docs/100% sure? #1.md": "# Am I really safe?\n\nOnly a restore that you have tried is a backup. Try one every month.\n",
    "src/tern.py": '''"""tern: back up, keep versions, restore."""

import hashlib
import os


class Store:
    """Blocks on the backup disk, named by their checksum."""

    def __init__(self, root):
        self.root = root

    def put_block(self, data):
        """Write a block unless the disk has it already; returns its checksum."""
        name = hashlib.sha256(data).hexdigest()
        path = os.path.join(self.root, name[:2], name)
        if not os.path.exists(path):
            write_atomically(path, data)
        return name

    def verify(self):
        """Yield the names of blocks whose bytes no longer match their checksum."""
        for name in sorted(os.listdir(self.root)):
            with open(os.path.join(self.root, name), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != name:
                    yield name


# A power cut in the middle of a write must not leave half a block under a valid name.
def write_atomically(path, data):
    with open(path + ".part", "wb") as file:
        file.write(data)
        os.fsync(file.fileno())
    os.replace(path + ".part", path)


def prune(versions, keep_weeks):
    """The versions that may go: all but the last seven days and one a week for keep_weeks weeks."""
    return [v for v in versions if v.age_days > 7 and not v.first_of_week or v.age_days > 7 * keep_weeks]
''',
    "src/disk.c": """/* How full is the disk?  Asked before each block is written. */
#include <sys/statvfs.h>

/*
** Return the number of free bytes on the file system that holds zPath,
** or -1 if it cannot be asked.
*/
long long disk_free_bytes(const char *zPath){
  struct statvfs s;
  if( statvfs(zPath, &s) ) return -1;
  return (long long)s.f_bavail * s.f_frsize;
}
""",
    "tests/test_tern.py": "def test_prune_keeps_the_last_week():\n    assert prune([], 52) == []\n",
    "AGENTS.md": """# For agents

Never change the block format without a new version byte. Run the tests before each commit. Prefer a
loud failure to a silent fallback: this program guards other people's work.
""",
    "media/talks/introduction.json": """{
  "uri": "https://media.example.org/talks/tern-introduction.mp4",
  "sha3": "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
  "mime": "video/mp4",
  "bytes": 81234567,
  "transcript": "media/talks/introduction.txt"
}
""",
    "media/talks/introduction.txt": """Welcome. This talk shows how tern came about: a stolen laptop, and three weeks of lost invoices.

We wanted something that a person without an administrator could trust. So the first rule was that
every failure is loud, and the second that restoring is tested as often as saving.
""",
}

WIKI = {
    "Roadmap": ("text/x-markdown", "# Roadmap\n\n## Next\n\nEncryption of blocks before they leave the machine, with a key on paper.\n\n"
                "## Later\n\nBackups to a second office over a slow line.\n"),
    "Questions & Answers <2026>": ("text/x-fossil-wiki", "<h1>Is the cloud supported?</h1>\nNo. A disk in a drawer and another machine are.\n"
                                   "<h1>How big may a file be?</h1>\nAs big as the disk; large files are cut into blocks.\n"),
    "Büro/Übersicht": ("text/x-markdown", "# Wer sichert was\n\nDie Buchhaltung sichert täglich, das Archiv wöchentlich.\n"),
}

TECHNOTE = "# Release 1.2\n\nRestores are twice as fast: blocks are read in the order in which they lie on the disk.\n"

TICKETS = [
    ("Backup stops when the laptop goes to sleep", "Closing the lid at 2:30 leaves a .part file behind and the next run says "
     "that the disk is busy.", ["Seen here too, on a machine with an external disk.", "Fixed by removing stale .part files "
                                "at start; see write_atomically."]),
    ("Progress bar counts files, not bytes", "With one huge video the bar stands at 0% for an hour.", []),
]

FORUM = [
    ("Which disk format do you use?", "I have a drawer full of disks with NTFS, ext4 and exFAT. Which one survives best?"),
    (None, "ext4, and label the disk with the date. Whatever you use, run tern verify twice a year."),
    (None, "We moved from exFAT to ext4 after an unclean unplug lost a whole directory."),
]


class Demo:
    """Runs `fossil` on one repository as one user."""

    def __init__(self, file: Path, home: Path):
        self.file, self.home, self.checkout = file, home, home / "checkout"
        self.env = {**os.environ, "HOME": str(home), "USER": "ann"}
        self.env.pop("GATEWAY_INTERFACE", None)

    def fossil(self, *args: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["fossil", *args], cwd=cwd or self.home, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"demo: fossil {args[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def build(self) -> None:
        self.fossil("init", "--project-name", "tern", "--admin-user", "ann", str(self.file))
        self.checkout.mkdir()
        self.fossil("open", "--keep", str(self.file), cwd=self.checkout)
        self.fossil("settings", "encoding-glob", "*", cwd=self.checkout)
        for name, text in FILES.items():
            path = self.checkout / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.fossil("addremove", cwd=self.checkout)
        self.fossil("commit", "--no-warnings", "-m", "First version: blocks named by checksum, restore, nightly schedule", cwd=self.checkout)
        (self.checkout / "src/disk.c").write_text(FILES["src/disk.c"].replace("before each block", "before each new block"), "utf-8")
        self.fossil("commit", "--no-warnings", "-m", "Ask for free space only when a block is new; a full disk no longer ends the run early",
                    cwd=self.checkout)
        for name, (mimetype, text) in WIKI.items():
            self.fossil("wiki", "create", name, self.temporary(text), "--mimetype", mimetype, "-R", str(self.file))
        self.fossil("wiki", "create", "Release 1.2", self.temporary(TECHNOTE), "--technote", "now", "--mimetype", "text/x-markdown",
                    "-R", str(self.file))
        for title, text, comments in TICKETS:
            self.ticket(title, text, comments)
        self.forum()
        self.fossil("rebuild", str(self.file))

    def temporary(self, text: str) -> str:
        path = self.home / "text"
        path.write_text(text, "utf-8")
        return str(path)

    def ticket(self, title: str, text: str, comments: list[str]) -> None:
        self.fossil("ticket", "add", "title", title, "status", "Open", "type", "Code_Defect", "comment", text, "-R", str(self.file))
        uuid = self.fossil("sql", "-R", str(self.file), "SELECT tkt_uuid FROM ticket ORDER BY tkt_id DESC LIMIT 1;").strip().strip("'")
        for comment in comments:
            self.fossil("ticket", "change", uuid, "icomment", comment, "login", "ann", "-R", str(self.file))

    def forum(self) -> None:
        """Forum posts have no command: the artifacts are written by hand (www/fileformat.wiki)."""
        root = previous = ""
        for number, (title, text) in enumerate(FORUM):
            cards = [f"D {datetime(2026, 3, 1, 9, number, tzinfo=UTC).strftime('%Y-%m-%dT%H:%M:%S.000')}"]
            cards += [f"G {root}"] if root else []
            cards += ["H " + title.replace(" ", "\\s")] if title else []
            cards += [f"I {previous}"] if previous else []
            cards += ["N text/x-markdown", "U ann", f"W {len(text.encode())}\n{text}"]
            body = ("\n".join(cards) + "\n").encode()
            artifact = self.home / "post"
            artifact.write_bytes(body + b"Z " + hashlib.md5(body).hexdigest().encode() + b"\n")
            self.fossil("test-content-put", str(artifact), cwd=self.checkout)
            previous = hashlib.sha3_256(artifact.read_bytes()).hexdigest()
            root = root or previous


def main() -> None:
    """Build into a temporary file first, so that a broken run leaves nothing that looks finished."""
    if len(sys.argv) != 2:
        sys.exit("usage: python deploy/demo.py FILE.fossil")
    target = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as home:
        partial = Path(home) / "demo.fossil"
        Demo(partial, Path(home)).build()
        target.write_bytes(partial.read_bytes())
    print(f"built {target}")


if __name__ == "__main__":
    main()
