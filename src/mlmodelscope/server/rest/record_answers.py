"""Records and their samples as the API answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

HEADLINE = {
    "name": "top1",
    "title": "top-1",
    "value": 0.7601,
    "low": 0.7563,
    "high": 0.7638,
    "unit": "share",
    "better": "higher",
}
"""An example."""


class Headline(Answer):
    """The number that stands for a record in a list."""

    name: Annotated[str, Field(description="Of the metric, as claims and `metrics` have it.")]
    title: Annotated[str, Field(description="What people call it.")]
    value: float
    low: Annotated[float | None, Field(description="Lower end of its interval, where it has one.")]
    high: float | None
    unit: Annotated[str, Field(description="`share` is a number between 0 and 1; `dB`, `number`.")]
    better: Literal["higher", "lower"]


class RecordSummary(Answer):
    model_config = example(
        id="20260131-101502-3f9a",
        status="finished",
        kind="evaluation",
        scenario=None,
        made_for=None,
        plan_digest="0" * 64,
        model="resnet50",
        model_version="1.0.0",
        dataset="imagenet",
        dataset_version="1.0.0",
        created_at="2026-01-31T10:15:02Z",
        finished_at="2026-01-31T10:41:40Z",
        samples=50000,
        failed=0,
        stack="onnxruntime-1.31",
        headline=HEADLINE,
        top1=0.7601,
        top1_low=0.7563,
        top1_high=0.7638,
    )
    id: str
    status: Literal["running", "interrupted", "finished"]
    kind: Literal["evaluation", "training", "profile", "bench"]
    scenario: Annotated[str | None, Field(description="Of a bench.")]
    made_for: Annotated[
        Literal["replicate", "sensitivity", "study"] | None,
        Field(description="What needed the record on its way; overviews and `latest` leave such a record out."),
    ]
    plan_digest: str
    model: str
    model_version: str
    dataset: str
    dataset_version: str
    created_at: datetime
    finished_at: datetime | None
    samples: int
    failed: int
    stack: Annotated[str | None, Field(description="What it ran in; `current` is the Python of the agent.")] = None
    headline: Annotated[Headline | None, Field(description="The first number of its task, where it has one.")]
    top1: Annotated[float | None, Field(deprecated=True, description="Older name of `headline` of a classification.")]
    top1_low: Annotated[float | None, Field(deprecated=True)]
    top1_high: Annotated[float | None, Field(deprecated=True)]


class RecordList(Answer):
    items: list[RecordSummary]


class Sample(Answer):
    """What a model said of one sample."""

    id: str
    digest: str | None = None
    label: int | None = None
    classes: list[int] | None = None
    scores: list[float | None] | None = None
    right: bool | None = None
    error: str | None = None
    answer: Annotated[str | None, Field(description="As JSON, where it is no list of classes.")] = None
    run_ns: Annotated[
        int | None, Field(description="How long the call took that answered it, its whole batch together.")
    ] = None
    quality: Annotated[float | None, Field(description="From 0 to 1, where its task can tell.")] = None
    truth: Annotated[str | None, Field(description="What is in it, in a few words, where it has no label.")] = None
    said: Annotated[str | None, Field(description="What was answered, in a few words, where that is shapes.")] = None


class SamplePage(Answer):
    items: list[Sample]
    total: int
    offers: Annotated[
        list[Literal["right", "score", "quality"]],
        Field(description="What the samples of this record can be filtered and sorted by."),
    ]
