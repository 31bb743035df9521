"""Many pipelines of one model in one worker: samples go in once, answers of every variant come out."""

from __future__ import annotations

import array
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Self

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.worker.answers import Batch
from mlmodelscope.worker.client import needs_of, task_of
from mlmodelscope.worker.plugins import inside_the_stack, of_all
from mlmodelscope.worker.process import WorkerProcess


@dataclass(frozen=True)
class Answer:
    """The best classes for one sample, best first."""

    classes: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class VariantAnswers:
    """What came out for one batch."""

    batch: Batch
    answers: Mapping[str, Sequence[Answer | None]]
    """By variant: one for each sample, none where it failed."""
    reasons: Mapping[str, str]
    """Why a variant failed, for one of its samples."""
    calls: int
    """How often the model ran: variants with the same tensors share a call."""


@dataclass(frozen=True)
class Picture:
    """Grey or RGB bytes, one pixel after the other."""

    height: int
    width: int
    channels: int
    pixels: bytes


@dataclass(frozen=True)
class Difference:
    """How far two tensors lie apart, value by value."""

    largest: float
    """In the model's own units, as the mean is."""
    mean: float
    share: float
    """Of values that differ at all."""
    stretch: float | None
    """By how much the picture is brighter than the pictures of the tensors; nothing where the tensors are the same."""
    picture: Picture | None


@dataclass(frozen=True)
class View:
    """What a model sees of a sample through one pipeline."""

    picture: Picture | None
    reason: str
    """Why there is no picture."""
    tensor: str = ""
    """Element type and shape."""
    low: float = 0.0
    """The value that is drawn black."""
    high: float = 1.0
    """The value that is drawn white."""
    difference: Difference | None = None
    """To the first of the pipelines that were looked through; none for itself, or where shapes differ."""


class VariantWorker:
    """One open model with the pipelines of many plans that differ in nothing else."""

    def __init__(self, site: Site, plan: Plan, variants: Mapping[str, Plan]) -> None:
        self._site = site
        together = plan.model_copy(update={"plugins": of_all((plan, *variants.values()))})
        self._process = WorkerProcess(site.stack, needs_of(site, together))
        task = task_of(site, plan)
        task["variants"] = [
            {
                "id": key,
                "steps": [step.model_dump(mode="json") for step in each.input.steps],
                "plugins": [plugin.model_dump(mode="json") for plugin in inside_the_stack(each)],
            }
            for key, each in variants.items()
            if each.input is not None
        ]
        try:
            self._process.send({"do": "open", "task": task})
            opened, _ = self._process.receive("opened")
        except BaseException:
            self._process.kill()
            raise
        self.missing: dict[str, str] = opened["missing"]
        """Variants that this stack cannot compute, and why."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.__exit__(kind, error, trace)

    def run(self, batches: Iterable[Batch], active: Sequence[str]) -> Iterator[VariantAnswers]:
        """Answers of the active variants, in the order of the batches."""
        waiting: deque[Batch] = deque()
        source = iter(batches)
        window = 2 * self._site.lanes  # one batch is the work of many: few under way keep all threads busy
        while True:
            fresh = list(islice(source, window - len(waiting)))
            if fresh:
                content = [
                    {"batch": batch.index, "samples": [sample.content for sample in batch.samples]} for batch in fresh
                ]
                request: dict[str, Any] = {"do": "batches", "batches": content, "lanes": self._site.lanes}
                self._process.send({**request, "threads": self._site.threads, "active": list(active)})
                waiting.extend(fresh)
            if not waiting:
                return
            header, buffers = self._process.receive("answers")
            parts = iter(buffers)
            for each in header["answers"]:
                yield _answers(waiting.popleft(), each, list(islice(parts, each["parts"])))

    def look(self, sample: Sample, plans: Sequence[Plan]) -> list[View]:
        """What the model sees of a sample as each of these plans prepares it; the first sets scale and colours."""
        pipelines = [
            [step.model_dump(mode="json") for step in each.input.steps] for each in plans if each.input is not None
        ]
        self._process.send({"do": "look", "sample": sample.content, "pipelines": pipelines})
        header, buffers = self._process.receive("seen")
        return [_view(each, buffers) for each in header["views"]]


def _view(said: Mapping[str, Any], buffers: Sequence[bytes]) -> View:
    if "tensor" not in said:
        return View(None, said["reason"])
    apart = said.get("difference")
    difference = None
    if apart is not None:
        picture = _picture(apart, buffers)
        difference = Difference(apart["largest"], apart["mean"], apart["share"], apart["stretch"], picture)
    picture = _picture(said, buffers)
    return View(picture, said["reason"], said["tensor"], said["low"], said["high"], difference)


def _picture(said: Mapping[str, Any], buffers: Sequence[bytes]) -> Picture | None:
    if "part" not in said:
        return None
    height, width, channels = said["shape"]
    return Picture(height, width, channels, buffers[said["part"]])


def _answers(batch: Batch, header: dict[str, Any], buffers: list[bytes]) -> VariantAnswers:
    groups = [_rows(k, *buffers[2 * place : 2 * place + 2]) for place, k in enumerate(header["k"])]
    answers: dict[str, Sequence[Answer | None]] = {}
    reasons: dict[str, str] = {}
    for variant, found in header["variants"].items():
        errors = {int(slot): reason for slot, reason in found["errors"].items()}
        if errors:
            reasons[variant] = next(iter(errors.values()))
        rows = iter(groups[found["group"]] if found["group"] is not None else ())
        answers[variant] = [None if slot in errors else next(rows, None) for slot in range(len(batch.samples))]
    return VariantAnswers(batch, answers, reasons, len(groups))


def _rows(k: int, classes: bytes, scores: bytes) -> list[Answer | None]:
    numbers, values = array.array("i", classes).tolist(), array.array("f", scores).tolist()
    rows: list[Answer | None] = []
    for at in range(0, len(numbers), k):
        best = tuple(values[at : at + k])
        # Where one score is no number, nobody knows what would have been best.
        rows.append(Answer(tuple(numbers[at : at + k]), best) if all(map(math.isfinite, best)) else None)
    return rows
