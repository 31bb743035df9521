"""What each pitfall would cost a model, as data: for programs, for a server, and for whoever draws it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.record.record import Record
from mlmodelscope.replicate.finding import Measured, Part
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.sensitivity import Effect, Sensitivity
from mlmodelscope.types import Interval

_MOST = 10_000
Words = Annotated[str, Field(max_length=1000)]


class Cost(Part):
    """A variant of the manifest, and what it would do to the first number of the task."""

    pitfall: Words
    title: Annotated[str, Field(max_length=1000, description="What the pitfall is about, in words.")]
    words: Words
    value: Annotated[float, Field(description="The number with it.")]
    difference: Annotated[float, Field(description="Of the number to that of the manifest as it is.")]
    gained: Annotated[int, Field(description="Samples that it answers better than the manifest as it is.")]
    lost: int
    samples: int
    same_as: Annotated[
        str | None, Field(max_length=1000, description="The first variant that makes the very same answers.")
    ] = None
    difference_low: float
    difference_high: float
    p_value: Annotated[float, Field(description="How likely such a change is by chance, by the test that is named.")]
    others: Annotated[dict[str, float], Field(description="Further numbers with it, by their names.")] = {}
    flips: Annotated[
        int, Field(description="Samples whose answer is another one; where answers are scored, whose score is.")
    ]
    failed: Annotated[int, Field(description="Samples that it has no answer to.")]
    idle: Annotated[bool, Field(description="Whether it changes no answer.")] = False


class NotTried(Part):
    """Variants that cannot be computed there, and why."""

    reason: Annotated[str, Field(max_length=10_000)]
    variants: Annotated[tuple[Words, ...], Field(max_length=_MOST)]


class Sensed(Part):
    """A model whose manifest is right, and what each pitfall would cost it."""

    model: Words
    dataset: Words
    record: Annotated[str, Field(max_length=200, description="Of the manifest as it is.")]
    samples: int
    metric: Annotated[str, Field(description="The number that effects are about, by its name.")]
    titles: Annotated[dict[str, str], Field(description="What people call the numbers.")]
    unit: Annotated[str, Field(description="`share`, `dB`, `number`: what effects are counted in.")]
    units: Annotated[dict[str, str], Field(description="The same of each number, by its name.")] = {}
    better: Annotated[Literal["higher", "lower"], Field(description="Which way the first number gets better.")] = (
        "higher"
    )
    test: Annotated[
        Literal["mcnemar", "student"],
        Field(description="What `p_value` is by: McNemar's test for a share of samples, else Student's t."),
    ] = "mcnemar"
    numbers: Annotated[dict[str, Measured], Field(description="Of the manifest as it is, by their names.")]
    effects: Annotated[tuple[Cost, ...], Field(max_length=_MOST, description="The costliest first.")]
    not_tried: Annotated[tuple[NotTried, ...], Field(max_length=_MOST)] = ()

    def unit_of(self, name: str) -> str:
        """What a number is counted in; those that were kept before each had its own have that of the first."""
        return self.units.get(name, self.unit)


def sensed_of(record: Record, measured: Sensitivity) -> Sensed:
    plan = record.plan
    return Sensed(
        model=plan.model.reference,
        dataset=plan.dataset.reference,
        record=record.id,
        samples=len(measured.samples),
        metric=measured.measures[0].name,
        titles={each.name: each.title for each in measured.measures},
        unit=measured.measures[0].unit.name,
        units={each.name: each.unit.name for each in measured.measures},
        better=measured.measures[0].better,
        test="mcnemar" if measured.measures[0].outcome is not None else "student",
        numbers={name: _measured(number) for name, number in measured.numbers.items()},
        effects=tuple(map(_cost, measured.effects)),
        not_tried=tuple(
            NotTried(reason=reason, variants=tuple(words)) for reason, words in measured.impossible.items()
        ),
    )


def _measured(interval: Interval) -> Measured:
    return Measured(value=interval.value, low=interval.low, high=interval.high)


def _cost(each: Effect) -> Cost:
    name, change = each.variant.pitfalls[0], each.difference
    return Cost(
        pitfall=name,
        title=PITFALLS[name].title if name in PITFALLS else name,
        words=each.variant.words,
        value=each.after,
        difference=change.value,
        gained=each.gained,
        lost=each.lost,
        samples=each.samples,
        same_as=each.same_as,
        difference_low=change.low,
        difference_high=change.high,
        p_value=each.p_value,
        others=dict(each.others),
        flips=each.flips,
        failed=each.failed,
        idle=each.is_idle,
    )
