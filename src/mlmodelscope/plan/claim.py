"""A claim: what was published, as exactly as it was published."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.schema.task import ASKED, LANGUAGE_MODEL
from mlmodelscope.manifest.splits import claimed_on, parted
from mlmodelscope.task.measure import MEASURES, NUMBER, Measure, Unit, counterpart, find_measure

Rounding = Literal["nearest", "down", "up"]

_TEXT = re.compile(
    r"(?P<metric>[A-Za-z][\w+-]*(:[^\s=@:]{1,100})?)="
    r"(?P<value>[+-]?\d{1,9}(\.\d{1,12})?)\s*(?P<unit>%|dB)?(@(?P<dataset>\S+))?"
)
_SYMBOLS = {"%": "percent", "dB": "dB"}


@dataclass(frozen=True)
class Claim:
    """A number that somebody published, and what may have been rounded away."""

    metric: str
    text: str
    """As published: its digits say how exact it claims to be."""
    dataset: str | None = None
    source: str | None = None
    rounding: Rounding = "nearest"
    """How the digits that are not there were dropped."""
    conditions: str | None = None
    factor: float = 100.0
    """By which a measured number is multiplied to be one like the published: 100 for one in percent."""

    def for_task(self, task: str) -> Claim:
        """The same claim about a model of this task, where its metric's name means another number."""
        meant = counterpart(self.measure, task)
        return self if meant is self.measure else replace(self, metric=meant.name)

    @property
    def measure(self) -> Measure:
        return MEASURES[self.metric]

    @property
    def unit(self) -> Unit:
        """In which it was published: that of its measure, or none where a share is written as a bare number."""
        own = self.measure.unit
        return own if self.factor == own.factor else NUMBER

    @property
    def symbol(self) -> str:
        """What stands behind the published number."""
        return self.unit.symbol

    def spelled(self, value: float, digits: int = 2) -> str:
        """A number as the claim would be published: `82.86 %`, `37.65 dB`."""
        return f"{self.factor * value:.{self.digits(digits)}f} {self.symbol}".rstrip()

    def apart(self, difference: float, signed: bool = False) -> str:
        """How far two numbers lie apart: `8.57 points`, `0.12 dB`."""
        return f"{self.factor * difference:{'+' if signed else ''}.{self.digits(2)}f} {self.unit.apart}".rstrip()

    def digits(self, least: int) -> int:
        """As many as were published, and at least so many; a bare number has four."""
        return max(least if self.symbol else max(least, 4), len(self.text.partition(".")[2]))

    @property
    def published(self) -> str:
        """As it was published, with its unit."""
        return f"{self.text} {self.symbol}".rstrip()

    @property
    def value(self) -> float:
        return float(self.text) / self.factor

    @property
    def low(self) -> float:
        """The least number that would have been published like this."""
        return self.value - {"nearest": 0.5, "down": 0.0, "up": 1.0}[self.rounding] * self._last_digit

    @property
    def high(self) -> float:
        return self.value + {"nearest": 0.5, "down": 1.0, "up": 0.0}[self.rounding] * self._last_digit

    @property
    def _last_digit(self) -> float:
        return 10.0 ** -len(self.text.partition(".")[2]) / self.factor


def parse_claim(text: str) -> Claim:
    """`ap=37.4@coco-val2017`, `psnr=37.65dB@set5`, `token-f1:PER=95.9@news`."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"`{text}` is not a claim",
            hint="a claim is METRIC=VALUE@DATASET, the value as published (a share in percent), "
            "such as ap=37.4@coco-val2017",
        )
    found = _measure(match["metric"])
    factor = _factor(found, _SYMBOLS.get(match["unit"] or ""))
    return Claim(found.name, match["value"], match["dataset"], factor=factor)


def claim_of(published: schema.Claim, task: str | None = None) -> Claim:
    """A claim as a manifest has it, of a model or an evaluation of this task."""
    found = _measure(published.metric, task)
    if published.better not in (None, found.better):
        raise UsageError(f"`{found.name}` is better the {found.better} it is, the claim says {published.better}")
    return Claim(
        found.name,
        published.value,
        claimed_on(published),
        published.source,
        published.rounding,
        published.conditions,
        _factor(found, published.unit),
    )


def is_measurable(published: schema.Claim) -> bool:
    return find_measure(published.metric) is not None


def claimed_dataset(model: schema.ModelManifest, claim: Claim | None = None) -> str | None:
    """The dataset where none is named: that of the claim, or the one that most of the model's claims are about."""
    if claim is not None and claim.dataset is not None:
        return claim.dataset
    named = Counter(on for each in model.claims if (on := claimed_on(each)) and is_measurable(each))
    own = [each for each in named if _base(each) == _base(model.dataset)]
    if len(own) == 1 and model.dataset is not None and parted(model.dataset)[1] is None and parted(own[0])[1]:
        return own[0]  # the split that the claims are about
    if not named or own:
        return model.dataset
    most = [name for name, count in named.items() if count == max(named.values())]
    if len(most) > 1:
        raise UsageError(
            f"{model.name} claims numbers on {spell_list(named)}: name one of these datasets",
            hint=f"mlmodelscope replicate MODEL {most[0]}",
        )
    return most[0]


def spell_list(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _base(dataset: str | None) -> str | None:
    return parted(dataset)[0].partition("@")[0].strip().lower() if dataset else None


def _measure(name: str, task: str | None = None) -> Measure:
    found = find_measure(name, ASKED if task == LANGUAGE_MODEL else () if task is None else (task,))
    if found is None:
        raise UsageError(f"claims about `{name}` cannot be checked; known: {', '.join(MEASURES)}")
    return found


def _factor(measure: Measure, unit: str | None) -> float:
    """By which the measure's own number is multiplied to be one in the unit of the claim."""
    own = measure.unit
    if unit in (None, own.published, own.name):
        return 1.0 if unit == own.name and unit != own.published else own.factor
    known = ", ".join(dict.fromkeys(each for each in (own.published, own.name) if each))
    raise UsageError(f"`{measure.name}` is not a number in {unit}", hint=f"its units are: {known}")
