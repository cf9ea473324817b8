"""Two thousand generated queries; `python -m benchmarks.query_fuzz` runs a hundred thousand."""

from __future__ import annotations

from benchmarks.query_fuzz import run


def test_no_generated_query_is_an_error(demo_indexed):
    seen, faults = run(demo_indexed, 2000, seed=1)
    assert faults == []
    assert seen["ok, hits"] > 100 and seen["ok, nothing"] > 100
