"""Leaderboards as the API answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

_BOARD = {
    "id": "3f9a2b77c1d0",
    "dataset": "imagenet",
    "version": "1.0.0",
    "split": "validation",
    "task": "classification",
    "metric": "top1",
    "title": "top-1",
    "better": "higher",
    "subset": None,
    "models": 2,
    "records": 3,
    "newest": "2026-01-31T10:15:02Z",
}


class Board(Answer):
    """A table whose numbers may be compared: one metric over the same samples of one dataset."""

    model_config = example(**_BOARD)
    id: str
    dataset: str
    version: str
    split: str | None
    task: str
    metric: str
    title: str
    better: Literal["higher", "lower"]
    subset: Annotated[str | None, Field(description="Which part of the dataset; null where it is all samples.")]
    models: int
    records: int
    newest: datetime


class BoardList(Answer):
    items: list[Board]


class BoardClaim(Answer):
    """A number that was published about this metric on this very dataset."""

    key: Annotated[str, Field(description="As in `/published-claims/KEY/checks`.")]
    value: Annotated[float, Field(description="In the measured number's unit.")]
    published: Annotated[str, Field(description="As it was published.")]
    status: Annotated[str, Field(description="What all checks of it come to.")]
    source: str | None
    conditions: str | None


class BoardPlace(Answer):
    model_config = example(
        rank=1,
        ties_first=True,
        record="20260131-101502-3f9a",
        model="resnet50",
        model_version="1.0.0",
        framework="onnxruntime 1.23.0",
        stack="current",
        machine="AMD EPYC 9354",
        value=0.7601,
        low=0.7563,
        high=0.7638,
        unit="share",
        samples=50000,
        failed=0,
        created_at="2026-01-31T10:15:02Z",
        latency_s=0.0213,
        claims=[],
    )
    rank: Annotated[int, Field(description="Equal numbers share one.")]
    ties_first: Annotated[bool, Field(description="Whether its interval and that of the first overlap.")]
    record: Annotated[str, Field(description="The record with the most answers, and of those the newest.")]
    model: str
    model_version: str
    framework: str | None
    stack: str | None
    machine: str | None
    value: float
    low: float | None
    high: float | None
    unit: str
    samples: int
    failed: int
    created_at: datetime
    latency_s: float | None
    claims: list[BoardClaim]


class Leaderboard(Answer):
    model_config = example(dataset="imagenet", boards=[_BOARD], board=_BOARD, items=[], total=2, next=None)
    dataset: str
    boards: Annotated[list[Board], Field(description="All tables of the dataset, those over all samples first.")]
    board: Annotated[Board | None, Field(description="The one that `items` are of; null where there are no results.")]
    items: list[BoardPlace]
    total: Annotated[int, Field(description="Rows on all pages.")]
    next: Annotated[int | None, Field(description="The `start` of the next page; null on the last one.")]
