"""The bytes of a file as text, judged by what they are and not by the file's name. Pure.

Lines end with "\\n" and are those that Fossil counts for `?ln=`: it knows only line feeds
(output_text_with_line_numbers in src/info.c), after its own change to UTF-8.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

#: A NUL in here makes a file binary, as in git; one further down is somebody's slip.
NUL_WINDOW = 8000
#: Of the bytes in the window so many may be control characters that no text file needs.
MOST_CONTROLS = 0.10

# UTF-32 before UTF-16: its little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: How files begin that are no text, whatever their bytes are: a picture need not hold a NUL.
_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ",
               b"7z\xbc\xaf\x27\x1c", b"\x7fELF", b"\xca\xfe\xba\xbe", b"OggS", b"wOFF", b"wOF2", b"SQLite format 3\0", b"\0asm")
_SYMBOLS = re.compile(r"[{}()\[\]<>=;$%^\\|#&*+@_/~`]")
#: Prose has few symbols that programs are made of, and some words.
MOST_SYMBOLS, LEAST_WORDS = 0.04, 8
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_UNPRINTABLE = re.compile(r"[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, or the reason why there is none; `notes` are facts worth counting."""

    text: str = ""
    skipped: str = ""
    notes: tuple[str, ...] = ()


def decode(content: bytes, max_bytes: int) -> Decoded:
    """The text of a file; of a longer one than `max_bytes` its beginning, up to a line's end."""
    if not content:
        return Decoded(skipped="empty")
    head = content[: max_bytes + 4]
    cut = len(content) > max_bytes
    encoding, mark = _encoding(head, cut)
    if not encoding:
        return Decoded(skipped="binary")
    text = head[len(mark) : max_bytes].decode(encoding, "ignore" if cut and encoding != "cp1252" else "replace")
    notes = []
    if cut:
        text = _whole_lines(text)
        notes.append(f"indexed {_megabytes(len(head[:max_bytes]))} of {_megabytes(len(content))} MB")
    if encoding != "utf-8":
        notes.append(f"decoded as {encoding}")
    text = tidy(text)
    return Decoded(text if text.strip() else "", "" if text.strip() else "empty", tuple(notes))


def is_prose(text: str) -> bool:
    """Whether a text is written for people: sentences rather than a program, a list of settings or data."""
    solid = len("".join(text.split()))
    return len(text.split()) >= LEAST_WORDS and len(_SYMBOLS.findall(text)) <= MOST_SYMBOLS * solid


def tidy(text: str) -> str:
    """Unix line ends, and a blank for what SQLite or UTF-8 cannot hold: NULs, lone surrogates."""
    return _unix_lines(_UNPRINTABLE.sub(" ", text))


def _encoding(head: bytes, cut: bool) -> tuple[str, bytes]:
    """(name, byte order mark) of the encoding; "" for a binary file."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name, mark
    if head.startswith(_SIGNATURES):
        return "", b""
    window = head[:NUL_WINDOW]
    if b"\0" in window:
        return _utf16_without_mark(window), b""
    if len(window) - len(window.translate(None, _CONTROLS)) > MOST_CONTROLS * len(window):
        return "", b""
    return ("utf-8" if _is_utf8(head, cut) else "cp1252"), b""


def _is_utf8(head: bytes, cut: bool) -> bool:
    """A character in two halves is no fault where the file was cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=not cut)
    except UnicodeDecodeError:
        return False
    return True


def _utf16_without_mark(window: bytes) -> str:
    """Text of mostly Western letters has a NUL in every second byte, on one side only."""
    even, odd = window[0::2].count(0), window[1::2].count(0)
    half = len(window) // 2
    for name, many, few in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if half > 1 and many > 0.7 * half and few == 0 and _is_text_in(window[: half * 2], name):
            return name
    return ""


def _is_text_in(window: bytes, encoding: str) -> bool:
    text = window.decode(encoding, "ignore")
    controls = sum(1 for c in text if c < " " and c not in "\t\n\r\f\v")
    return controls <= MOST_CONTROLS * len(text)


def _whole_lines(text: str) -> str:
    """Without a broken last line, unless that would cost more than a tenth."""
    end = text.rfind("\n") + 1
    return text[:end] if end > 0.9 * len(text) else text


def _unix_lines(text: str) -> str:
    """A lone CR ends a line only where no LF does (old Mac files): else Fossil counts on past it."""
    if "\r" not in text:
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    return text.replace("\r\n", "\n").replace("\r", " ")


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
