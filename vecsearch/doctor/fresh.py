"""Is there something that keeps the index current, and can it work?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
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
    if any(hook.type == "after-receive" for hook in ours) and disabled:
        yield warning("hook", "Fossil's backoffice is disabled, so no after-receive hook ever runs",
                      "fossil unset backoffice-disable, or use vecsearch watch in place of the hook")
