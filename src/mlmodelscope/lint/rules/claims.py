"""Published numbers that cannot be checked as they stand."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.task.measure import SHARE, find_measure


@rule("M100", "claim-without-dataset", "warning", ("model",))
def claim_without_dataset(subject: Subject) -> Iterator[Finding]:
    """A claim does not say on which dataset.

    An accuracy without a dataset cannot be checked. An information only in old dialects, which have no place for it.

    Wrong:

        claims:
          - {metric: top1, value: 76.1}

    Right:

        claims:
          - {metric: top1, value: 76.1, dataset: imagenet-val}
    """
    for number, claim in enumerate(subject.model.claims):
        if not claim.dataset:
            text = f"{claim.metric} {claim.value} is claimed, but not on which dataset"
            yield subject.finding(("claims", number), text, severity="info" if subject.dialect else None)


@rule("M101", "claim-is-a-fraction", "warning", ("model",))
def claim_is_a_fraction(subject: Subject) -> Iterator[Finding]:
    """A claim looks like a fraction, but claims are in percent.

    0.761 claims an accuracy of less than one percent, which any model refutes.

    Wrong:

        claims:
          - {metric: top1, value: 0.761, dataset: imagenet-val}

    Right:

        claims:
          - {metric: top1, value: 76.1, dataset: imagenet-val}
    """
    for number, claim in enumerate(subject.model.claims):
        if 0 < float(claim.value) <= 1 and _is_in_percent(claim):
            percent = f"{100 * float(claim.value):.6g}"
            path = ("claims", number, "value")
            text = f"{claim.metric} of {claim.value} % looks like a fraction"
            yield subject.finding(path, text, f"in percent it is {percent}")


def _is_in_percent(claim: Claim) -> bool:
    """By its own unit, else by that of its measure; a metric that nobody knows is most likely a share."""
    if claim.unit is not None:
        return claim.unit == SHARE.published
    known = find_measure(claim.metric)
    return known is None or known.unit is SHARE


@rule("M102", "claimed-twice", "warning", ("model",))
def claimed_twice(subject: Subject) -> Iterator[Finding]:
    """The same number is claimed twice.

    Two claims of one metric on one dataset, under the same conditions: which of them counts?

    Wrong:

        claims:
          - {metric: top1, value: 76.1, dataset: imagenet-val}
          - {metric: top1, value: 75.9, dataset: imagenet-val}

    Right:

        claims:
          - {metric: top1, value: 76.1, dataset: imagenet-val}
    """
    seen: set[tuple[str | None, ...]] = set()
    for number, claim in enumerate(subject.model.claims):
        about = (claim.metric.lower(), claim.dataset, claim.split, claim.conditions)
        if about in seen:
            yield subject.finding(("claims", number), f"{claim.metric} is claimed a second time")
        seen.add(about)
