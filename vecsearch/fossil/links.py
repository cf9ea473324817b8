"""The page of Fossil where a hit opens. Pure. Each form was tried on Fossil 2.21 and 2.28."""

from __future__ import annotations

from urllib.parse import quote


def url(kind: str, path: str | None, hash_: str, ci: str, lines: tuple[int, int] | None, base: str, fragment: str = "") -> str:
    """The address, every byte of a name percent-encoded. `base` is what stands before each link of
    the site (FOSSIL_URI), `ci` the check-in at which the file was read; `fragment` is the id of a
    heading or a text directive (`:~:text=...`), given as it shall stand in the address."""
    return f"{base}{_page(kind, path or '', hash_, ci, lines)}{'#' + fragment if fragment else ''}"


def _page(kind: str, path: str, hash_: str, ci: str, lines: tuple[int, int] | None) -> str:
    match kind:
        case "doc" | "instruction" if ci and path:
            # /doc needs a check-in: with the file's own hash it is a 404. Fossil 2.28 decodes a path twice, so that
            # a name with % is found as a parameter only.
            return f"/doc?name={quote(f'{ci}/{path}', safe='')}" if "%" in path else f"/doc/{quote(ci, safe='')}/{quote(path)}"
        case "wiki":
            return f"/wiki?name={quote(path, safe='')}"
        case "technote":
            return f"/technote/{quote(path, safe='')}"
        case "ticket":
            return f"/tktview/{quote(hash_, safe='')}"
        case "forum":
            return f"/forumpost/{quote(hash_, safe='')}"
        case "api":
            return f"/help/{quote(path, safe='')}"
        case "code" if lines:
            return f"/info/{quote(hash_, safe='')}?ln={lines[0]}-{lines[1]}"
    return f"/info/{quote(hash_, safe='')}"
