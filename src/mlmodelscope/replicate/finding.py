"""What a replication found, as data: a claim, what was measured, the verdict, and the cause where there is one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from mlmodelscope.replicate.kind import FORMER_CHANGES, Change, Kind
from mlmodelscope.task.measure import measure_or_bare
from mlmodelscope.task.shape import Shape


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Claimed(Part):
    metric: str
    title: str = Field(default="", description="What people call the metric.")
    value: str = Field(description="With the digits that it was published with, in its unit.")
    unit: str = Field(
        default="",
        description="What it was published in: `share` for percent, `dB`, or `number` for a number without a unit.",
    )
    dataset: str | None = None
    source: str | None = None
    conditions: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_its_measure(cls, given: Any) -> Any:
        """Findings of older versions name the metric alone: what it is called, and counted in, follows from that."""
        if not isinstance(given, dict) or "unit" in given or not isinstance(given.get("metric"), str):
            return given
        known = measure_or_bare(given["metric"])
        return {"title": known.title, "unit": known.unit.name, **given}


class Measured(Part):
    value: float
    low: float
    high: float


class Range(Part):
    low: float
    high: float


class Named(Part):
    pitfalls: tuple[str, ...]
    words: str


class Tried(Named):
    """A variant that was tried: the sensitivity of the number to this detail, as far as it was needed."""

    plan: str = Field(description="Digest of the plan with the edit.")
    expected: float = Field(description="Its number on all samples.")
    deviation: float = Field(description="How far that may be off; 0 once it has seen all samples.")
    gained: int = Field(
        description="Samples that it has right and the manifest as it is has wrong, or that it answers better."
    )
    lost: int
    samples: int = Field(description="Samples that it was tried on before it was out, or all.")
    explains: bool = Field(
        description="Whether it reproduces the claimed number, with a significant paired difference."
    )
    closes: float = Field(description="Share of the gap that it closes.")
    separating: int | None = Field(
        default=None, description="Samples that only one of it and the manifest has right, or it and its first edit."
    )
    chance: float | None = Field(
        default=None, description="How likely any of the variants that were tried would do as well by chance."
    )
    agreement: float | None = None
    alike: tuple[Named, ...] = ()


class Round(Part):
    samples: int
    variants: int


class Shown(Named):
    """The evidence for the cause, in numbers; the samples are asked for page by page."""

    samples: int = Field(description="Samples that were answered both ways.")
    fixed: int = Field(description="Samples that only the edited plan answers correctly.")
    broken: int = Field(description="Samples that only the plan as it is answers correctly.")
    other_answer: int
    right_now: int = Field(description="Older name of `fixed`.", deprecated=True)
    wrong_now: int = Field(description="Older name of `broken`.", deprecated=True)
    graded: bool = Field(
        default=False,
        description="Whether answers are more or less good: then `fixed` are better, and `broken` worse.",
    )
    without_pictures: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_former_names(cls, given: Any) -> Any:
        """Findings of older versions know the former names alone."""
        if not isinstance(given, dict) or "fixed" in given or "right_now" not in given:
            return given
        return {"fixed": given["right_now"], "broken": given.get("wrong_now"), **given}


class Goal(Part):
    """What a search looks for: what would measure what was claimed."""

    metric: str
    unit: str = Field(default="share", description="What it was published in: `share` for percent, `dB`, `number`.")
    claimed: float
    measured: float
    low: float = Field(description="What may be measured and still be what was claimed.")
    high: float


class Line(Part):
    sign: Literal["-", "+"]
    text: str


class Cause(Named):
    """What explains the number, as a change of the manifest; the lines with a plus are how it should be."""

    title: str
    explanation: str = Field(default="", description="What goes wrong and how it shows: Markdown.")
    edits: tuple[Line, ...] = ()


class InsidePart(Part):
    part: Literal["pipeline", "model", "answer"]
    verdict: Literal["agrees", "differs", "unknown"]
    step: str | None = Field(default=None, description="The step or layer that differs first.")
    words: str


class InsideModel(Part):
    """What comparing the model with a reference implementation, layer by layer, came to."""

    reference: str = Field(description="The model that was taken for right.")
    outcome: Literal["same", "different", "undecided", "no verdict"]
    sentence: str
    layer: str | None = Field(default=None, description="The first layer that differs beyond rounding.")
    layer_kind: str | None = None
    fault: str | None = Field(default=None, description="The kind of mistake that the layer looks like.")
    fault_words: str | None = None
    parts: tuple[InsidePart, ...] = ()
    reference_measures: float | None = Field(default=None, description="The claimed number of the reference.")
    reference_reproduces: bool | None = Field(default=None, description="Whether that is what was claimed.")
    claimants_answers: Literal["same bits", "rounding", "unclear", "fault"] | None = Field(
        default=None, description="Our answers beside those of the claimant's log."
    )
    text: str = Field(default="", description="All of that for people.")


class TieEnds(Part):
    """The number at either end of all the ways to break ties."""

    samples: int = Field(description="Samples of which it depends on the order of equal scores whether they count.")
    against: float = Field(description="The number with every tie broken against the label.")
    favor: float = Field(description="The number with every tie broken in favor of the label.")
    decides: bool = Field(description="Whether the verdict depends on how ties are broken.")


class Judged(Part):
    """One claim, what was measured, and the verdict on it."""

    verdict: Kind
    claim: Claimed
    measured: Measured
    samples: int
    population: int | None = None
    accepted: Annotated[Range, Field(description="What may be measured and still be what was claimed.")]
    needed: int | None = Field(default=None, description="Samples that would decide it.")
    samples_apart: int | None = Field(
        default=None,
        description="On a whole dataset: how many samples more (or fewer) count than the claim leaves open.",
    )
    ties: TieEnds | None = Field(default=None, description="Where samples have tied scores.")
    text: str = Field(default="", description="The verdict for people.")
    is_check: bool = Field(
        default=True,
        description="Whether it decides the claim as published: on its own dataset, within its own last digit.",
    )


class Finding(Part):
    """Claims, what was measured, the verdicts, and the cause where one was found.

    `verdict` and what belongs to it is the worst of `verdicts`.
    """

    model: str
    dataset: str
    record: str
    verdict: Kind
    claim: Claimed
    measured: Measured
    samples: int
    population: int | None = None
    accepted: Annotated[Range, Field(description="What may be measured and still be what was claimed.")]
    better: bool = Field(default=False, description="Whether the verdict is `better than claimed`.")
    needed: int | None = Field(default=None, description="Samples that would decide it.")
    verdicts: tuple[Judged, ...] = Field(
        default=(), description="Every claim about the dataset, in the order of the manifest; empty in old findings."
    )
    unchecked: tuple[str, ...] = Field(
        default=(), description="Claims about the dataset that cannot be checked, with the reason."
    )
    claimants_answers: dict[str, Any] | None = None
    explained_by: tuple[Tried, ...] = Field(
        default=(), description="What reproduces the claimed number, with a significant paired difference."
    )
    compatible_with: tuple[Tried, ...] = Field(
        default=(), description="What comes to the claimed number as chance alone might."
    )
    explains_most: Tried | None = Field(
        default=None, description="What closes most of the gap for certain, where nothing closes all of it."
    )
    causes: tuple[Cause, ...] = Field(
        default=(), description="What explains it, or what comes nearest where nothing does."
    )
    candidates: tuple[Tried, ...] = Field(default=(), description="All variants that were tried, the best first.")
    rounds: tuple[Round, ...] = ()
    separating_sample: dict[str, Any] | None = None
    cut_short: bool = False
    budget: int | None = Field(
        default=None, description="Evaluations that would have sufficed, where it was cut short."
    )
    evaluations: float | None = Field(default=None, description="Evaluations of the whole dataset that it took.")
    not_sought: str | None = None
    inside: InsideModel | None = Field(
        default=None, description="Where nothing that was tried explains the gap: a comparison with a reference."
    )
    evidence: Shown | None = None
    said: tuple[str, ...] = Field(default=(), description="All of that for people, a line each.")
    shown: tuple[str, ...] = Field(default=(), description="The evidence as a terminal without pictures shows it.")


class Choice(Part):
    number: Annotated[int, Field(alias="class")]
    name: str
    score: float | None
    right: bool


class Seen(Part):
    """What the model sees of a sample; pictures by their names."""

    same: bool
    before: str | None = None
    after: str | None = None
    difference: str | None = None
    largest: float | None = Field(default=None, description="Largest difference of a value of the tensor.")
    mean: float | None = None
    share: float | None = Field(default=None, description="Share of the values that differ.")


class QualityChange(Part):
    """How good the answers are, from 0 to 1."""

    before: float
    after: float


class NumberChange(Part):
    """The claimed metric of one sample."""

    before: float
    after: float


class OverlaidAnswers(Part):
    """What is true of a sample and both answers, as shapes over its picture."""

    truth: tuple[Annotated[Shape, Field(discriminator="kind")], ...] = ()
    before: tuple[Annotated[Shape, Field(discriminator="kind")], ...] = ()
    after: tuple[Annotated[Shape, Field(discriminator="kind")], ...] = ()
    size: tuple[int, int] | None = Field(default=None, description="Width and height that places are in.")


class Flip(Part):
    """A sample whose answer is another one with the edit that explains the claim."""

    sample: str
    kind: Annotated[Change, BeforeValidator(lambda given: FORMER_CHANGES.get(given, given))]
    label: str | None = None
    change: float | None
    before: tuple[Choice, ...]
    after: tuple[Choice, ...]
    seen: Seen | None = None
    quality: QualityChange | None = Field(
        default=None, description="Where answers are more or less good, and not simply right or wrong."
    )
    number: NumberChange | None = Field(
        default=None, description="The claimed metric of this sample alone, where it has one for a single sample."
    )
    overlaid: OverlaidAnswers | None = Field(default=None, description="For the most telling samples.")
