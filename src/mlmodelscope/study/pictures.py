"""The pictures of Figures 3 to 7: what the model sees of one input, each way, and where the ways differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.evidence import data_uri
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.study.plot import Picture
from mlmodelscope.worker.variants import Difference


@dataclass(frozen=True)
class Seen:
    """One input through one pipeline."""

    words: str
    picture: str | None
    """A PNG as a `data:` address."""
    apart: Difference | None
    """Against the first; nothing where the two cannot be laid upon each other."""
    reason: str

    @property
    def pictures(self) -> list[Picture]:
        found = [Picture(self.words, self.picture)] if self.picture is not None else []
        if self.apart is not None and (uri := data_uri(self.apart.picture)) is not None:
            found.append(Picture(f"its difference × {self.apart.stretch or 1:.3g}", uri))
        return found


def look(trials: Trials, sample: Sample, plans: Mapping[str, Plan]) -> tuple[list[Seen], str]:
    """(what is seen of a sample through each plan, why nothing is)."""
    try:
        views = trials.worker_of(trials.plan).look(sample, list(plans.values()))
    except MLModelScopeError as error:
        return [], error.message.splitlines()[0]
    return [
        Seen(words, data_uri(view.picture), view.difference, view.reason)
        for words, view in zip(plans, views, strict=True)
    ], ""


def decode_only(plan: Plan) -> Plan:
    """The pixels as they come from the decoder, before anything is made of them."""
    assert plan.input is not None
    kept = plan.input.steps[: 1 + next((at for at, step in enumerate(plan.input.steps) if step.name == "decode"), 0)]
    return plan.with_steps(kept)


def pictures_of(seen: Sequence[Seen]) -> list[Picture]:
    return [picture for each in seen for picture in each.pictures]
