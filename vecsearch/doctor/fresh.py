"""Is there something that keeps the index current, and can it work?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

from .. import hooks
from ..fossil.repository import config_value, open_readonly
from .finding import Finding, Setup, broken, warning


def check(setup: Setup) -> Iterator[Finding]:
    ours = [hook for hook in hooks.listing(setup.repository) if hook.ours]
    for hook in ours:
        program = shlex.split(hook.command)[0]
        if not Path(program).exists():
            yield broken("hook", f"the {hook.type} hook starts {program}, which is gone", "run: vecsearch hook install")
    with closing(open_readonly(setup.repository)) as db:
        disabled = config_value(db, "backoffice-disable") in ("1", "on", "yes", "true")
        robots = config_value(db, "robot-restrict")
    yield from _robots(robots, setup)
    if ours and setup.jail and not (setup.jail / "bin/sh").exists():
        yield warning("hook", f"Fossil locks itself into {setup.jail}, where no shell is to start a hook", "use vecsearch watch, from outside, in place of the hooks")
    if any(hook.type == "after-receive" for hook in ours) and disabled:
        yield warning("hook", "Fossil's backoffice is disabled, so no after-receive hook ever runs",
                      "fossil unset backoffice-disable, or use vecsearch watch in place of the hook")


def _robots(restricted: str, setup: Setup) -> Iterator[Finding]:
    """Since 2.26 Fossil asks visitors of these pages for a proof that they are people (src/robot.c)."""
    globs = re.split(r"[,\s]+", restricted)
    if setup.extroot and any(fnmatch(page, glob) for glob in globs for page in ("ext", f"ext/{setup.name}")):
        yield warning("robots", "the setting robot-restrict covers the search page, so programs, feeds and new visitors get a question in place of hits",
                      "take ext out of it: fossil settings robot-restrict")
