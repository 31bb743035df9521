"""Published numbers beside measured ones, and what can honestly be said of the two.

This is not yet a verdict: that needs the same dataset, enough samples and, where they differ, a cause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.schema import Claim, DatasetManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.metric.interval import samples_needed
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.types import Interval

Position = Literal["inside", "above", "below"]

_ONE_POINT = 0.01


@dataclass(frozen=True)
class ClaimComparison:
    """One published number and its measured counterpart."""

    metric: str
    published: str
    """In percent, with the digits it was published with."""
    measured: Interval
    same_dataset: bool
    """Whether the claim says that it is of the dataset evaluated here."""
    samples: int
    """Samples that the measured number is made of."""
    position: Position
    """Where the published number lies, seen from the measured interval."""
    samples_for_one_point: int
    """How many samples would make the interval ±1 point wide."""
    sentence: str
    """What can be said, complete in itself."""
    source: str | None = None
    """Where the number was published."""

    @property
    def tag(self) -> str:
        """The sentence in two or three words."""
        if not self.same_dataset:
            return "other dataset"
        if self.position != "inside":
            return f"{self.position} the interval"
        return "inside the interval" if self.samples >= self.samples_for_one_point else "too few samples"


@dataclass(frozen=True)
class UnmeasuredClaim:
    """A published number that this record says nothing about."""

    claim: Claim
    reason: str


def compare_claims(record: Record) -> list[ClaimComparison]:
    """Every claim whose metric this record measured, in the order of the manifest."""
    return [_compare(claim, record) for claim in record.plan.claims if _measured(claim, record) is not None]


def unmeasured_claims(record: Record) -> list[UnmeasuredClaim]:
    """The other claims, and why nothing can be said of them."""
    return [
        UnmeasuredClaim(claim, record.metrics.refused.get(claim.metric, "it is not measured here"))
        for claim in record.plan.claims
        if _measured(claim, record) is None
    ]


def place(published: str, interval: Interval) -> Position:
    """Where a published percentage lies; `75.1` may stand for anything from 75.05 to 75.15."""
    number = float(published)
    rounding = 0.5 * 10.0 ** -len(published.partition(".")[2])
    if (number + rounding) / 100 < interval.low:
        return "below"
    return "above" if (number - rounding) / 100 > interval.high else "inside"


def is_same_dataset(claimed: str | None, dataset: PlannedDataset | DatasetManifest) -> bool:
    """Whether a claim's dataset, `name` or `name@constraint`, is the one evaluated."""
    name, _, constraint = (claimed or "").partition("@")
    if name.strip().lower() != dataset.name.lower():
        return False
    try:
        return Constraint(constraint or "*").matches(Version(dataset.version), allow_prerelease=True)
    except VersionError:
        return False


def _measured(claim: Claim, record: Record) -> Interval | None:
    return record.metrics[claim.metric] if claim.metric in words.METRIC_NAMES else None


def _compare(claim: Claim, record: Record) -> ClaimComparison:
    measured: Interval = record.metrics[claim.metric]
    dataset = record.plan.dataset
    comparison = ClaimComparison(
        metric=claim.metric,
        published=claim.value,
        measured=measured,
        same_dataset=is_same_dataset(claim.dataset, dataset),
        samples=words.answered(record),
        position=place(claim.value, measured),
        samples_for_one_point=samples_needed(measured.value, _ONE_POINT, measured.confidence),
        sentence="",
        source=claim.source,
    )
    said = _of_one_dataset(comparison) if comparison.same_dataset else _of_two_datasets(comparison, claim, dataset)
    return replace(comparison, sentence=said)


def _of_one_dataset(comparison: ClaimComparison) -> str:
    claim, interval = _name(comparison), words.percent_range(comparison.measured)
    samples = words.plural(comparison.samples, "sample")
    if comparison.position != "inside":
        direction = "lower" if comparison.position == "above" else "higher"
        return (
            f"{claim} lies {comparison.position} the interval of {interval} measured on {samples}: "
            f"the number found here is {direction}."
        )
    if comparison.samples >= comparison.samples_for_one_point:
        return f"{claim} lies inside the interval of {interval} measured on {samples}."
    return (
        f"{claim} lies inside the interval, but {samples} cannot decide it: the interval is "
        f"{words.points(words.half_width(comparison.measured))}; {_narrower(comparison)}."
    )


def _of_two_datasets(comparison: ClaimComparison, claim: Claim, dataset: PlannedDataset) -> str:
    if claim.dataset is None:
        said = f"{_name(comparison)} does not say which dataset it is of, so it cannot be held against {dataset.name}."
    else:
        here = dataset.name if claim.dataset.partition("@")[0] != dataset.name else f"{dataset.name}@{dataset.version}"
        said = f"{_name(comparison)} is of {claim.dataset}, the measured one of {here}: not the same dataset."
    if comparison.samples >= comparison.samples_for_one_point:
        return said
    return (
        f"{said} {words.plural(comparison.samples, 'sample')} could not decide it anyway: the interval is "
        f"{words.points(words.half_width(comparison.measured))}; {_narrower(comparison)}."
    )


def _name(comparison: ClaimComparison) -> str:
    return f"The published {words.METRIC_NAMES[comparison.metric]} of {comparison.published}\N{NO-BREAK SPACE}%"


def _narrower(comparison: ClaimComparison) -> str:
    return f"about {words.count(comparison.samples_for_one_point)} samples would narrow it to ±1\N{NO-BREAK SPACE}point"
