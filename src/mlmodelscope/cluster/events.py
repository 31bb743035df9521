"""What a process that does some work tells the agent that started it: events, a line of JSON each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.record import Record
from mlmodelscope.report.words import answered_from_store
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.client import Latency

_EVERY_S = 0.5


def say(kind: str, **document: Any) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **document}) + "\n")
    sys.stdout.flush()


class Teller(Watcher):
    """What happens, as events; progress at most twice a second."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def _often(self, what: str) -> bool:
        moment = time.monotonic()
        if moment - self._last.get(what, -_EVERY_S) < _EVERY_S:
            return True
        self._last[what] = moment
        return False

    def downloading(self, name: str, done: int, total: int | None) -> None:
        if not self._often("downloading") or done == total:
            say("downloading", name=name, done=done, of=total)

    def waiting(self, reason: str) -> None:
        say("note", text=reason)

    def building(self, what: str) -> None:
        say("building", text=what)

    def known(self, record: Record) -> None:
        say("building", text=answered_from_store(record))

    def resuming(self, record: Record, done: int, total: int) -> None:
        say("resuming", record=record.id, done=done, of=total)

    def opening(self, plan: Plan) -> None:
        say("opening")

    def measured(self, latency: Latency) -> None:
        say("measured", batch_size=latency.batch_size, runs=len(latency.raw_ns))

    def benching(self, what: str) -> None:
        say("note", text=what)

    def answered(self, done: int, total: int, failed: int) -> None:
        if not self._often("answered") or done == total:
            say("progress", done=done, of=total, failed=failed)

    def trained(self, progress: float, metrics: dict[str, float]) -> None:
        say("progress", done=progress, of=1, metrics=metrics)

    def judged(self, metric: str, unit: str, claimed: float, measured: float, accepted: tuple[float, float]) -> None:
        low, high = accepted
        say("judged", metric=metric, unit=unit, claimed=claimed, measured=measured, low=low, high=high)

    def tried(self, samples: int, variants: Sequence[Mapping[str, Any]]) -> None:
        say("tried", samples=samples, variants=list(variants))
