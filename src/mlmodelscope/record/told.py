"""What an overview needs of a record. The rest, such as a thousand class names, is passed over while it is read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.machine import Machine
from mlmodelscope.record.upgrade import upgraded
from mlmodelscope.types import Interval


class _Part(BaseModel):
    """Names are those of the record's own parts."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ToldNumber(_Part):
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = "share"
    better: Literal["higher", "lower"] = "higher"


class ToldLatency(_Part):
    batch_size: int
    raw_ns: tuple[int, ...]
    trimmed_mean_s: float
    p90_s: Interval


class ToldRun(_Part):
    batch_size: int
    samples_per_s: float


class ToldLoad(ToldRun):
    queries: int
    trimmed_mean_s: float
    percentiles_s: Mapping[str, Interval]


class ToldSweep(_Part):
    optimal_batch: int


class ToldStability(_Part):
    verdict: Literal["stable", "unstable"]


class ToldBench(_Part):
    scenario: str
    end_to_end: bool = False
    measured: ToldLoad | None = None
    runs: tuple[ToldRun, ...] = ()
    sweep: ToldSweep | None = None
    loadgen: Any = None
    stability: ToldStability


class Told(_Part):
    schema_version: Literal[2] = 2
    id: str
    status: Literal["running", "finished"]
    created_at: datetime
    plan: Plan
    machine: Machine
    samples: int = 0
    failed: int = 0
    metrics: dict[str, ToldNumber] = {}
    latency: ToldLatency | None = None
    training: Any = None
    profile: Any = None
    bench: ToldBench | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, data: Any) -> Any:
        return upgraded(data) if isinstance(data, dict) else data
