"""What differs between a reference log and a record of the same task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.manifest.schema.log import Expected
from mlmodelscope.record.log import metric_name, without_places
from mlmodelscope.record.record import Record

_SHOWN = 20


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same."""

    aspect: str
    name: str
    expected: Any
    found: Any


@dataclass(frozen=True)
class Differences:
    """A comparison: how many outputs agree, and everything that does not."""

    compared: int
    agreeing: int
    """Samples whose best answer is the expected one."""
    largest_score_gap: float
    items: tuple[Difference, ...]

    @property
    def is_same(self) -> bool:
        """Whether every expected output came out again."""
        return self.agreeing == self.compared and not any(each.aspect in ("sample", "metric") for each in self.items)


def compare_with_log(
    log: ReferenceLog, record: Record, expected: Mapping[str, Expected], found: Mapping[str, Expected]
) -> Differences:
    items = [*_manifests(log, record), *_metrics(log, record), *_environment(log, record)]
    agreeing, gap, outputs = _outputs(expected, found)
    return Differences(len(expected), agreeing, gap, (*items, *outputs))


def _manifests(log: ReferenceLog, record: Record) -> list[Difference]:
    items = []
    for aspect in ("model", "dataset", "software", "hardware"):
        theirs, ours = getattr(log.manifests, aspect), record.plan.manifests.get(aspect)
        if theirs is None and ours is None:
            continue
        before = f"{theirs.name}@{theirs.version}" if theirs else None
        after = f"{ours.name}@{ours.version}" if ours else None
        digest = (theirs.digest or "").removeprefix("sha256:") if theirs else None
        if before != after or (digest and ours and digest != ours.digest):
            name = "content" if before == after else "manifest"
            items.append(
                Difference(
                    aspect,
                    name,
                    digest[:12] if name == "content" and digest else before,
                    ours.digest[:12] if name == "content" and ours else after,
                )
            )
    if log.plan and log.plan != record.plan_digest:
        items.append(Difference("plan", "digest", log.plan[:12], record.plan_digest[:12]))
    return items


def _metrics(log: ReferenceLog, record: Record) -> list[Difference]:
    items = []
    known = {metric_name(name): number.value for name, number in record.metrics.items()}
    known |= {metric_name(name): value for name, value in (record.training.metrics if record.training else {}).items()}
    for name, number in log.metrics.items():
        value: float | None = known.get(name)
        if value is None or abs(value - number.value) > 1e-9:
            items.append(Difference("metric", name, number.value, value))
    return items


def _environment(log: ReferenceLog, record: Record) -> list[Difference]:
    items = []
    environment = without_places(log.environment)
    packages = environment.get("packages")
    if isinstance(packages, dict) and record.stack is not None:
        for name in sorted({*packages, *record.stack.packages}):
            before, after = packages.get(name), record.stack.packages.get(name)
            if before is not None and str(before) != str(after):
                items.append(Difference("package", name, str(before), after))
    machine = environment.get("machine")
    if isinstance(machine, dict):
        here = record.machine.model_dump(mode="json")
        for name in ("cpu", "architecture", "cores", "governor", "turbo", "smt", "gpus"):
            if name in machine and machine[name] != here.get(name):
                items.append(Difference("machine", name, machine[name], here.get(name)))
    return items


def _outputs(expected: Mapping[str, Expected], found: Mapping[str, Expected]) -> tuple[int, float, list[Difference]]:
    agreeing, gap = 0, 0.0
    items: list[Difference] = []
    for name, theirs in expected.items():
        ours = found.get(name)
        if ours is not None and _best(ours) == _best(theirs):
            agreeing += 1
            gap = max([gap, *(abs(a - b) for a, b in zip(theirs.scores, ours.scores, strict=False))])
        elif len(items) < _SHOWN:
            items.append(Difference("sample", name, _best(theirs), _best(ours) if ours else None))
    return agreeing, gap, items


def _best(row: Expected) -> Any:
    if row.error is not None:
        return "failed"
    return row.classes[0] if row.classes else row.answer
