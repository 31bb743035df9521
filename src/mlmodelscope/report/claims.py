"""Published numbers beside measured ones, and what can honestly be said of the two.

This is not yet a verdict: that needs the same dataset, enough samples and, where they differ, a cause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol

from mlmodelscope.errors import MLModelScopeError, VersionError
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.splits import is_same_split, parted
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.claim import Claim, claim_of, is_measurable
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.statistic.interval import samples_needed
from mlmodelscope.task.measure import NUMBER, UNITS

Position = Literal["inside", "above", "below"]

_ONE_POINT = 0.01


@dataclass(frozen=True)
class ClaimComparison:
    """One published number and its measured counterpart."""

    claim: schema.Claim
    metric: str
    published: str
    """With the digits it was published with."""
    unit: str
    """In which it was published: a symbol behind the number, such as %."""
    measured: MeasuredNumber
    same_dataset: bool
    """Whether the claim says that it is of the dataset evaluated here."""
    samples: int
    """Samples that the measured number is made of."""
    position: Position
    """Where the published number lies, seen from the measured interval."""
    samples_for_one_point: int | None
    """For a share of samples: how many would make the interval ±1 point wide."""
    sentence: str
    """What can be said, complete in itself."""
    source: str | None = None
    """Where the number was published."""
    other_split: bool = False
    """Whether the claim is of another split of the dataset evaluated here."""

    @property
    def tag(self) -> str:
        """The sentence in two or three words."""
        if not self.same_dataset:
            return "other split" if self.other_split else "other dataset"
        if self.position != "inside":
            return f"{self.position} the interval"
        return "too few samples" if self.is_wide else "inside the interval"

    @property
    def is_wide(self) -> bool:
        """Whether the samples are too few to decide anything."""
        return self.samples_for_one_point is not None and self.samples < self.samples_for_one_point


@dataclass(frozen=True)
class UnmeasuredClaim:
    """A published number that this record says nothing about."""

    claim: schema.Claim
    reason: str


def compare_claims(record: Record) -> list[ClaimComparison]:
    """Every claim whose metric this record measured, in the order of the manifest."""
    found = [(claim, _measured(claim, record)) for claim in record.plan.claims]
    return [_compare(claim, measured, record) for claim, measured in found if measured is not None]


def unmeasured_claims(record: Record) -> list[UnmeasuredClaim]:
    """The other claims, and why nothing can be said of them."""
    return [
        UnmeasuredClaim(claim, record.refused.get(claim.metric, "it is not measured here"))
        for claim in record.plan.claims
        if _measured(claim, record) is None
    ]


def place(claim: Claim, measured: MeasuredNumber) -> Position:
    """Where a published number lies; `75.1` may stand for anything from 75.05 to 75.15."""
    low = measured.value if measured.low is None else measured.low
    high = measured.value if measured.high is None else measured.high
    if claim.high < low:
        return "below"
    return "above" if claim.low > high else "inside"


class NamedDataset(Protocol):
    """A dataset of a plan, of a manifest, or of a row in a list."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def split(self) -> str | None: ...


def is_same_dataset(claimed: str | None, dataset: NamedDataset) -> bool:
    """Whether a claim's dataset, `name`, `name@constraint` or either with `:split`, is the one evaluated."""
    base, split = parted(claimed or "")
    name, _, constraint = base.partition("@")
    if name.strip().lower() != dataset.name.lower() or not is_same_split(split, dataset.split):
        return False
    try:
        return Constraint(constraint or "*").matches(Version(dataset.version), allow_prerelease=True)
    except VersionError:
        return False


def is_other_split(claimed: str | None, dataset: NamedDataset) -> bool:
    """Whether a claim is about the dataset evaluated, and about another split of it."""
    base, split = parted(claimed or "")
    return not is_same_split(split, dataset.split) and is_same_dataset(base, dataset)


def _measured(published: schema.Claim, record: Record) -> MeasuredNumber | None:
    try:
        return record.metrics.get(claim_of(published, record.plan.task).metric) if is_measurable(published) else None
    except MLModelScopeError:  # a unit that the metric does not have
        return None


def _compare(written: schema.Claim, measured: MeasuredNumber, record: Record) -> ClaimComparison:
    claim, dataset = claim_of(written, record.plan.task), record.plan.dataset
    is_share = claim.measure.outcome is not None
    comparison = ClaimComparison(
        claim=written,
        metric=claim.metric,
        published=claim.text,
        unit=claim.symbol,
        measured=measured,
        same_dataset=is_same_dataset(claim.dataset, dataset),
        samples=words.answered(record),
        position=place(claim, measured),
        samples_for_one_point=samples_needed(measured.value, _ONE_POINT, measured.confidence) if is_share else None,
        sentence="",
        source=claim.source,
        other_split=is_other_split(claim.dataset, dataset),
    )
    said = _of_one_dataset(comparison) if comparison.same_dataset else _of_two_datasets(comparison, claim, dataset)
    return replace(comparison, sentence=said)


def _of_one_dataset(comparison: ClaimComparison) -> str:
    claim, interval = _name(comparison), words.measured_range(comparison.measured)
    samples = words.plural(comparison.samples, "sample")
    if comparison.position != "inside":
        direction = "lower" if comparison.position == "above" else "higher"
        return (
            f"{claim} lies {comparison.position} the interval of {interval} measured on {samples}: "
            f"the number found here is {direction}."
        )
    if not comparison.is_wide:
        return f"{claim} lies inside the interval of {interval} measured on {samples}."
    return (
        f"{claim} lies inside the interval, but {samples} cannot decide it: the interval is "
        f"{_half_width(comparison)}; {_narrower(comparison)}."
    )


def _of_two_datasets(comparison: ClaimComparison, claim: Claim, dataset: PlannedDataset) -> str:
    if claim.dataset is None:
        said = f"{_name(comparison)} does not say which dataset it is of, so it cannot be held against {dataset.name}."
    else:
        if comparison.other_split:
            here = f"{dataset.name}:{dataset.split}" if dataset.split else f"{dataset.name}, which names no split"
            return f"{_name(comparison)} is of {claim.dataset}, the measured one of {here}: not the same split."
        here = dataset.name if claim.dataset.partition("@")[0] != dataset.name else f"{dataset.name}@{dataset.version}"
        said = f"{_name(comparison)} is of {claim.dataset}, the measured one of {here}: not the same dataset."
    if not comparison.is_wide:
        return said
    return (
        f"{said} {words.plural(comparison.samples, 'sample')} could not decide it anyway: the interval is "
        f"{_half_width(comparison)}; {_narrower(comparison)}."
    )


def _name(comparison: ClaimComparison) -> str:
    return f"The published {words.title(comparison.metric)} of {published(comparison)}"


def published(comparison: ClaimComparison) -> str:
    """The published number with its unit."""
    return f"{comparison.published}\N{NO-BREAK SPACE}{comparison.unit}".strip()


def written_of(claim: schema.Claim) -> tuple[str, str]:
    """(what people call the metric, what the number is written in), of a claim that need not be measurable."""
    try:
        known = claim_of(claim)
        return known.measure.title, known.unit.name
    except MLModelScopeError:  # nobody's metric, or a unit that it does not have
        unit = next((each.name for each in UNITS.values() if claim.unit and each.published == claim.unit), NUMBER.name)
        return claim.metric, unit


def published_text(claim: schema.Claim) -> str:
    """A number that could not be measured, as it was published."""
    return f"{claim.value} {UNITS[written_of(claim)[1]].symbol}".rstrip()


def _half_width(comparison: ClaimComparison) -> str:
    interval = comparison.measured.interval
    return words.points(words.half_width(interval)) if interval is not None else "not known"


def _narrower(comparison: ClaimComparison) -> str:
    needed = comparison.samples_for_one_point or 0
    return f"about {words.count(needed)} samples would narrow it to ±1\N{NO-BREAK SPACE}point"
