"""What each kind of work may be told beside its manifests and options."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Name = Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@^~<>=-]*$")]


class EvaluateArguments(Part):
    pass


class BenchArguments(Part):
    scenario: Literal["single-stream", "multi-stream", "server", "offline", "cold-start", "sweep", "max-rate"] = (
        "single-stream"
    )
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 20.0
    queries: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    processes: Annotated[int, Field(ge=1, le=100)] = 2
    rate_qps: Annotated[float | None, Field(gt=0, le=1e9)] = None
    bound_s: Annotated[float | None, Field(gt=0, le=3600)] = None
    percentile: Annotated[float, Field(gt=0, lt=1)] = 0.99
    first_s: Annotated[
        float | None, Field(gt=0, le=3600, description="What a language model's first token may take.")
    ] = None
    each_s: Annotated[float | None, Field(gt=0, le=3600, description="What each further token may take.")] = None
    mlperf: Annotated[
        str | None, Field(max_length=100, description="The benchmark of MLPerf whose limits of both hold.")
    ] = None
    most_batch: Annotated[int, Field(ge=1, le=1 << 20)] = 1024
    cold_starts: Annotated[int, Field(ge=1, le=1000)] = 5
    streams: Annotated[int | None, Field(ge=1, le=10_000)] = None
    end_to_end: bool = False


class ProfileArguments(Part):
    level: Literal["application", "model", "framework", "library", "hardware"] = "framework"
    runs: Annotated[int, Field(ge=1, le=10_000)] = 10
    cold: bool = False
    traceparent: Annotated[
        str | None, Field(max_length=1000, description="The caller's trace, by W3C's Trace Context.")
    ] = None


class ReplicateArguments(Part):
    claim: Annotated[str | None, Field(max_length=200, examples=["top1=75.0"])] = None
    within: Annotated[float | None, Field(gt=0, lt=1)] = None
    explain: bool = True
    stacks: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    budget: Annotated[float | None, Field(gt=0, le=1000)] = None


class SensitivityArguments(Part):
    pitfalls: Annotated[tuple[Name, ...], Field(max_length=100, description="Only these; none: all.")] = ()
    exact: Annotated[bool, Field(description="Every variant on every sample.")] = False
    budget: Annotated[float | None, Field(gt=0, le=1000, description="Evaluations of all samples, at most.")] = None


ARGUMENTS: dict[str, type[Part]] = {
    "evaluate": EvaluateArguments,
    "bench": BenchArguments,
    "profile": ProfileArguments,
    "train": EvaluateArguments,
    "replicate": ReplicateArguments,
    "sensitivity": SensitivityArguments,
}
