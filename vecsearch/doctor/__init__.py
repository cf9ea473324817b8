"""All that is known to go wrong with a set-up, looked for, each with what to do about it.

    finding      what a check yields
    system       programs, versions, disk, lock
    running      Fossil servers at work on this machine: how they were started, so whether in a jail
    served       extension root, launcher, the server's user, a chroot jail
    content      the index itself: format, completeness, vectors, full-text rows, freshness
    provider     the embedding provider, its key, its model
    published    unversioned files against what visitors may read
    fresh        hooks and settings that keep the index current

A check is a function that yields findings and raises nothing; a healthy set-up yields none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from . import content, fresh, provider, published, running, served, system
from .finding import Finding, Setup

__all__ = ["Finding", "Setup", "as_json", "as_text", "examine", "exit_code"]

#: Where this group finds something, what comes after it would only repeat it.
_FIRST = (system.repository_opens,)
_THEN = (system.writable, system.locked, system.locks, system.disk, system.versions, content.check, provider.check, published.check, fresh.check)


def examine(setup: Setup) -> list[Finding]:
    """Every finding, the worst first."""
    setup = replace(setup, jail=setup.jail or running.jail(setup.repository))
    findings = [finding for check in _FIRST for finding in check(setup)]
    if not findings:
        findings = [finding for check in _THEN for finding in check(setup)]
    if setup.extroot is not None:
        findings += [*running.check(setup), *served.check(setup)]
    return sorted(findings, key=lambda finding: finding.severity != "broken")


def exit_code(findings: Sequence[Finding]) -> int:
    """0 healthy, 3 warnings only, 1 something is broken; 2 is wrong usage, as everywhere."""
    if any(finding.severity == "broken" for finding in findings):
        return 1
    return 3 if findings else 0


def as_text(findings: Sequence[Finding]) -> str:
    """Two lines each: what is wrong, and the fix."""
    return "".join(f"{finding.severity}: {finding.check}: {finding.says}\n    fix: {finding.fix}\n" for finding in findings)


def as_json(findings: Sequence[Finding]) -> str:
    """{"healthy": bool, "findings": [{severity, check, says, fix}]}"""
    return json.dumps({"healthy": not findings, "findings": [asdict(finding) for finding in findings]}, ensure_ascii=False)
