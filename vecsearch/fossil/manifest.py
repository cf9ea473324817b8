"""The cards of a structural artifact: check-in, wiki page, technote, ticket change, forum post.

Pure. The format: Fossil's www/fileformat.wiki; its parser: manifest_parse in src/manifest.c.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

_SIGNED = b"-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE = b"\n-----BEGIN PGP SIGNATURE-"
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CARD = re.compile(rb"[A-Z](?: |\n|\Z)")
_BASELINE = re.compile(rb"^B ", re.M)
_ESCAPE = re.compile(r"\\(.)", re.S)
_UNESCAPED = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "0": "\0"}


@dataclass(frozen=True, slots=True)
class File:
    """An F card. `hash` is empty where a delta manifest deletes the file of its baseline; `perm` is
    `x` for a program, `l` for a symbolic link."""

    name: str
    hash: str = ""
    perm: str = ""
    old_name: str = ""


@dataclass(frozen=True, slots=True)
class TagCard:
    """A T card: `name` begins with `+` (add), `-` (cancel) or `*` (propagate); target `*` is self."""

    name: str
    target: str
    value: str = ""


@dataclass(slots=True)
class Manifest:
    """What the cards say; a card that is missing is empty. Each field is named with its card."""

    baseline: str = ""  # B
    comment: str = ""  # C
    date: str = ""  # D
    event_date: str = ""  # E
    event_id: str = ""  # E
    files: list[File] = field(default_factory=list)  # F
    thread_root: str = ""  # G
    title: str = ""  # H
    in_reply_to: str = ""  # I
    fields: list[tuple[str, str]] = field(default_factory=list)  # J
    ticket: str = ""  # K
    page: str = ""  # L
    mimetype: str = ""  # N
    parents: list[str] = field(default_factory=list)  # P
    tags: list[TagCard] = field(default_factory=list)  # T
    user: str = ""  # U
    text: bytes = b""  # W
    cards: frozenset[str] = frozenset()


def parse(content: bytes) -> Manifest:
    """The manifest in an artifact. Raises ValueError, which says why it is none."""
    body = _unsigned(content)
    _check_sum(body)
    manifest = Manifest()
    cards = set()
    for letter, rest, text in _cards(body):
        cards.add(letter)
        _take(manifest, letter, rest.split(" ") if rest else [], text)
    manifest.cards = frozenset(cards)
    return manifest


def file_lines(content: bytes) -> list[bytes] | None:
    """The F cards of a check-in, not taken apart; None if it is a delta of another one, or has a file without
    content. Raises ValueError as `parse` does."""
    body = _unsigned(content)
    _check_sum(body)
    if _BASELINE.search(body):
        return None
    lines = [line for line in body.split(b"\n") if line.startswith(b"F ")]
    return lines if all(line.count(b" ") > 1 for line in lines) else None


def file_of(line: bytes) -> File:
    """One F card."""
    return _file(line[2:].decode("utf-8", "replace").split(" "))


def _file(words: list[str]) -> File:
    return File(unescape(words[0]), *words[1:3], *map(unescape, words[3:4]))


def unescape(text: str) -> str:
    """Fossil's escapes undone (defossilize in src/encode.c)."""
    return _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text) if "\\" in text else text


def unix_time(date: str) -> int:
    """Seconds since 1970 of a date card (ISO 8601, UTC). Raises ValueError."""
    return int(datetime.fromisoformat(date.removesuffix("Z")).replace(tzinfo=UTC).timestamp())


def _unsigned(content: bytes) -> bytes:
    """The artifact without a PGP clear signature around it (remove_pgp_signature)."""
    if not content.startswith(_SIGNED):
        return content
    start = _BLANK_LINE.search(content)
    end = content.rfind(_SIGNATURE)
    if start is None:
        return content
    return content[start.end() : end + 1 if end >= 0 else len(content)]


def _check_sum(body: bytes) -> None:
    """The last card: `Z`, a blank, the MD5 of all before it, a newline: 35 bytes (verify_z_card)."""
    if body[-35:-33] != b"Z ":
        raise ValueError("no Z card at its end")
    if hashlib.md5(body[:-35], usedforsecurity=False).hexdigest().encode() != body[-33:-1]:
        raise ValueError("the Z card does not fit its content")


def _cards(body: bytes) -> Iterator[tuple[str, str, bytes]]:
    """(letter, arguments, text) of each card; only a W card has text."""
    at = 0
    while at < len(body):
        end = body.find(b"\n", at)
        end = len(body) if end < 0 else end
        if not _CARD.match(body, at):
            raise ValueError(f"byte {at} begins no card")
        letter, rest = chr(body[at]), body[at + 2 : end].decode("utf-8", "replace")
        at = end + 1
        text = b""
        if letter == "W":
            size = _size(rest)
            text, at = body[at : at + size], at + size + 1
            if len(text) != size or body[at - 1 : at] != b"\n":
                raise ValueError("the W card is longer than the artifact")
        yield letter, rest, text


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError("the W card has no size")
    return int(text)


#: Cards that hold one value: letter, attribute of Manifest.
_PLAIN = {"B": "baseline", "C": "comment", "D": "date", "G": "thread_root", "H": "title", "I": "in_reply_to",
          "K": "ticket", "L": "page", "N": "mimetype", "U": "user"}


def _take(manifest: Manifest, letter: str, words: list[str], text: bytes) -> None:
    """Put one card where it belongs; cards that nobody here needs (A, M, Q, R, Z) are passed over."""
    if letter in _PLAIN:
        setattr(manifest, _PLAIN[letter], unescape(words[0]) if words else "")
    elif letter == "W":
        manifest.text = text
    elif letter == "F" and words:
        manifest.files.append(_file(words))
    elif letter == "J" and words:
        manifest.fields.append((words[0], unescape(words[1]) if len(words) > 1 else ""))
    elif letter == "P":
        manifest.parents = words
    elif letter == "T" and len(words) > 1:
        manifest.tags.append(TagCard(unescape(words[0]), words[1], unescape(words[2]) if len(words) > 2 else ""))
    elif letter == "E" and len(words) > 1:
        manifest.event_date, manifest.event_id = words[0], words[1]
