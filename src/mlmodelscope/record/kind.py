"""What a record is of: an evaluation, a training, a profile, or a bench and its scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record

KINDS = ("evaluation", "training", "profile", "bench")


def kind_of(record: Record) -> tuple[str, str | None]:
    """(kind, scenario of a bench)."""
    if record.bench is not None:
        return "bench", record.bench.scenario
    if record.training is not None:
        return "training", None
    return ("profile" if record.profile is not None else "evaluation"), None
