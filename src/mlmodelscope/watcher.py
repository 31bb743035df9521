"""What a run tells its caller while it goes on: an evaluation, a bench, a training, a search for a cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlmodelscope.plan.plan import Plan
    from mlmodelscope.record.record import Record
    from mlmodelscope.worker.client import Latency


class Watcher:
    """Called as things happen; this one does nothing with it."""

    def downloading(self, name: str, done: int, total: int | None) -> None: ...

    def waiting(self, reason: str) -> None: ...

    def building(self, what: str) -> None: ...

    def known(self, record: Record) -> None:
        """The same plan has a record, which is the answer; nothing is run."""

    def resuming(self, record: Record, done: int, total: int) -> None: ...

    def opening(self, plan: Plan) -> None:
        """The model is opened and its latency measured, which takes seconds in which nothing else can be reported."""

    def measured(self, latency: Latency) -> None: ...

    def benching(self, what: str) -> None: ...

    def answered(self, done: int, total: int, failed: int) -> None: ...

    def wrote(self, text: str) -> None:
        """Some more of a text that a language model writes."""

    def trained(self, progress: float, metrics: dict[str, float]) -> None: ...

    def judged(self, metric: str, unit: str, claimed: float, measured: float, accepted: tuple[float, float]) -> None:
        """A claim does not hold, and the search for its cause begins; `accepted` is what might have been measured."""

    def tried(self, samples: int, variants: Sequence[Mapping[str, Any]]) -> None:
        """Variants of a plan have seen so many samples; `out` marks one that cannot be the cause."""
