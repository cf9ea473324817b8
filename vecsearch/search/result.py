"""What a search hands to every surface."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..types import Hit
from .query import Query

#: The gravest last: a failed arm says more than a stale index.
_GRAVITY = ("ok", "stale", "keyword_unavailable", "semantic_unavailable", "model_mismatch", "no_index")


@dataclass
class Result:
    """`state` is one of SPEC's; `message` says it in a sentence. `suggestions` are known words near to those
    that found nothing, `floor` the similarity below which nothing is shown, None if it is not known,
    `facets` the number of hits by kind, those of other pages included."""

    query: Query
    hits: list[Hit] = field(default_factory=list)
    total: int = 0
    state: str = "ok"
    message: str = ""
    model: str = ""
    checkin: str = ""
    took_ms: dict[str, float] = field(default_factory=dict)
    next: int | None = None
    suggestions: list[str] = field(default_factory=list)
    facets: dict[str, int] = field(default_factory=dict)

    def degrade(self, state: str, message: str) -> None:
        """Note a fault, unless a graver one is noted already."""
        if _GRAVITY.index(state) > _GRAVITY.index(self.state):
            self.state, self.message = state, message

    def note(self, sentence: str) -> None:
        """Say something beside the state, which stays what it is."""
        self.message = f"{self.message}; {sentence}" if self.message else sentence


class Clock:
    """Milliseconds by stage."""

    def __init__(self, took: dict[str, float]):
        self.took, self.last = took, time.perf_counter()

    def lap(self, stage: str) -> None:
        """Ends a stage."""
        now = time.perf_counter()
        self.took[stage] = round(self.took.get(stage, 0) + (now - self.last) * 1000, 2)
        self.last = now
