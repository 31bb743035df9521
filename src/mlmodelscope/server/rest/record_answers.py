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
        task="classification",
        split=None,
        framework="onnxruntime 1.23.0",
        machine="AMD EPYC 9354",
        latency_s=0.0213,
        samples_per_s=None,
        took_s=1598.2,
        subset=None,
        owner="ada",
        pinned_by="ada",
        tags=["paper"],
        notes=1,
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
    task: str | None = None
    split: Annotated[str | None, Field(description="Which split of the dataset it is of.")] = None
    framework: Annotated[str | None, Field(description="With its release, and settings that are not as usual.")] = None
    machine: str | None = None
    latency_s: Annotated[float | None, Field(description="Of a call, at the median.")] = None
    samples_per_s: Annotated[float | None, Field(description="Of a bench.")] = None
    took_s: Annotated[float | None, Field(description="How long the samples took.")] = None
    subset: Annotated[str | None, Field(description="Which part of the dataset; null where it is all samples.")] = None
    owner: Annotated[str, Field(description="Who requested it; `local` is the server's operator.")]
    pinned_by: Annotated[str | None, Field(description="Who pinned it, so that retention keeps it.")] = None
    tags: list[str] = []
    notes: Annotated[int, Field(description="How many people wrote.")] = 0
    headline: Annotated[Headline | None, Field(description="The first number of its task, where it has one.")]
    top1: Annotated[float | None, Field(deprecated=True, description="Older name of `headline` of a classification.")]
    top1_low: Annotated[float | None, Field(deprecated=True)]
    top1_high: Annotated[float | None, Field(deprecated=True)]


class RecordList(Answer):
    items: list[RecordSummary]
    total: Annotated[int, Field(description="How many records match, on all pages.")]
    next: Annotated[int | None, Field(description="The `start` of the next page; null on the last one.")]


class RecordChoices(Answer):
    """Values that records have, the most frequent first: at most 100 of each."""

    model_config = example(
        kind=["evaluation"],
        task=["classification"],
        dataset=["imagenet"],
        stack=["current"],
        machine=["AMD EPYC 9354"],
        tag=["paper"],
    )
    kind: list[str]
    task: list[str]
    dataset: list[str]
    stack: list[str]
    machine: list[str]
    tag: list[str]


class Tag(Answer):
    tag: str
    owner: str
    at: datetime


class Note(Answer):
    id: str
    owner: str
    at: datetime
    text: str


class Remarks(Answer):
    """What people wrote about a record; the record itself never changes."""

    model_config = example(
        record="20260131-101502-3f9a",
        pinned_by=None,
        tags=[{"tag": "paper", "owner": "ada", "at": "2026-01-31T11:00:00Z"}],
        notes=[{"id": "n20260131-110000-77c1", "owner": "ada", "at": "2026-01-31T11:00:00Z", "text": "as published"}],
    )
    record: str
    pinned_by: str | None
    tags: list[Tag]
    notes: list[Note]


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
