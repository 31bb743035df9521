"""What the API answers, described: programs that are made from openapi.json know every field by its name and type."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.ledger.request import Failure, Work

ManifestKind = Literal["model", "dataset", "software", "hardware", "log"]
EvaluationKind = Literal["evaluate", "bench", "profile", "train", "replicate", "sensitivity", "shard", "join"]
EvaluationState = Literal["waiting", "running", "finished", "failed", "cancelled"]
Scope = Literal["read", "run", "agent", "trust", "admin"]


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


def example(**values: Any) -> ConfigDict:
    """One that a reader of the API sees."""
    return ConfigDict(frozen=True, json_schema_extra={"examples": [values]})


class Health(Answer):
    model_config = example(status="up", version="0.1.0")
    status: Literal["up"]
    version: str


class Ready(Answer):
    status: Literal["ready"]


class Fault(Answer):
    """One thing that is wrong, and where."""

    model_config = ConfigDict(frozen=True, extra="allow")
    path: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    known: list[str] = []
    hint: str | None = None


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
    top1: float | None
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


class Problem(Answer):
    """What went wrong (RFC 9457), sent as application/problem+json."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:mlmodelscope:UsageError",
                    "title": "UsageError",
                    "status": 404,
                    "detail": "there is no evaluation `e1`",
                    "request_id": "5f1d7a84c9e04b6e",
                }
            ]
        },
    )
    type: str
    title: Annotated[str, Field(description="The kind of error: the same for the same reason.")]
    status: int
    detail: Annotated[str, Field(description="What is wrong, for people.")]
    hint: Annotated[str | None, Field(description="What to do about it.")] = None
    request_id: Annotated[str | None, Field(description="By which the server's log knows this question.")] = None
    scope: Annotated[str | None, Field(description="What the token would have to have.")] = None
    problems: list[Fault] | None = None
    resolution: Resolution | None = None


class Somebody(Answer):
    model_config = example(owner="ada", scopes=["read", "run"])
    owner: str
    scopes: list[Scope]


class ManifestSummary(Answer):
    model_config = example(
        kind="model",
        name="resnet50",
        version="1.0.0",
        digest="0" * 64,
        owner=None,
        shipped=True,
        created_at=None,
        description="Deep residual network with 50 layers.",
        task="classification",
        framework="onnxruntime",
    )
    kind: ManifestKind
    name: str
    version: str
    digest: Annotated[str, Field(description="sha256 of what it says.")]
    owner: Annotated[str | None, Field(description="Who put it here; nobody where it comes with the package.")]
    shipped: Annotated[bool, Field(description="Whether it comes with the package or from the server's own folders.")]
    created_at: datetime | None
    description: str | None = None
    task: str | None = None
    framework: str | None = None


class Manifest(ManifestSummary):
    text: Annotated[str, Field(description="As its author wrote it.")]
    manifest: Annotated[dict[str, Any], Field(description="As it is understood; see `mlmodelscope schema`.")]


class ManifestList(Answer):
    items: list[ManifestSummary]


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


class RecordSummary(Answer):
    model_config = example(
        id="20260131-101502-3f9a",
        status="finished",
        kind="evaluation",
        scenario=None,
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


class Agent(Answer):
    id: str
    state: Literal["there", "draining", "gone"]
    joined_at: datetime
    seen_at: datetime
    description: AgentDescription


class AgentList(Answer):
    items: list[Agent]


class Token(Answer):
    model_config = example(
        id="t20260131-101500-3f9a",
        name="laboratory",
        owner="lab",
        scopes=["agent", "read"],
        created_at="2026-01-31T10:15:00Z",
        expires_at=None,
        used_at=None,
    )
    id: str
    name: str
    owner: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


class TokenList(Answer):
    items: list[Token]


class NewToken(Answer):
    model_config = example(id="t20260131-101500-3f9a", token="mlms_…")
    id: str
    token: Annotated[str, Field(description="Shown this once; only its hash is kept.")]


class AuditEntry(Answer):
    model_config = example(number=7, at="2026-01-31T10:15:00Z", owner="root", what="make token", about="t2026…")
    number: int
    at: datetime
    owner: str
    what: str
    about: str


class AuditPage(Answer):
    items: list[AuditEntry]


class Joined(Answer):
    lease_s: Annotated[float, Field(description="Seconds for which it is believed to be there without a heartbeat.")]


class Beat(Answer):
    gone: Annotated[list[str], Field(description="Evaluations that are not its own any more.")]
    cancel: Annotated[list[str], Field(description="Evaluations that it is to end.")]
    draining: Annotated[bool, Field(description="Whether it is to take nothing more.")]


class Assigned(Answer):
    id: str
    attempt: int
    work: Work
    timeout_s: int | None


class Taken(Answer):
    evaluations: list[Assigned]


class Kept(Answer):
    record: str
