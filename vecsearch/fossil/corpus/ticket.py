"""Tickets: title and description first, then each comment with its author and time.

A ticket is replayed from its change artifacts, as Fossil itself does on a rebuild (ticket_insert in
src/tkt.c), and not read from the tables `ticket` and `ticketchng`: these already hold changes that wait
for a moderator, and old versions of Fossil kept all comments in one column. The tables say which fields
the site has; a field without a column is shown nowhere in Fossil, and not here.
"""

from __future__ import annotations

import html
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby

from ...config import Settings
from ...types import Document, Passage, Source
from ..decode import tidy
from ..manifest import Manifest, unix_time
from ..repository import columns, config_value, has_table, withheld
from .facts import among, cards, fingerprint, unix_seconds

_TITLES = ("title", "summary", "subject")
_DESCRIPTIONS = ("comment", "description", "body", "details")
#: Fields about the form, not the matter.
_FORM = frozenset({"mimetype", "login", "username"})
_CONTACT = re.compile(r"^private_|contact|e_?mail|phone|address", re.I)
_CONCEALED = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|\S+@\S+\.\S+", re.I)
_CLOSED = frozenset({"closed", "fixed", "tested", "resolved", "done", "rejected"})

#: What Fossil before 1.2x put before each comment that it appended (its ticket edit page).
_APPENDED = re.compile(r"\s*<hr ?/?>\s*<i>(.{1,200}?) added on ([\d: -]{10,19})(?: UTC)?:</i>\s*<br ?/?>\s*")


@dataclass(slots=True)
class _Ticket:
    """A ticket while its changes are replayed."""

    values: dict[str, str] = field(default_factory=dict)
    comments: list[Passage] = field(default_factory=list)


def sources(db: sqlite3.Connection, settings: Settings, kind: str = "ticket", only: Iterable[str] | None = None) -> Iterator[Source]:
    """Every ticket that has a change which may be shown, by uuid; or those of the uuids `only`."""
    if not has_table(db, "ticket"):
        return
    site = (columns(db, "ticket"), columns(db, "ticketchng"), config_value(db, "ticket-title-expr"), config_value(db, "ticket-status-column"))
    some, values = among("k.tkt_uuid", only)
    rows = db.execute(
        f"""SELECT k.tkt_uuid, b.uuid, x.mtime, coalesce(e.euser, e.user, '')
            FROM ticket k JOIN tag t ON t.tagname='tkt-'||k.tkt_uuid JOIN tagxref x USING (tagid)
            JOIN blob b ON b.rid=x.rid LEFT JOIN event e ON e.objid=b.rid
            WHERE b.size>=0 AND NOT {withheld(db)} {some} ORDER BY k.tkt_uuid, x.mtime, b.rid""", values)
    for ticket, group in groupby(rows, key=lambda row: row[0]):
        changes = list(group)
        mark = fingerprint(site, [change[1] for change in changes])
        yield Source("ticket", ticket, None, mark, user=changes[0][3], mtime=unix_seconds(changes[-1][2]))


def related(db: sqlite3.Connection, kind: str, rids: str) -> set[str]:
    """The uuids of tickets that have a change in `rids`, a JSON list of rows of `blob`."""
    rows = db.execute("""SELECT substr(t.tagname, 5) FROM tagxref x JOIN tag t USING (tagid)
                         WHERE x.rid IN (SELECT value FROM json_each(?)) AND t.tagname GLOB 'tkt-*'""", (rids,))
    return {uuid for (uuid,) in rows}


def document(db: sqlite3.Connection, settings: Settings, source: Source) -> Document:
    """The passages of a ticket. Raises ArtifactError."""
    ticket = _Ticket()
    for change in _changes(db, source.hash):
        _replay(ticket, change, frozenset(columns(db, "ticket")), frozenset(columns(db, "ticketchng")))
    titles = (config_value(db, "ticket-title-expr"), *_TITLES)
    title = next((value for name in titles if (value := ticket.values.get(name, "").strip())), "")
    first, *older = _split_appended(Passage(_description(ticket.values), user=source.user, mtime=_opened(db, source.hash)))
    facts = _facts(ticket.values)
    opening = Passage("\n\n".join(filter(None, (title, first.text, facts))), title, first.user, first.mtime)
    spoken = [passage for comment in ticket.comments for passage in _split_appended(comment)]
    passages = tuple(p for p in (opening, *older, *spoken) if p.text.strip())
    status = ticket.values.get(config_value(db, "ticket-status-column") or "status", "")
    notes = ("closed",) if status.strip().lower() in _CLOSED else ()
    return Document(source, title or f"ticket {source.hash[:10]}", "passages", passages=passages,
                    skipped="" if passages else "empty", notes=notes)


def _changes(db: sqlite3.Connection, ticket: str) -> Iterator[Manifest]:
    """The changes that may be shown, in the order in which Fossil applies them."""
    rows = db.execute(
        f"""SELECT b.rid FROM tag t JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid
            WHERE t.tagname='tkt-'||? AND b.size>=0 AND NOT {withheld(db)} ORDER BY x.mtime, b.rid""", (ticket,))
    return (cards(db, rid) for (rid,) in rows.fetchall())


def _opened(db: sqlite3.Connection, ticket: str) -> int:
    """The time of the first change that may be shown; its author is the source's."""
    row = db.execute(
        f"""SELECT min(x.mtime) FROM tag t JOIN tagxref x USING (tagid) JOIN blob b ON b.rid=x.rid
            WHERE t.tagname='tkt-'||? AND b.size>=0 AND NOT {withheld(db)}""", (ticket,)).fetchone()
    return unix_seconds(row[0])


def _replay(ticket: _Ticket, change: Manifest, lasting: frozenset[str], passing: frozenset[str]) -> None:
    """Apply one change. `lasting` are the columns of `ticket`, `passing` those of `ticketchng`."""
    for card, value in change.fields:
        name, value = card.removeprefix("+"), tidy(value)
        if name.startswith("tkt_") or name in _FORM or _CONTACT.search(name):
            continue
        if name in _DESCRIPTIONS and name in lasting and not card.startswith("+"):
            # The whole text was replaced, with what had been appended to it.
            ticket.values[name] = value
            ticket.comments = [c for c in ticket.comments if c.title != name]
        elif name in _DESCRIPTIONS and name in lasting and not ticket.values.get(name, "").strip():
            ticket.values[name] = value
        elif (card.startswith("+") and name in lasting) or (name in passing and name not in lasting):
            ticket.comments.append(Passage(value.strip(), name, change.user, unix_time(change.date)))
        elif name in lasting:
            ticket.values[name] = value


def _description(values: dict[str, str]) -> str:
    return "\n\n".join(filter(None, (values.get(name, "").strip() for name in _DESCRIPTIONS)))


def _facts(values: dict[str, str]) -> str:
    """The other fields, one a line, as Fossil's own search has them (append_all_ticket_fields)."""
    return "\n".join(
        f"{name}: {value.strip()}" for name, value in sorted(values.items())
        if value.strip() and name not in _TITLES + _DESCRIPTIONS and not _CONCEALED.fullmatch(value.strip()))


def _split_appended(passage: Passage) -> list[Passage]:
    """A text of an old Fossil as the passages that its separators mark off; never none."""
    parts = _APPENDED.split(passage.text)
    found = [Passage(parts[0].strip(), "", passage.user, passage.mtime)]
    for who, when, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        user = html.unescape(who.partition(" claiming to be ")[0])
        found.append(Passage(text.strip(), "", user, _time(when) or passage.mtime))
    return found


def _time(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text.strip()).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0
