"""Records and their samples as the API answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example


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
    top1: Annotated[float | None, Field(description="A share; with the ends of its interval.")]
    top1_low: float | None
    top1_high: float | None


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


class SamplePage(Answer):
    items: list[Sample]
    total: int
