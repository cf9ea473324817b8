"""What an index run did, for a person and for a program."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field


@dataclass
class Report:
    """What a run did, in artifacts and chunks; `notes` counts whatever was not plain sailing."""

    artifacts: int = 0
    chunks: int = 0
    embedded: int = 0
    moved: int = 0
    removed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    unchanged: bool = False
    model: str = ""
    checkin: str = ""

    def as_dict(self) -> dict:
        """For JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """For a person, one fact a line."""
        if self.unchanged:
            return "nothing to do: the index is current"
        if not (self.artifacts or self.moved or self.removed or self.failed):
            return "no artifact has changed; settings and marks are current again"
        lines = [f"indexed {self.artifacts} artifacts as {self.chunks} chunks ({self.embedded} embedded by {self.model})"]
        lines += [f"moved {self.moved}, removed {self.removed}"] if self.moved or self.removed else []
        lines += [f"  {count:5} {reason}" for reason, count in sorted(self.skipped.items())]
        return "\n".join(lines)
