"""What the API answers about claims and replications."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.ledger.request import Request
from mlmodelscope.replicate.finding import Claimed, Finding, Flip, Goal, Judged, Measured
from mlmodelscope.replicate.kind import Kind
from mlmodelscope.server.rest.answers import Answer, example
from mlmodelscope.server.rest.evaluation_answers import Evaluation


class ReplicationRequest(Request):
    """A claim to be checked: `arguments` may name it, and say how it is searched for a cause."""

    kind: Literal["replicate"] = "replicate"


class ClaimCheck(Answer):
    """A claim held against its own dataset."""

    claim: Annotated[str, Field(description="The claim's key.")]
    record: str
    model: str
    metric: Annotated[str, Field(description="Our name of it.")]
    value: str
    dataset: str
    verdict: str
    cause: Annotated[str, Field(description="What explains the number where it does not hold; empty where unknown.")]
    measured: float
    low: float
    high: float
    samples: int
    population: int | None
    stack: str
    machine: str
    person: Annotated[str, Field(description="Who asked for it.")]
    replication: str | None
    checked_at: datetime


class ClaimVerdict(Answer):
    """A published number, and the last verdict on it."""

    model_config = example(
        metric="top1",
        title="top-1",
        value="75.1",
        unit="share",
        dataset="imagenet-val",
        source="https://example.org/paper",
        checkable=True,
        obstacle=None,
        verdict="not reproduced",
        explained_by=["crop 0.875 in place of 1"],
        replication="e20260131-101500-3f9a2b",
        record="20260131-101502-3f9a2b",
        measured={"value": 0.7421, "low": 0.7383, "high": 0.7459},
        checked=None,
    )
    metric: str
    title: Annotated[str, Field(description="What people call the metric.")]
    value: Annotated[str, Field(description="With the digits that it was published with, in its unit.")]
    unit: Annotated[
        str, Field(description="What it was published in: `share` for percent, `dB`, or `number` for a bare number.")
    ]
    dataset: str | None
    source: str | None
    checkable: Annotated[bool, Field(description="Whether it is a number that can be measured here.")]
    obstacle: Annotated[str | None, Field(description="What is missing here before it can be checked.")]
    verdict: Kind | Literal["not checked"]
    explained_by: Annotated[list[str], Field(description="What explains the number where it does not hold.")]
    replication: str | None
    record: str | None
    measured: Measured | None
    checked: Annotated[
        ClaimCheck | None, Field(description="The check that the verdict rests on: by whom, when, on which stack.")
    ]


class ModelClaim(ClaimVerdict):
    model: str
    version: str
    task: str


class ClaimList(Answer):
    items: list[ModelClaim]


class PublishedClaim(Answer):
    """A published number of a manifest or of a source, and where it stands."""

    model: Annotated[str, Field(description="`NAME@VERSION` of a manifest, or `SOURCE:NAME`.")]
    metric: str
    value: Annotated[str, Field(description="With the digits that it was published with.")]
    symbol: Annotated[str, Field(description="What stands behind the number, such as %.")]
    dataset: Annotated[str, Field(description="With its split, where the claim names one; empty where it has none.")]
    conditions: str
    place: Annotated[str, Field(description="Where it was published.")]
    key: Annotated[str, Field(description="By which its checks are found.")]
    fits: Annotated[bool, Field(description="Whether it was measured with the steps that the manifest has.")]
    is_measurable: bool
    status: Kind | Literal["unchecked"]
    check: Annotated[ClaimCheck | None, Field(description="The check that the status rests on.")]
    checks: Annotated[int, Field(description="How many there are.")]
    contradicted: Annotated[int, Field(description="How many of them decided otherwise.")]


class PublishedPage(Answer):
    items: list[PublishedClaim]
    total: int
    next: Annotated[int | None, Field(description="Give it as `start` to get the next page; null on the last one.")]


class CheckList(Answer):
    items: list[ClaimCheck]


class ReplicationSummary(Evaluation):
    verdict: Annotated[Kind | None, Field(description="The worst, where there are several claims.")]
    claim: Claimed | None
    measured: Measured | None
    verdicts: Annotated[list[Judged], Field(description="Every claim about the dataset, each with its own verdict.")]
    explained_by: list[str]
    text: Annotated[str | None, Field(description="The verdict for people.")]


class ReplicationPage(Answer):
    items: list[ReplicationSummary]
    next: Annotated[str | None, Field(description="Give it as `after` to get the next page; null on the last one.")]


class TriedVariant(Answer):
    pitfalls: list[str]
    words: str
    expected: Annotated[float, Field(description="Its number on all samples, by what is known so far.")]
    deviation: Annotated[float, Field(description="How far that may be off; 0 once it has seen all samples.")]
    gained: Annotated[
        int,
        Field(description="Samples that it has right and the manifest as it is has wrong, or that it answers better."),
    ]
    lost: int
    out: Annotated[bool, Field(description="Whether it cannot be the cause.")]
    why: Annotated[str | None, Field(description="Why it is out.")]


class TriedRound(Answer):
    samples: Annotated[int, Field(description="Samples that these have seen by then.")]
    variants: list[TriedVariant]


class Replication(ReplicationSummary):
    goal: Annotated[Goal | None, Field(description="What the search looks for, once it has begun.")]
    tried: Annotated[list[TriedRound], Field(description="The search, round by round, while it goes on, too.")]
    finding: Annotated[Finding | None, Field(description="When it has finished.")]


class FlipPage(Answer):
    items: list[Flip]
    total: int
