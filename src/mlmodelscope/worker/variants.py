"""Many pipelines of one model in one worker: samples go in once, answers of every variant come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.worker.answers import Batch, decoded
from mlmodelscope.worker.client import OpenWorker, reading_of, task_of
from mlmodelscope.worker.plugins import inside_the_stack, of_all
from mlmodelscope_worker import messages
from mlmodelscope_worker.messages import VariantAnswer


@dataclass(frozen=True)
class VariantAnswers:
    """What came out for one batch."""

    batch: Batch
    answers: Mapping[str, Sequence[Any]]
    """By variant: one for each sample, none where it failed."""
    reasons: Mapping[str, str]
    """Why a variant failed, for one of its samples."""
    calls: float
    """How often the model ran: variants with the same tensors share a call, those with the same tokens a part of it."""
    tokens: int = 0
    """Tokens that went through a language model."""


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


class VariantWorker(OpenWorker):
    """One open model with the pipelines of many plans that differ in nothing else."""

    def __init__(self, site: Site, plan: Plan, variants: Mapping[str, Plan]) -> None:
        together = plan.model_copy(update={"plugins": of_all((plan, *variants.values()))})
        pipelines = [
            {
                "id": key,
                **reading_of(each, site.step_files),
                "plugins": [plugin.model_dump(mode="json") for plugin in inside_the_stack(each)],
            }
            for key, each in variants.items()
            if each.input is not None
        ]
        super().__init__(site, together, task_of(site, plan)._replace(variants=pipelines))
        self.missing = self.opened.missing
        """Variants that this stack cannot compute, and why."""

    def run(self, batches: Iterable[Batch], active: Sequence[str]) -> Iterator[VariantAnswers]:
        """Answers of the active variants, in the order of the batches."""
        window = 2 * self._site.lanes  # one batch is the work of many: few under way keep all threads busy
        for batch, answer, buffers in self.stream(batches, window, active=active):
            yield _answers(batch, VariantAnswer(**answer), buffers)

    def look(self, sample: Sample, plans: Sequence[Plan]) -> list[View]:
        """What the model sees of a sample as each of these plans prepares it; the first sets scale and colours."""
        pipelines = [_steps(each) for each in plans if each.input is not None]
        self._process.send(messages.Look(dict(sample.content), pipelines))
        message, buffers = self._process.receive(messages.Seen)
        return [_view(each, buffers) for each in message.views]


def _steps(plan: Plan) -> list[dict[str, Any]]:
    assert plan.input is not None
    return [step.model_dump(mode="json") for step in plan.input.steps]


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


def _answers(batch: Batch, answer: VariantAnswer, buffers: list[bytes]) -> VariantAnswers:
    remaining = iter(buffers)
    groups = [decoded(each["content"], list(islice(remaining, each["buffers"]))) for each in answer.groups]
    answers: dict[str, Sequence[Any]] = {}
    reasons: dict[str, str] = {}
    for variant, found in answer.variants.items():
        errors = {int(slot): reason for slot, reason in found["errors"].items()}
        if errors:
            reasons[variant] = next(iter(errors.values()))
        rows = iter(groups[found["group"]] if found["group"] is not None else ())
        answers[variant] = [None if slot in errors else next(rows, None) for slot in range(len(batch.samples))]
    return VariantAnswers(batch, answers, reasons, answer.calls, answer.tokens)
