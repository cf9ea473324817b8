"""Asks thousands of questions made from the OpenAPI description, valid ones and others. A fault is a 5xx, a status,
type or body that is not as described, bytes that are no UTF-8, a header that a parameter made, or markup that a
parameter brought into a page.

    pip install schemathesis
    python -m benchmarks.fuzz_web http://localhost:8080 [REQUESTS]
"""

from __future__ import annotations

import sys
from collections import Counter
from html.parser import HTMLParser

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

#: What a random string seldom is; put in place of some parameters.
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' autofocus onfocus='alert(1)", "</title></script><svg onload=alert(1)>",
           "javascript:alert(1)", "\u202egnp.exe", "a\r\nX-Injected: 1\r\n\r\n<b>", "\0", "🔥👩‍🚀", "{{7*7}}", "]]>", "--", "%ED%A0%80", "x" * 3000, "kind:", "\"", "*", "-"]

#: What Fossil's skin and ours have; a parameter can add none.
_SCRIPTS = ("script", "iframe", "object", "embed", "base", "img")


class _Markup(HTMLParser):
    """Elements and attributes of ours that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.found = False, []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.inside = self.inside or "vecsearch" in (values.get("class") or "")
        if self.inside and tag in _SCRIPTS and "nonce" not in values:
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name, value in attrs if self.inside and
                       (name.startswith("on") or (value or "").strip().lower().startswith(("javascript:", "data:")) and name in ("href", "src", "action"))]


def fault(reply: requests.Response) -> str:
    """What is wrong with an answer beyond its description, "" if nothing."""
    try:
        body = reply.content.decode("utf-8")
    except UnicodeDecodeError as error:
        return str(error)
    if "X-Injected" in reply.headers:
        return "a header was made by a parameter"
    if "text/html" in reply.headers.get("Content-Type", ""):
        markup = _Markup()
        markup.feed(body)
        return ", ".join(markup.found)
    return ""


def main() -> None:
    """Exit 1 at the first fault, which is printed with the request that made it."""
    base, wanted = sys.argv[1].rstrip("/"), int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    schema = schemathesis.openapi.from_url(f"{base}/ext/search/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    statuses: Counter[int] = Counter()
    session = requests.Session()
    hit = session.get(f"{base}/ext/search", params={"q": "file", "format": "json"}).json()["hits"][0]
    passage = f"{hit['hash']}.{hit['seq']}"
    for operation in operations:
        names = [parameter.name for parameter in operation.query]
        described = operation.as_strategy()
        cases = st.one_of(described, described, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)) if names else described
        mischief = st.dictionaries(st.sampled_from(names), st.sampled_from(HOSTILE), max_size=2) if names else st.just({})

        @settings(max_examples=wanted // len(operations), deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
        @given(case=cases, extra=mischief)
        def ask(case: schemathesis.Case, extra: dict[str, str]) -> None:
            case.query = {**(case.query or {}), **extra}
            if "like" in case.query and len(case.query) % 2:
                case.query["like"] = passage  # a random one is none of the repository's
            case.method = "GET"
            reply = case.call(base_url=base, session=session)
            statuses[reply.status_code] += 1
            if wrong := fault(reply):
                raise AssertionError(f"{wrong}: {reply.request.url}")
            case.validate_response(reply, checks=CHECKS)

        ask()
    print(f"{sum(statuses.values())} requests, no fault; answers by status: {dict(statuses)}")


if __name__ == "__main__":
    main()
