"""The files of a package archive as documents, in the markup and languages that vecsearch reads."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from vecsearch.types import Document, Source

FORMATS = {
    "python": "py pyx pyi", "javascript": "js mjs cjs jsx", "typescript": "ts tsx mts", "c": "c h",
    "cpp": "cc cpp cxx hpp hh", "csharp": "cs", "go": "go", "java": "java", "kotlin": "kt kts", "scala": "scala",
    "swift": "swift", "ruby": "rb rake", "php": "php", "rust": "rs", "lua": "lua", "haskell": "hs lhs",
    "elixir": "ex exs", "erlang": "erl hrl", "zig": "zig", "shell": "sh bash zsh", "tcl": "tcl tm itcl", "sql": "sql",
    "markdown": "md markdown tid", "rst": "rst", "asciidoc": "adoc asciidoc asc", "html": "html htm",
    "docbook": "sgml xml docbook", "pod": "pod", "texinfo": "texi texinfo", "rdoc": "rdoc",
    "man": "1 2 3 4 5 6 7 8 n man", "plain": "txt",
}
BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes.split()}
PROSE = {"markdown", "rst", "asciidoc", "html", "docbook", "pod", "texinfo", "rdoc", "man", "plain"}

#: The repositories of the benchmark that judges us, and what such benchmarks like to take.
BENCHMARK = set("""aiohttp fastapi flask httpx model2vec pydantic requests starlette click semble axios express redux zod
trpc vitest axum tokio serde ripgrep gin cobra chi rails sinatra laravel gson okhttp retrofit jackson alamofire curl redis
jq libuv fmt fmtlib nlohmann spdlog phoenix plug ecto pandoc xmonad cats circe ktor exposed zls clap-zig zig-clap bats nvm
dapper messagepack messagepack-csharp laravel-framework bats-core telescope lazy.nvim sqlite fossil""".split())
#: Copies that packages carry under names of their own: of these (cmake's libuv, cargo's serde, anybody's SQLite), and of what
#: these carry themselves (zlib, googletest, Jim Tcl, Tcl's header, Lemon's parser, Office's theme).
#: training/copies.py looks for more.
COPIES = re.compile(
    r"(^|/)(cm)?libuv|(^|/)serde[-_]|(^|/)sqlite\w*\.[ch]$|zlib|minizip|(^|/)(mini)?unzi?p?\.[ch]$|google(test|mock)|(^|/)g(test|mock)[/.]"
    r"|linenoise|dirent|(sys-)?tree\.h$|(^|/)md5\.[ch]$|autosetup|jim(tcl|sh)|(^|/)tcl(PlatDecls)?\.h$|(^|/)(lempar|configparser)\.c$|(^|/)writer/theme\.py$"
    r"|(^|/)(adler32|crc32|deflate|gz(close|guts|lib|read|write)|inf(back|fast|fixed|late|trees)|trees|uncompr|(ft)?zconf|zutil)\.[ch]$", re.I)
SKIPPED = re.compile(
    r"(^|/)(_?vendor(ed)?|node_modules|third.?party|extern(al)?|deps|testdata|fixtures|locale|i18n|po|dist|min|build|debian|"
    r"test[-_]?suite|snapshots?|generated|licen[cs]es?|translations?|zh[-_\w]*|ja|ko|fr|de|es|ru|pt[-_\w]*)/"
    r"|\.min\.|\.d\.ts$|(^|/)(licen[cs]e|copying|copyright|authors|thanks|third.?party)[^/]*$|(licen[cs]e|notices|code[-_]of[-_]conduct)\.\w+$"
    r"|(^|/)conf\.py$|[.](po|fr|de|ja|ko|es|tr)\.\w+$", re.I)
TESTS = re.compile(r"(^|/)(__)?tests?(__)?/|(^|/)test_|[._]test\.|_spec\.|\.spec\.", re.I)
#: A file of check-in comments in GNU's form: `* path (function): what was done`.
HISTORY = re.compile(r"(^|/)ChangeLog(\.\w+)?$")
LARGEST, LARGEST_HISTORY = 300_000, 2_000_000


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files worth reading; the archive's own top folder is dropped."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if wanted(info.filename, info.file_size):
                    yield info.filename, packed.read(info)
        return
    if archive.suffix == ".deb":
        yield from _pages(archive)
        return
    with tarfile.open(archive) as packed:
        yield from _unpacked(packed, 1)


def _unpacked(packed: tarfile.TarFile, depth: int) -> Iterator[tuple[str, bytes]]:
    """The files worth reading, by their paths less the first `depth` folders."""
    for member in packed:
        path = member.name.removeprefix("./").split("/", depth)[-1]
        if member.isfile() and wanted(path, member.size):
            handle = packed.extractfile(member)
            if handle:
                yield path, handle.read()


def _pages(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The pages of a documentation package (usr/share/doc/NAME/...): as their authors wrote them, where Sphinx left
    those beside what it made of them."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as packed:
            pages = list(_unpacked(packed, 4))
    written = [(path.rpartition("_sources/")[2].removesuffix(".txt"), content) for path, content in pages if "_sources/" in path]
    yield from (page for page in written or pages if page[0].rpartition(".")[2].lower() in BY_SUFFIX)


def wanted(path: str, size: int) -> bool:
    if HISTORY.search(path):
        return size < LARGEST_HISTORY
    steps = set(re.split(r"[/.]", path.lower())) | set(path.lower().split("/"))
    return (200 < size < LARGEST and path.rpartition(".")[2].lower() in BY_SUFFIX
            and not SKIPPED.search(path) and not COPIES.search(path) and not steps & BENCHMARK)


def document(path: str, content: bytes) -> Document | None:
    """The file as the indexer would see it; None for what is not readable text."""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\0", "")
    if text.count("\ufffd") > 5 or max(map(len, text.split("\n"))) > 3000:
        return None
    name = BY_SUFFIX[path.rpartition(".")[2].lower()]
    if name == "man" and not re.search(r"^[.'](SH|Sh|TH|Dd)\b", text, re.M):
        return None
    name, text = CONVERT.get(name, lambda t: (name, t))(text)
    kind = "doc" if name in PROSE else "code"
    return Document(Source(kind, "", path, ""), path, name, text)


def _docbook(text: str) -> tuple[str, str]:
    text = re.sub(r"<(/?)(?:title|refname|seg:title)>", r"<\1h2>", text)
    return "html", text


def _pod(text: str) -> tuple[str, str]:
    text = re.sub(r"^=head(\d) ", lambda m: "#" * int(m[1]) + " ", text, flags=re.M)
    text = re.sub(r"^=item ", "* ", text, flags=re.M)
    text = re.sub(r"[A-Z]<{1,2} ?([^<>]*?) ?>{1,2}", r"\1", text)
    return "markdown", re.sub(r"^=\w+.*$", "", text, flags=re.M)


def _texinfo(text: str) -> tuple[str, str]:
    text = re.sub(r"^@(?:chapter|section|unnumbered\w*|subsection|appendix\w*|subsubsection) ", "## ", text, flags=re.M)
    text = re.sub(r"@\w+\{([^{}]*)\}", r"\1", text)
    return "markdown", re.sub(r"^@\w+ ?", "", text, flags=re.M)


def _rdoc(text: str) -> tuple[str, str]:
    return "markdown", re.sub(r"^(=+) ", lambda m: "#" * len(m[1]) + " ", text, flags=re.M)


def _markdown(text: str) -> tuple[str, str]:
    """TiddlyWiki's and Trac's headings among the Markdown."""
    text = re.sub(r"^(!{1,4}) ?(?=\w)", lambda m: "#" * len(m[1]) + " ", text, flags=re.M)
    return "markdown", re.sub(r"^(={1,4}) (.*?) =+ *$", lambda m: "#" * len(m[1]) + " " + m[2], text, flags=re.M)


CONVERT = {"docbook": _docbook, "pod": _pod, "texinfo": _texinfo, "rdoc": _rdoc, "markdown": _markdown}
