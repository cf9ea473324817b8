"""What a visitor may read. The only code that knows Fossil's capability letters.

`/ext` is open to everybody: Fossil leaves access control to the extension. FOSSIL_CAPABILITIES alone
says too much for a visitor who has not logged in (it always has the letters of `anonymous`) and too
little of what a letter implies; FOSSIL_USER alone may come from the server's own environment. So the
letters are taken from the `user` table, and the environment only has to agree with it.

Sources: src/extcgi.c (what arrives), src/capabilities.c (capability_expand, fullcap), src/login.c
(login_set_capabilities, login_set_anon_nobody_capabilities).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

#: What each kind asks for: all of these rights (SPEC section 8; search_restrict in src/search.c).
NEEDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("doc", "code", "instruction", "media", "api", "checkin"), frozenset({"Read"})),
    "wiki": frozenset({"RdWiki"}),
    "technote": frozenset({"RdWiki", "Read"}),
    "ticket": frozenset({"RdTkt"}),
    "forum": frozenset({"RdForum"}),
}

#: The rights to read that each letter gives (login_set_capabilities).
GRANTS: dict[str, frozenset[str]] = {
    **dict.fromkeys("as", frozenset({"Read", "RdWiki", "RdTkt", "RdForum"})),
    **dict.fromkeys("io", frozenset({"Read"})),
    **dict.fromkeys("jk", frozenset({"RdWiki"})),
    **dict.fromkeys("rw", frozenset({"RdTkt"})),
    **dict.fromkeys("23456", frozenset({"RdForum"})),
}

#: Letters that stand for those of another user.
ROLES = {"u": "reader", "v": "developer"}

#: What fullcap adds for `a` or `s`; 2.22 and later also add `C` (capability_expand).
_ADMIN = "bcdefghijklmnopqrtwz234567AD"
#: Whatever a version may add or leave out is not compared.
_NOT_COMPARED = frozenset("BC")


def visible_kinds(db: sqlite3.Connection, environ: Mapping[str, str]) -> frozenset[str]:
    """The kinds that this visitor could read in Fossil itself; none if that cannot be told."""
    try:
        logins = dict(db.execute("SELECT login, cap FROM user"))
    except sqlite3.Error:
        return frozenset()
    rights = frozenset().union(*(GRANTS.get(letter, frozenset()) for letter in _letters(logins, environ)))
    return frozenset(kind for kind, needs in NEEDS.items() if needs <= rights)


def _letters(logins: Mapping[str, str | None], environ: Mapping[str, str]) -> set[str]:
    """Every visitor has the letters of `nobody`, one who is logged in those of `anonymous` too."""
    user = _believed(logins, environ)
    letters = set(logins.get("nobody") or "")
    if user:
        letters.update(logins.get("anonymous") or "", logins.get(user) or "")
    return _with_roles(letters, logins)


def _with_roles(letters: set[str], logins: Mapping[str, str | None]) -> set[str]:
    """`u` and `v` replaced by what they stand for, which may name the other one."""
    waiting, letters = list(letters & ROLES.keys()), set(letters)
    done: set[str] = set()
    while waiting:
        role = waiting.pop()
        if role not in done:
            done.add(role)
            gained = set(logins.get(ROLES[role]) or "")
            letters |= gained
            waiting += gained & ROLES.keys()
    return letters


def _believed(logins: Mapping[str, str | None], environ: Mapping[str, str]) -> str:
    """FOSSIL_USER, if it is the visitor's name; else "".

    The name is the visitor's only if Fossil says for the visitor what it would say for that user. A
    user for whom it would say the same as for `nobody` has no more than that, whoever asks, unless
    it is `anonymous`: fullcap gives everybody its letters, so it is told apart by no letter.
    """
    user = environ.get("FOSSIL_USER", "")
    said = environ.get("FOSSIL_CAPABILITIES")
    if not user or user == "nobody" or user not in logins or said is None:
        return ""
    if user == "anonymous":
        return user
    own, nobody = _fullcap(logins[user], logins), _fullcap(logins.get("nobody"), logins)
    comparable = set(said) - _NOT_COMPARED
    return user if comparable == own and comparable != nobody else ""


def _fullcap(cap: str | None, logins: Mapping[str, str | None]) -> set[str]:
    """What Fossil's SQL function fullcap() makes of a user's letters, but for those not compared.

    In its own order: anonymous and nobody, then what `a` and `s` give, then the roles, each once.
    """
    letters = set(cap or "") | set(logins.get("anonymous") or "") | set(logins.get("nobody") or "")
    if letters & {"a", "s"}:
        letters |= set(_ADMIN)
    had_v = "v" in letters
    if had_v:
        letters |= set(logins.get("developer") or "")
    if "u" in letters:
        letters |= set(logins.get("reader") or "")
        if "v" in letters and not had_v:
            letters |= set(logins.get("developer") or "")
    return {letter for letter in letters if letter.isascii() and letter.isalnum()} - _NOT_COMPARED
