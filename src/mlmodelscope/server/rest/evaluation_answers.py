"""Requests and evaluations as the API answers them: which agents fit, what is known already, how far it is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from mlmodelscope.ledger.request import Failure
from mlmodelscope.server.rest.answers import Answer, example
from mlmodelscope.server.rest.record_answers import HEADLINE, Headline

EvaluationKind = Literal["evaluate", "bench", "profile", "train", "replicate", "sensitivity", "shard", "join"]
EvaluationState = Literal["waiting", "running", "finished", "failed", "cancelled"]


class Obstacle(Answer):
    """A constraint that some agents do not meet."""

    constraint: str
    agents: Annotated[int, Field(description="How many do not meet it.")]
    would_match: Annotated[int, Field(description="How many match everything else.")]
    example: Annotated[str, Field(description="Why, in the words of one of them.")]


class Earlier(Answer):
    """A finished record that answers a request already, or nearly."""

    model_config = example(
        record="20260131-101502-3f9a2b",
        exact=False,
        differs=["batch_size: 1 there, 8 is asked for"],
        finished_at="2026-01-31T10:41:40Z",
        model="resnet50@1.0.0",
        dataset="imagenet@1.0.0",
        stack="current",
        cpu="Intel Xeon",
        samples=50000,
        headline=HEADLINE,
        top1=0.7601,
        latency_s=0.021,
    )
    record: str
    exact: Annotated[bool, Field(description="Whether it is what would be made, as far as the request says.")]
    differs: Annotated[list[str], Field(description="In what it is another one.")]
    finished_at: datetime | None
    model: str
    dataset: str
    stack: str
    cpu: str
    samples: int
    headline: Annotated[Headline | None, Field(description="The first number of its task, where it has one.")]
    top1: Annotated[float | None, Field(deprecated=True, description="Older name of `headline` of a classification.")]
    latency_s: Annotated[float | None, Field(description="Of a batch, at the median.")]


class Resolution(Answer):
    """Which agents fit, or what stands in the way."""

    model_config = example(
        matching=[],
        agents=2,
        obstacles=[
            {
                "constraint": "interconnect",
                "agents": 2,
                "would_match": 2,
                "example": "nvlink is asked for, it is pcie",
            }
        ],
        refusals={"lab-1": ["interconnect: nvlink is asked for, it is pcie"]},
        text="none of 2 agents fits\ninterconnect: no agent meets it; 2 agents would match without it",
    )
    matching: Annotated[list[str], Field(description="Ids of the agents that fit.")]
    agents: Annotated[int, Field(description="How many agents there are.")]
    obstacles: list[Obstacle]
    refusals: Annotated[dict[str, list[str]], Field(description="Every reason, by agent.")]
    text: Annotated[str, Field(description="All of that for people.")]
    earlier: Annotated[list[Earlier], Field(description="Records that answer it already, the nearest first.")] = []


class Progress(Answer):
    model_config = ConfigDict(frozen=True, extra="allow")
    done: float
    of: float | None = None
    failed: int | None = None
    parts: Annotated[bool | None, Field(description="Whether parts are counted, not samples.")] = None


class Evaluation(Answer):
    model_config = example(
        id="e20260131-101500-3f9a",
        request="r20260131-101500-77c1",
        owner="ada",
        kind="evaluate",
        model="resnet50",
        dataset="imagenet",
        state="running",
        priority=5,
        agent="lab-1",
        attempt=1,
        record=None,
        created_at="2026-01-31T10:15:00Z",
        started_at="2026-01-31T10:15:02Z",
        ended_at=None,
        took_s=None,
        headline=None,
        cancelling=False,
        progress={"done": 1200, "of": 50000, "failed": 0},
        error=None,
    )
    id: str
    request: Annotated[str, Field(description="The request that it belongs to.")]
    owner: str
    kind: EvaluationKind
    model: str
    dataset: str
    state: EvaluationState
    priority: int
    agent: Annotated[str | None, Field(description="Who has it.")]
    attempt: Annotated[int, Field(description="How often it has been begun.")]
    record: Annotated[str | None, Field(description="What came of it.")]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    took_s: Annotated[float | None, Field(description="From its start to its end.")]
    headline: Annotated[Headline | None, Field(description="The first number of its record, in lists.")]
    cancelling: bool
    progress: Progress | None
    error: Failure | None


class EvaluationPage(Answer):
    items: list[Evaluation]
    next: Annotated[str | None, Field(description="Give it as `after` to get the next page; null on the last one.")]


class Accepted(Answer):
    id: Annotated[str, Field(description="Of the request.")]
    evaluations: list[Evaluation]
    earlier: Annotated[list[Earlier], Field(description="Records that answer it already, the nearest first.")] = []
