"""A claim: what was published, as exactly as it was published."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.replicate.measure import MEASURES, Measure

Rounding = Literal["nearest", "down", "up"]

_TEXT = re.compile(r"(?P<metric>[A-Za-z][\w-]*)=(?P<value>\d{1,6}(\.\d{1,10})?)\s*%?(@(?P<dataset>\S+))?")
_NAMES = {
    "top-1": "top1",
    "accuracy": "top1",
    "acc": "top1",
    "acc1": "top1",
    "top-5": "top5",
    "acc5": "top5",
    "error": "top1-error",
    "top-1-error": "top1-error",
    "top-5-error": "top5-error",
    "mean-per-class-accuracy": "class-accuracy",
    "balanced-accuracy": "class-accuracy",
}


@dataclass(frozen=True)
class Claim:
    """A number that somebody published, in percent, and what may have been rounded away."""

    metric: str
    text: str
    """As published, in percent: its digits say how exact it claims to be."""
    dataset: str | None = None
    source: str | None = None
    rounding: Rounding = "nearest"
    """How the digits that are not there were dropped."""
    conditions: str | None = None

    @property
    def measure(self) -> Measure:
        return MEASURES[self.metric]

    @property
    def value(self) -> float:
        return float(self.text) / 100

    @property
    def low(self) -> float:
        """The least number that would have been published like this."""
        return self.value - {"nearest": 0.5, "down": 0.0, "up": 1.0}[self.rounding] * self._last_digit

    @property
    def high(self) -> float:
        return self.value + {"nearest": 0.5, "down": 1.0, "up": 0.0}[self.rounding] * self._last_digit

    @property
    def _last_digit(self) -> float:
        return 10.0 ** -len(self.text.partition(".")[2]) / 100


def parse_claim(text: str) -> Claim:
    """`top1=78.8@imagenet-val`."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"`{text}` is not a claim",
            hint="a claim is METRIC=VALUE@DATASET, the value in percent as published, such as top1=78.8@imagenet-val",
        )
    return Claim(_metric(match["metric"]), match["value"], match["dataset"])


def claim_of(published: schema.Claim) -> Claim:
    """A claim as a manifest has it."""
    return Claim(
        _metric(published.metric),
        published.value,
        published.dataset,
        published.source,
        published.rounding,
        published.conditions,
    )


def is_measurable(published: schema.Claim) -> bool:
    return _spelled(published.metric) in MEASURES


def claimed_dataset(model: schema.ModelManifest, claim: Claim | None = None) -> str | None:
    """The dataset where none is named: that of the claim, or the one that most of the model's claims are about."""
    if claim is not None and claim.dataset is not None:
        return claim.dataset
    named = Counter(each.dataset for each in model.claims if each.dataset and is_measurable(each))
    if not named or _base(model.dataset) in map(_base, named):
        return model.dataset
    most = [name for name, count in named.items() if count == max(named.values())]
    if len(most) > 1:
        raise UsageError(
            f"{model.name} claims numbers on {spell_list(named)}: name one of these datasets",
            hint=f"mlmodelscope replicate {model.file or model.name} {most[0]}",
        )
    return most[0]


def spell_list(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _base(dataset: str | None) -> str | None:
    return dataset.partition("@")[0].strip().lower() if dataset else None


def _metric(name: str) -> str:
    if _spelled(name) not in MEASURES:
        raise UsageError(f"claims about `{name}` cannot be checked; known: {', '.join(MEASURES)}")
    return _spelled(name)


def _spelled(name: str) -> str:
    name = name.lower().replace("_", "-")
    return _NAMES.get(name, name)
