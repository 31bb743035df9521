"""What two reference logs say: the curve at a quarter of the training, single samples, and the final numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.reproduction.result import Verdict
from mlmodelscope.training import EarlyStop, Judge, interpolate, smaller_is_better
from mlmodelscope_worker.messages import Progress

Told = tuple[Verdict, str, dict[str, Any]]
_AT = 0.25


def judge_curve(mine: ReferenceLog, original: ReferenceLog, within: float) -> Told:
    """The rule of a quarter: what is then more than `within` worse will not catch up."""
    if not mine.curve or not original.curve:
        return "skipped", f"the log of {'mine' if not mine.curve else 'the original'} has no curve", {}
    judge = Judge(original, EarlyStop(at=_AT, within=within))
    for point in sorted(mine.curve, key=lambda each: each.progress):
        said = judge.verdict(Progress(point.progress, dict(point.metrics)))
        if said is not None:
            return "failed", said.partition(", so the rest")[0], {}
    if not judge.compared:
        return "undecided", "no point from a quarter of the training on has a metric that both curves have", {}
    apart = _distance(mine, original)
    said = "at a quarter of the training and later not more than that behind"
    return "passed", f"{said}; at most {100 * max(apart.values()):.1f} % behind the original's curve", dict(apart)


def _distance(mine: ReferenceLog, original: ReferenceLog) -> dict[str, float]:
    """By metric, how far mine is behind at its worst moment from a quarter on, as a share of the original."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for point in original.curve:
        for name, value in point.metrics.items():
            curves.setdefault(name, []).append((point.progress, value))
    worst: dict[str, float] = {}
    for point in mine.curve:
        for name, value in point.metrics.items():
            expected = interpolate(curves.get(name, ()), point.progress)
            if expected and point.progress >= _AT:
                behind = (value - expected) / abs(expected) * (1 if smaller_is_better(name) else -1)
                worst[name] = max(worst.get(name, 0.0), behind)
    return worst


def judge_samples(mine: ReferenceLog, original: ReferenceLog, tolerance: float) -> Told:
    """Answers to the same samples, by their ids."""
    ours = {each.sample: each for each in mine.outputs.rows} if mine.outputs is not None else {}
    theirs = {each.sample: each for each in original.outputs.rows} if original.outputs is not None else {}
    shared = [name for name in theirs if name in ours]
    if not shared:
        return "skipped", "no sample's answer is in both logs", {}
    different = [
        name
        for name in shared
        if (ours[name].classes[:1], ours[name].answer) != (theirs[name].classes[:1], theirs[name].answer)
    ]
    numbers = {"samples": len(shared), "different": len(different)}
    if len(different) > tolerance * len(shared):
        named = ", ".join(different[:3])
        return "failed", f"{len(different)} of {len(shared)} answers differ: {named}", numbers
    return "passed", f"{len(shared) - len(different)} of {len(shared)} answers are the same", numbers


def judge_numbers(mine: ReferenceLog, published: Mapping[str, float], within: float) -> Told:
    """Final numbers: mine, with their intervals, against the published ones."""
    shared = [name for name in published if name in mine.metrics]
    if not shared:
        return "skipped", f"the log of mine has none of {', '.join(published) or 'the published numbers'}", {}
    said, worst, numbers = [], "passed", {}
    for name in shared:
        found = mine.metrics[name]
        low = found.low if found.low is not None else found.value
        high = found.high if found.high is not None else found.value
        sign = -1 if smaller_is_better(name) else 1
        behind = (published[name] - found.value) * sign
        reaches = (high if sign > 0 else low) * sign >= (published[name] - sign * within) * sign
        holds = (low if sign > 0 else high) * sign >= (published[name] - sign * within) * sign
        verdict = "passed" if holds else "undecided" if reaches else "failed"
        if verdict == "failed" or worst == "passed":
            worst = verdict
        numbers[name] = behind
        said.append(f"{name} {found.value:.4g}, published {published[name]:.4g}")
    words = "; ".join(said) + f" (tolerance {within:g})"
    if worst == "undecided":
        words += "; the interval holds both"
    verdict_word: Verdict = "failed" if worst == "failed" else "undecided" if worst == "undecided" else "passed"
    return verdict_word, words, numbers
