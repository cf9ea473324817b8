"""Asks thousands of questions made from the OpenAPI description; any 5xx or undescribed answer is a fault.

    pip install schemathesis
    python benchmarks/fuzz_web.py http://localhost:8080 [REQUESTS]
"""

from __future__ import annotations

import sys

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings


def main() -> None:
    """Exit 1 at the first fault, which is printed with the request that made it."""
    base, requests = sys.argv[1].rstrip("/"), int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    schema = schemathesis.openapi.from_url(f"{base}/ext/search/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    asked = 0
    for operation in operations:
        @settings(max_examples=requests // len(operations), deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            nonlocal asked
            asked += 1
            reply = case.call(base_url=base)
            assert reply.status_code < 500, (reply.status_code, reply.request.url)
            case.validate_response(reply, checks=[schemathesis.checks.not_a_server_error])

        ask()
    print(f"{asked} requests, no fault")


if __name__ == "__main__":
    main()
