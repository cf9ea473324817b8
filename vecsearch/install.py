"""Putting the launcher of the search page into a Fossil extension root, and a line into the site's menu.

Everything in an extension root is public: what is not executable is served as it is, to everybody. So
the launcher is the only file that goes there, and it names absolute paths: Fossil starts it with an
empty environment.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from . import fossil_program, resident
from .errors import UsageError, VecsearchError
from .fossil.repository import config_value, open_readonly

#: Fossil serves no other names below its extension root, and none that starts with `.` or `-`.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
#: A file with one of these is a launcher of ours, of whatever version.
MARKS = (b"from vecsearch.worker.shim import main", b"from vecsearch.cgi import main")

#: What Fossil shows while the setting `mainmenu` is not set (zDfltMainMenu in src/style.c, 2.21 to 2.28).
DEFAULT_MENU = """Home      /home        *              {}
Timeline  /timeline    {o r j}        {}
Files     /dir?ci=tip  oh             desktoponly
Branches  /brlist      o              wideonly
Tags      /taglist     o              wideonly
Forum     /forum       {@2 3 4 5 6}   wideonly
Chat      /chat        C              wideonly
Tickets   /ticket      r              wideonly
Wiki      /wiki        j              wideonly
Admin     /setup       {a s}          desktoponly
Logout    /logout      L              wideonly
Login     /login       !L             wideonly
"""


def install(extroot: Path, name: str, repository: Path | None, user: str | None = None, *, worker: bool = True) -> str:
    """Write DIR/NAME, run it once as Fossil would, and say what to add where.

    Raises UsageError for a name that Fossil would not serve, VecsearchError if it does not run.
    """
    require_name(name)
    if not extroot.is_dir():
        raise UsageError(f"{extroot} is no directory; make it first, and let nobody else write there")
    target = extroot.resolve() / name
    if target.exists() and not is_ours(target):
        raise UsageError(f"{target} is there and not a launcher of vecsearch; choose another --name")
    server_user = user or default_user(repository)
    partial = target.with_name(f"{name}.new")
    try:
        partial.write_bytes(os.fsencode(_launcher(worker)))
        partial.chmod(0o755)
        os.replace(partial, target)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()  # what lies there is served to everybody
        raise VecsearchError(f"cannot write {target}: {error.strerror}") from error
    if fault := try_launcher(target, repository, server_user):
        raise VecsearchError(f"{target} does not run with an empty environment{_as_whom(server_user)}: {fault}")
    return f"wrote {target}\nit runs with an empty environment{_as_whom(server_user)}\n\n{ways_to_serve(target, repository)}"


def require_name(name: str) -> None:
    """Raises UsageError for a file name that Fossil would not serve."""
    if not _NAME.fullmatch(name):
        raise UsageError(f'Fossil serves no extension called "{name}": use letters, digits, ".", "_" and "-"')


def is_ours(target: Path) -> bool:
    """Whether the file is a launcher that some version of vecsearch wrote."""
    return target.is_file() and any(mark in target.read_bytes() for mark in MARKS)


def is_old(launcher: Path) -> bool:
    """Whether a launcher of ours is one that knows no worker."""
    return MARKS[0] not in launcher.read_bytes()


def ways_to_serve(target: Path, repository: Path | None) -> str:
    """The one line to add, for each way in which Fossil is run."""
    root, shown = shlex.quote(str(target.parent)), shlex.quote(str(repository.resolve())) if repository else "REPOSITORY"
    return f"""Add the extension root to the way your Fossil is run:
  server         fossil server --extroot {root} {shown}
  on this desk   fossil ui --extroot {root} {shown}
  SCGI           fossil server --scgi --localhost --port 9000 --extroot {root} {shown}
  inetd, xinetd  fossil http --extroot {root} {shown}
  CGI            in Fossil's CGI script, a line:  extroot: {target.parent}
If Fossil is started as root it locks itself into the repository's folder: add --nojail, or see
docs/administration.md. Then open /ext/{target.name} below your site's own address.
"""


def _as_whom(user: str | None) -> str:
    return f" as user {user}" if user else ""


def launcher_template() -> str:
    """The text of ext/search, from the installed package or from a check-out."""
    here = Path(__file__).parent
    packaged = here / "ext" / "search"
    return (packaged if packaged.is_file() else here.parent / "ext" / "search").read_text("utf-8")


def worker_name() -> str:
    """The name of the resident worker of this very installation."""
    return resident.name(sys.prefix, _library())  # not the interpreter, which has several names


def _launcher(worker: bool) -> str:
    filled = {"python=": f"python={shlex.quote(sys.executable)}", "worker=": f"worker={worker_name() if worker else ''}",
              "perl=": f"perl={shlex.quote(shutil.which('perl', path=os.defpath) or '')}",
              "set --": f"set -- {' '.join(map(shlex.quote, [_library(), *_missing_paths()]))}"}
    return "\n".join(filled.get(line, line) for line in launcher_template().split("\n"))


def _library() -> str:
    """The folder that holds the package."""
    return str(Path(__file__).resolve().parent.parent)


def _missing_paths() -> list[str]:
    """Directories of sys.path that an isolated interpreter would not look into but that our libraries are in."""
    isolated = subprocess.run([sys.executable, "-I", "-c", "import sys; print('\\n'.join(sys.path))"],
                              capture_output=True, text=True, check=True).stdout.splitlines()
    found = (importlib.util.find_spec(library) for library in ("flask", "numpy", "waitress"))
    needed = {str(Path(spec.origin).resolve().parent.parent) for spec in found if spec and spec.origin}
    return sorted(needed - {str(Path(p).resolve()) for p in isolated} - {_library()})


def interpreter_of(launcher: Path) -> Path:
    """The interpreter that a launcher names, of whatever version."""
    text = os.fsdecode(launcher.read_bytes())
    named = re.search(r"^python=(.*)$", text, re.MULTILINE)
    if named:
        try:
            return Path("".join(shlex.split(named[1])))
        except ValueError:  # edited by hand, to no good
            return Path(named[1])
    return Path(text.split("\n", 1)[0].removeprefix("#!").split(" ")[0].rstrip("\r"))


def worker_of(launcher: Path) -> str:
    """The name of the worker that a launcher asks, "" if it asks none."""
    named = re.search(rb"^worker=(\w+)$", launcher.read_bytes(), re.MULTILINE)
    return named[1].decode() if named else ""


def worker_fault(launcher: Path, user: str | None) -> str:
    """Why the worker of a launcher cannot load, in a line; "" if it can, or if there is none."""
    named = re.search(r"^set -- (.*)$", os.fsdecode(launcher.read_bytes()), re.MULTILINE)
    if not worker_of(launcher) or not named:
        return ""
    load = "import sys; sys.path += sys.argv[1:]; import vecsearch.worker, site; site.main(); import vecsearch.worker.serve"
    command = [str(interpreter_of(launcher)), "-I", "-S", "-c", load, *shlex.split(named[1])]
    done = subprocess.run(command, env={}, cwd="/", capture_output=True, text=True, check=False, **identity(user))
    return done.stderr.strip().rpartition("\n")[2] or f"exit {done.returncode}" if done.returncode else ""


def default_user(repository: Path | None) -> str | None:
    """Only root can try what another user may do: then the repository's owner, as whom Fossil runs."""
    if os.getuid() != 0 or repository is None or not repository.is_file():
        return None
    try:
        return pwd.getpwuid(repository.stat().st_uid).pw_name
    except KeyError:
        return None


def try_launcher(target: Path, repository: Path | None, user: str | None) -> str:
    """Run the launcher as Fossil would; "" if it answers, else why not. What it cannot do here is a
    blank page later."""
    environ = {"FOSSIL_REPOSITORY": str(repository.resolve()) if repository else "", "GATEWAY_INTERFACE": "CGI/1.0",
               "REQUEST_METHOD": "GET", "QUERY_STRING": "format=json", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
               "SERVER_PROTOCOL": "HTTP/1.0", "SCRIPT_NAME": f"/ext/{target.name}", "PATH_INFO": "", "VECSEARCH_WORKER": "off"}
    try:
        done = subprocess.run([str(target)], env=environ, cwd="/", capture_output=True, timeout=60, check=False, **identity(user))
    except subprocess.TimeoutExpired:
        return "it did not answer within 60 seconds"
    except OSError as error:
        return f"it cannot be started ({error.strerror})"
    if b"application/json" in done.stdout:
        return ""
    return (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it printed nothing"])[-1]


def identity(user: str | None) -> Mapping[str, Any]:
    """Arguments of subprocess.run that make the child run as `user`; none without a name, or where it
    is us. Raises UsageError for an unknown user, or if we may not."""
    if user is None:
        return {}
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise UsageError(f'there is no user "{user}" on this machine') from None
    if entry.pw_uid == os.getuid():
        return {}
    if os.getuid() != 0:
        raise UsageError(f"only root can try what user {user} may do; run this as root, or as {user}")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": os.getgrouplist(user, entry.pw_gid)}


def menu(repository: Path) -> str:
    """The site's own menu, "" where it has Fossil's default."""
    with closing(open_readonly(repository)) as db:
        return config_value(db, "mainmenu")


def menu_line(name: str) -> str:
    """Label, page, capabilities (everybody; the page itself looks closer), classes."""
    return f"Search    /ext/{name}  *              {{}}"


def has_entry(line: str, name: str) -> bool:
    """Whether a line of the menu leads to our page."""
    return re.search(rf"\s\{{?/ext/{re.escape(name)}\}}?(\s|$)", line) is not None


def add_to_menu(repository: Path, name: str) -> str:
    """Put Search into the site's menu, before the entries that only some see; every other line stays."""
    own = menu(repository)
    lines = (own or DEFAULT_MENU).rstrip("\n").split("\n")
    if any(has_entry(line, name) for line in lines):
        return f"the menu has /ext/{name} already"
    at = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("Admin ", "Logout ", "Login "))), len(lines))
    fossil_program.run("settings", "mainmenu", "\n".join([*lines[:at], menu_line(name), *lines[at:]]) + "\n", "-R", repository)
    return f"added Search to the menu{'' if own else '; the other entries are those of Fossil 2.21 to 2.28'}"


def remove_from_menu(repository: Path, name: str) -> str:
    """Take our line away; a menu that is then Fossil's default is unset again."""
    own = menu(repository)
    lines = own.split("\n")
    kept = "\n".join(line for line in lines if not has_entry(line, name))
    if kept == own:
        return ""
    if kept == DEFAULT_MENU:
        fossil_program.run("unset", "mainmenu", "-R", repository)
    else:
        fossil_program.run("settings", "mainmenu", kept, "-R", repository)
    return "removed Search from the menu"
