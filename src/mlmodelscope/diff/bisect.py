"""In which of three parts two evaluations begin to differ: the pipeline, the model, or the steps behind it.

Each part is judged by itself. Both pipelines get the same samples; both models get what the first pipeline made; the
steps behind both models get what the first model answered. So a difference in one part is not blamed on the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mlmodelscope.diff.answers import different_answers
from mlmodelscope.diff.finding import first_difference
from mlmodelscope.diff.pairing import Compare, LayerPair, pair_readings
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.side import Side
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.errors import WorkerError
from mlmodelscope.worker.client import Worker

_STEPS = Tolerance(given=1e-5)
"""Steps compute what they say: a pixel that is one level off is another pixel."""
Part = Literal["pipeline", "model", "answer"]
Opened = Sequence[tuple[Side, Worker]]


@dataclass(frozen=True)
class PartFinding:
    """Whether a part differs, and where it begins to."""

    part: Part
    verdict: Literal["agrees", "differs", "unknown"]
    words: str
    step: str | None = None
    """The first step that differs."""


def pipelines(opened: Opened, compare: Compare) -> PartFinding:
    """Step by step, on the same samples."""
    (one, worker), (other, their_worker) = opened
    try:
        mine, theirs = one.steps(worker)[0], other.steps(their_worker)[0]
    except WorkerError as error:
        return PartFinding("pipeline", "unknown", error.message.splitlines()[0])
    notes = (*mine.notes, *theirs.notes)
    if not mine.before or not theirs.before:
        return PartFinding("pipeline", "unknown", "; ".join(notes) or "no step gives numbers")
    ends = (_last_steps(mine.before), _last_steps(theirs.before))
    if len(ends[0]) != len(ends[1]):
        return PartFinding("pipeline", "differs", f"A prepares {len(ends[0])} tensors and B {len(ends[1])}")
    if not _differ(ends, compare):
        return PartFinding("pipeline", "agrees", f"{len(ends[0])} tensors that the models get are the same")
    readings = [Reading((), steps, last, ()) for steps, last in zip((mine.before, theirs.before), ends, strict=True)]
    return _first_step("pipeline", pair_readings(readings[0], readings[1], _STEPS, compare))


def answers(opened: Opened, outputs: Sequence[LayerPair], tolerance: Tolerance, compare: Compare) -> PartFinding:
    """The steps behind both models, given what the first one answered."""
    (one, worker), (other, their_worker) = opened
    both = [(pair.first, pair.second) for pair in outputs if pair.is_output]
    own = [first for first, _ in both if first is not None]
    renamed = [replace(first, name=second.name) for first, second in both if first is not None and second is not None]
    try:
        (mine, said), (theirs, answered) = one.steps(worker, own), other.steps(their_worker, renamed)
    except WorkerError as error:
        return PartFinding("answer", "unknown", error.message.splitlines()[0])
    if said is None or answered is None:
        notes = [*mine.notes, *theirs.notes]
        return PartFinding("answer", "unknown", "; ".join(notes) or "the outputs do not become answers")
    if one.plan.task != other.plan.task:
        return PartFinding("answer", "unknown", f"A is for {one.plan.task} and B for {other.plan.task}")
    different = different_answers(one.plan.task, said, answered)
    if different is None:
        return PartFinding("answer", "agrees", f"the answers to {len(said.rows)} samples are the same")
    readings = [Reading((), steps.after, steps.after[-1:], ()) for steps in (mine, theirs)]
    pairs = pair_readings(readings[0], readings[1], tolerance, compare)
    if first_difference(pairs) is None and len(mine.after) == len(theirs.after):
        return PartFinding("answer", "differs", f"{different}; every step behind the model agrees", "answer")
    return _first_step("answer", pairs, different)


def _last_steps(steps: Sequence[Held]) -> tuple[Held, ...]:
    """What the models get: the last tensor of each sample and input, in order."""
    last: dict[tuple[object, object, object], Held] = {}
    for each in steps:
        last[each.attributes.get("sample"), each.attributes.get("input"), each.attributes.get("row")] = each
    return tuple(last.values())


def _differ(ends: Sequence[Sequence[Held]], compare: Compare) -> bool:
    told = compare(
        [{"one": first.described(), "other": second.described()} for first, second in zip(*ends, strict=True)]
    )
    allowed = _STEPS.at((), 1, "float32", 0.0)
    return any(
        each["arrangement"] in ("shapes", "sorted") or each["relative"] > allowed or each["different_not_finite"]
        for each in told
    )


def _first_step(part: Part, pairs: Sequence[LayerPair], why: str = "") -> PartFinding:
    """The first step that differs, or the first that only one side has, where that comes earlier."""
    alone = next((pair for pair in pairs if pair.apart is None), None)
    first = first_difference(pairs)
    if first is None or first.pair.is_output:
        held = (alone.first or alone.second) if alone is not None else None
        if alone is None or held is None:
            return PartFinding(part, "differs", why or "what the last step gives differs", None)
        side = "A" if alone.first is not None else "B"
        return PartFinding(part, "differs", f"only {side} has the step {held.kind}", held.kind)
    held = first.pair.first or first.pair.second
    assert held is not None
    words = f"{held.kind} is the first step that differs: it {first.words}"
    before = [pair for pair in pairs[: first.place] if pair.apart is None]
    if before:
        steps = ", ".join(dict.fromkeys((pair.first or pair.second or held).kind for pair in before))
        words += f"; before it only one side has {steps}"
    return PartFinding(part, "differs", f"{why}; {words}" if why else words, held.kind)
