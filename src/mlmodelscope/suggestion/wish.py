"""What a user wishes of a model, and how it is written: 20ms, 0.02s, 25M, 100MB, 30."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.task.measure import MEASURES, Measure, find_measure
from mlmodelscope.task.task import TASKS, task_named

Cost = Literal["latency", "parameters", "size", "gflops"]
COSTS: tuple[Cost, ...] = ("latency", "parameters", "size", "gflops")
_TASKS = {
    "detection": "object_detection",
    "segmentation": "semantic_segmentation",
    "instances": "instance_segmentation",
    "keypoints": "keypoint_detection",
    "enhancement": "image_enhancement",
    "super-resolution": "image_enhancement",
    "speech": "speech_recognition",
    "asr": "speech_recognition",
    "questions": "question_answering",
    "similarity": "text_similarity",
    "embeddings": "embedding",
}
_NUMBER = r"(\d{1,15}(?:\.\d{1,12})?|\.\d{1,12})"
_TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_LARGEST = 1e18


@dataclass(frozen=True)
class Bound:
    """A number that a metric must reach, in the measure's own unit."""

    measure: Measure
    value: float
    is_least: bool

    def holds(self, value: float) -> bool:
        return value >= self.value - 1e-12 if self.is_least else value <= self.value + 1e-12

    @property
    def shown(self) -> str:
        unit = self.measure.unit
        return f"{self.measure.name} {'≥' if self.is_least else '≤'} {unit.factor * self.value:g} {unit.symbol}".strip()


@dataclass(frozen=True)
class Wish:
    """Everything that is given must hold; what is not known of a model does not hold."""

    measure: Measure
    """The metric that models are ranked by."""
    task: str | None = None
    bounds: tuple[Bound, ...] = ()
    dataset: str | None = None
    max_latency_s: float | None = None
    max_parameters: int | None = None
    max_size_bytes: int | None = None
    license: str | None = None
    cost: Cost = "parameters"

    @property
    def shown(self) -> str:
        """In one line."""
        parts = [self.task or "any task", *(bound.shown for bound in self.bounds)]
        if self.dataset is not None:
            parts.append(f"on {self.dataset}")
        if self.max_latency_s is not None:
            parts.append(f"latency ≤ {1e3 * self.max_latency_s:g} ms")
        if self.max_parameters is not None:
            parts.append(f"parameters ≤ {self.max_parameters:,}")
        if self.max_size_bytes is not None:
            parts.append(f"size ≤ {self.max_size_bytes / 1e6:g} MB")
        if self.license is not None:
            parts.append(f"license {self.license}")
        return ", ".join(parts)


def make_wish(
    task: str | None,
    bounds: tuple[Bound, ...],
    metric: str | None = None,
    dataset: str | None = None,
    *,
    latency: str | None = None,
    parameters: str | None = None,
    size: str | None = None,
    license: str | None = None,
    cost: str | None = None,
) -> Wish:
    """A wish from the words of a command line; UsageError says which of them cannot be read."""
    named = task_word(task) if task is not None else None
    if cost is not None and cost not in COSTS:
        raise UsageError(f"`{cost[:40]}` is not a cost; known: {', '.join(COSTS)}", hint=nearest(cost, COSTS))
    usual: Cost = "latency" if latency is not None else "size" if size is not None else "parameters"
    chosen = next((each for each in COSTS if each == cost), usual)
    return Wish(
        measure=_ranked(named, bounds, metric),
        task=named,
        bounds=bounds,
        dataset=dataset,
        max_latency_s=None if latency is None else seconds("--max-latency", latency),
        max_parameters=None if parameters is None else round(count("--max-parameters", parameters)),
        max_size_bytes=None if size is None else round(size_bytes("--max-size", size)),
        license=license,
        cost=chosen,
    )


def _ranked(task: str | None, bounds: tuple[Bound, ...], metric: str | None) -> Measure:
    if metric is not None:
        return known_measure(metric)
    if bounds:
        return bounds[0].measure
    if task is None:
        raise UsageError(
            "a suggestion needs a task or a metric",
            hint="mlmodelscope suggest --metric ap, or with --min ap=30 those that reach so much",
        )
    headline = task_named(task).headline
    if not headline:
        raise UsageError(f"{task} has no metric that models could be ranked by", hint="name one: --metric NAME")
    return known_measure(headline[0])


def task_word(text: str) -> str:
    plain = text.strip().lower().replace(" ", "_")
    name = _TASKS.get(plain.replace("_", "-"), plain.replace("-", "_"))
    if TASKS.find(name) is not None:
        return name
    from mlmodelscope.manifest.schema.task import task_names  # what manifests are made of takes a while to import

    known = task_names()
    if name not in known:
        raise UsageError(f"there is no task `{text[:60]}`\nknown: {', '.join(known)}", hint=nearest(name, known))
    return name


def known_measure(name: str) -> Measure:
    found = find_measure(name)
    if found is None:
        raise UsageError(
            f"there is no metric `{name[:60]}`\nknown: {', '.join(MEASURES)}", hint=nearest(name, [*MEASURES])
        )
    return found


def bound_of(text: str, is_least: bool) -> Bound:
    """`ap=30`, `top1=80%`, `wer=5`: as published, a share in percent."""
    name, equals, value = text.partition("=")
    flag = f"{'--min' if is_least else '--max'}-{name}"
    if not equals:
        raise UsageError(f"`{text[:60]}` is not METRIC=VALUE", hint="such as --min ap=30")
    measure = known_measure(name.strip())
    found = re.fullmatch(rf"([+-]?){_NUMBER}\s*(%|dB)?", value.strip())
    if found is None:
        raise UsageError(f"{flag} is `{value[:40]}`, which is not a number", hint="such as --min ap=30")
    number = float(found[2]) * (-1 if found[1] == "-" else 1)
    if measure.unit.factor == 100 and found[3] is None and 0 < number <= 1:
        raise UsageError(
            f"{flag} is {value.strip()}, and {measure.name} is published in percent: is that a share?",
            hint=f"{measure.name}={100 * number:g} is the share, {measure.name}={value.strip()}% the percentage",
        )
    return Bound(measure, number / measure.unit.factor, is_least)


def seconds(flag: str, text: str) -> float:
    return _amount(flag, text, _TIMES, "a time", "20ms or 0.02s")


def count(flag: str, text: str) -> float:
    return _amount(flag, re.sub(r"(?i)\s*parameters?$", "", text), _COUNTS, "a number of parameters", "25M")


def size_bytes(flag: str, text: str) -> float:
    return _amount(flag, text, _SIZES, "a size", "100MB")


def _amount(flag: str, text: str, units: dict[str, float] | dict[str, int], what: str, example: str) -> float:
    found = re.fullmatch(rf"{_NUMBER}\s*([A-Za-zµμ]*)", text.strip())
    scale = units.get(found[2].lower()) if found is not None else None
    value = float(found[1]) * scale if found is not None and scale is not None else 0.0
    if not 0 < value < _LARGEST:
        raise UsageError(f"{flag} is `{text[:40]}`, which is not {what}", hint=f"such as {example}")
    return value
