"""Reading a peer's unversioned files over HTTP, with bounds on everything it may send."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, urlsplit, urlunsplit

from .errors import StoreError

SECONDS = 30
#: A blob of 65,536 chunks is larger; no artifact that anyone searches is.
MAX_FILE = 256 << 20
MAX_TOTAL = 2 << 30


def without_login(url: str) -> str:
    """The address without user and password: it is shown to visitors, and stands in messages and logs."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def fetcher(url: str) -> Callable[[str], bytes | None]:
    """A function from the name of an unversioned file to its content, None where there is none. It
    raises StoreError for whatever else the server answers."""
    import requests  # 110 ms that no other command pays

    session = requests.Session()
    total = 0

    def fetch(name: str) -> bytes | None:
        nonlocal total
        address = f"{without_login(url).rstrip('/')}/uv/{quote(name)}"
        try:
            with session.get(f"{url.rstrip('/')}/uv/{quote(name)}", timeout=SECONDS, stream=True, allow_redirects=False) as reply:
                if reply.status_code == 404:
                    return None
                if reply.status_code != 200:
                    raise StoreError(f"{address} answered {reply.status_code}{_advice(reply.headers.get('Location', ''))}")
                data = _bounded(reply.iter_content(1 << 16), address)
        except requests.RequestException as error:
            raise StoreError(f"{address}: cannot be read: {type(error).__name__}") from None
        total += len(data)
        if total > MAX_TOTAL:
            raise StoreError(f"{without_login(url)} sends more than {MAX_TOTAL >> 30} GB; take the index from a clone instead")
        return data

    return fetch


def _bounded(pieces, address: str) -> bytes:
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > MAX_FILE:
            raise StoreError(f"{address} is larger than {MAX_FILE >> 20} MB")
    return bytes(data)


def _advice(location: str) -> str:
    if "/login" in location:
        return ": it asks for a login; take the index from a clone instead"
    return f": it has moved to {location}; add the peer by that address" if location else ""
