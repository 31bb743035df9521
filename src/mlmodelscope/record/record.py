"""A record: what happened, for good. Complete enough to explain a number and to run it again."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.machine import Machine
from mlmodelscope.provision.setting import Setting
from mlmodelscope.record.bench import BenchRecord
from mlmodelscope.record.number import MeasuredNumber, Part
from mlmodelscope.record.shown import as_html
from mlmodelscope.record.spelling import significant
from mlmodelscope.record.upgrade import upgraded
from mlmodelscope.types import Interval

MadeFor = Literal["replicate", "sensitivity", "study"]


class Failure(Part):
    sample: str
    reason: str


class LatencyRecord(Part):
    """The framework call alone, one query after the other, nothing else running."""

    batch_size: int
    raw_ns: tuple[int, ...] = Field(description="Every call's duration, in order.")
    warm_up_ns: tuple[int, ...] = Field(description="The calls before, which do not count.")
    p50_s: Interval
    p90_s: Interval
    p99_s: Interval
    mean_s: float
    trimmed_mean_s: float = Field(description="Without the lowest and highest 20 %, as in the papers.")
    parts_ns: dict[str, tuple[int, ...]] = Field(
        default={},
        description="What a call on a device is made of, measured in further calls that wait between the parts.",
    )


class BatchingRecord(Part):
    """Whether a language model finds a text as likely by itself as among others, tried once with the first batch."""

    apart: float = Field(description="How far the logarithms of a token's probabilities lay apart, at most.")
    tolerance: float = Field(description="How far they may.")


class BuildRecord(Part):
    """How a library was built, as far as it tells; each text is the library's own."""

    version: str | None = None
    compiler: str | None = None
    flags: str | None = Field(default=None, description="What it was compiled with.")
    blas: str | None = Field(default=None, description="Linear algebra that it calculates with.")
    onednn: str | None = None
    openmp: str | None = None
    cuda: str | None = None
    cudnn: str | None = None
    instruction_sets: tuple[str, ...] = Field(default=(), description="Those that all of its code needs.")
    dispatched: tuple[str, ...] = Field(default=(), description="Those that it has further code for.")
    used: str | None = Field(default=None, description="Those that it runs with on this machine, as it was set.")
    options: tuple[str, ...] = Field(default=(), description="What else it tells: providers, features, settings.")


class StackRecord(Part):
    python: str
    implementation: str
    architecture: str
    packages: dict[str, str] = Field(description="Every package of the stack.")
    builds: dict[str, BuildRecord] = Field(
        default={},
        description="How the framework, NumPy and OpenCV were built; `process` is what the worker has loaded.",
    )

    @model_serializer(mode="wrap")
    def _leave_out_builds(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """A record from before builds were read is written as it was."""
        written = write(self)
        if not self.builds:
            written.pop("builds", None)
        for build in written.get("builds", {}).values():
            for name in [name for name, value in build.items() if value in (None, (), [])]:
                del build[name]
        return written


class ServerRecord(Part):
    """The server that answered, in its own words."""

    address: str
    name: str | None = None
    version: str | None = None
    model: str = Field(description="What the model is called there.")
    model_versions: tuple[str, ...] = ()
    platform: str | None = Field(default=None, description="What runs the model there.")
    files: dict[str, str] = Field(default={}, description="sha256 of each file handed over, by its name there.")


class CurvePoint(Part):
    """How good a training was at one moment."""

    progress: float = Field(description="Share of the training that was done.")
    wall_s: float = Field(description="Seconds since it started.")
    metrics: dict[str, float]
    step: int | None = Field(default=None, description="Steps that were made, where the loop is ours.")
    epoch: float | None = Field(default=None, description="Epochs that were seen.")
    samples: int | None = Field(default=None, description="Samples that were trained on, repetitions counted.")

    @model_serializer(mode="wrap")
    def _leave_out_the_loop(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """A point of a training that is a function of its own is written as it was before there were others."""
        return {name: value for name, value in write(self).items() if value is not None}


class TrainedFile(Part):
    """A file that a training made, kept in the record's folder under `artifacts`."""

    name: str
    sha256: str
    size_bytes: int


class TargetRecord(Part):
    """How soon a training was good enough, counted as MLPerf Training does: from the first sample on, evaluations
    included."""

    metrics: dict[str, float] = Field(description="What had to be reached.")
    reached: bool
    step: int | None = None
    epoch: float | None = None
    samples: int | None = None
    wall_s: float | None = Field(default=None, description="Time to reach it.")


class LoopRecord(Part):
    """A training whose loop is ours: how far it came, and where its time went."""

    step: int = Field(description="Steps that were made.")
    steps: int = Field(description="Steps that were planned.")
    per_epoch: int = Field(description="Steps of an epoch.")
    samples: int = Field(description="Samples that were trained on, repetitions counted.")
    training_samples: int = Field(description="Samples of the training data.")
    resumed: int = Field(description="How often it was resumed from a checkpoint.")
    wall_s: float = Field(description="From the first sample on, all attempts together; what a kill undid not counted.")
    step_s: float = Field(description="In training steps.")
    wait_s: float = Field(description="Waiting for batches.")
    evaluation_s: float = Field(description="In evaluations.")
    checkpoint_s: float = Field(description="Writing checkpoints.")
    target: TargetRecord | None = None
    energy_j: dict[str, float] = Field(default={}, description="Joules by meter.")
    no_energy: str | None = Field(default=None, description="Why no energy was measured.")

    @property
    def samples_per_s(self) -> float | None:
        """Throughput of the training alone: steps, and the waiting for their batches."""
        spent = self.step_s + self.wait_s
        return self.samples / spent if spent > 0 else None


class TrainingRecord(Part):
    curve: tuple[CurvePoint, ...] = ()
    artifacts: tuple[TrainedFile, ...] = ()
    metrics: dict[str, float] = Field(default={}, description="What the last stage returned, where it is numbers.")
    result: Any = Field(default=None, description="What the last stage returned.")
    reference: str | None = Field(default=None, description="Reference log that it was compared with.")
    stopped: str | None = Field(default=None, description="Why it was stopped early.")
    wall_s: float | None = None
    loop: LoopRecord | None = Field(default=None, description="How the loop went, where it is ours.")

    @model_serializer(mode="wrap")
    def _leave_out_the_loop(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """A training that is a function of its own is written as it was before there were others."""
        written = write(self)
        if self.loop is None:
            written.pop("loop", None)
        return written


class LevelCost(Part):
    """Profiling overhead: the same spans without a level and with it."""

    level: str
    compared: str = Field(description="Name of the spans that are compared.")
    without_ns: int
    with_ns: int
    low: float | None = Field(default=None, description="Lower end of the 95 % interval of the share, where known.")
    high: float | None = Field(default=None, description="Upper end of that interval.")


class ProfileRecord(Part):
    """That a trace was taken; its spans are in the record's folder."""

    level: str = Field(description="The level that was asked for.")
    levels: tuple[str, ...] = Field(description="The levels that have spans.")
    runs: int = Field(description="Batches that were traced, at each level.")
    cold: bool = Field(default=False, description="Whether each was the first call of a fresh process.")
    spans: int
    run_ns: float | None = Field(default=None, description="The framework call in those batches, at the median.")
    layers_ns: float | None = Field(default=None, description="Sum of the layers of a run, at the median.")
    overheads: tuple[LevelCost, ...] = ()


class Record(Part):
    schema_version: Literal[2] = 2
    id: str
    status: Literal["running", "finished"]
    created_at: Annotated[datetime, Field(description="UTC.")]
    finished_at: Annotated[datetime | None, Field(description="UTC.")] = None
    plan_digest: str
    plan: Plan
    machine: Machine
    worker_version: str
    worker_digest: str = Field(description="Digest of the worker's source.")
    stack: StackRecord | None = None
    server: ServerRecord | None = Field(default=None, description="The server that answered, where one did.")
    class_names: tuple[str, ...] = Field(default=(), description="Names by class number, for people.")
    samples: int = Field(default=0, description="Samples of the evaluation, failed ones included.")
    failed: int = 0
    failures: tuple[Failure, ...] = Field(
        default=(), description="The first failed samples; all are in the samples table."
    )
    metrics: dict[str, MeasuredNumber] = Field(default={}, description="Every number that was measured, by its name.")
    details: dict[str, Any] = Field(
        default={}, description="What one number cannot tell, in the form of the task: per class, confusion, ties, …"
    )
    refused: dict[str, str] = Field(
        default={}, description="Why a number or a detail could not be computed, by its name."
    )
    latency: LatencyRecord | None = None
    batching: BatchingRecord | None = Field(
        default=None, description="For a language model: whether likelihoods depend on the batch."
    )
    load_s: float | None = Field(default=None, description="Seconds to load the model.")
    wall_s: float | None = Field(default=None, description="Seconds that the samples took, all attempts together.")
    setup_output: str | None = Field(default=None, description="What the hardware manifest's setup commands printed.")
    settings: tuple[Setting, ...] = Field(
        default=(),
        description="How the hardware manifest had the machine set meanwhile; `machine` is as it was before.",
    )
    training: TrainingRecord | None = Field(default=None, description="For a training: how it went and what it made.")
    profile: ProfileRecord | None = Field(default=None, description="For a profile: what was traced.")
    bench: BenchRecord | None = Field(default=None, description="For a bench: how fast it was under load.")
    ruler: dict[str, str] | None = Field(
        default=None,
        description="Versions of what the numbers were computed with, where that was a process of its own.",
    )
    attempts: int = Field(default=1, description="How often the evaluation was started until it was done.")
    notes: tuple[str, ...] = Field(default=(), description="What a reader should know before believing the numbers.")
    made_for: MadeFor | None = Field(
        default=None,
        description="The command that needed the record on its way; absent where the record itself was asked for.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, data: Any) -> Any:
        return upgraded(data) if isinstance(data, dict) else data

    # Without a return type: pydantic would take it for the schema that the API publishes.
    @model_serializer(mode="wrap")
    def _leave_out_made_for(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """A record that was asked for is written as it was before there were others."""
        written = write(self)
        if self.made_for is None:
            written.pop("made_for", None)
        for name in ("ruler", "batching"):
            if getattr(self, name) is None:
                written.pop(name, None)
        return written

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        plan = self.plan
        facts = {"samples": f"{self.samples:,}" + (f", {self.failed:,} failed" if self.failed else "")}
        if self.latency is not None:
            p50 = self.latency.p50_s
            range_ms = f"95 % between {significant(1e3 * p50.low)} and {significant(1e3 * p50.high)} ms"
            facts["latency"] = (
                f"{significant(1e3 * p50.value)} ms at the median ({range_ms}), batch {self.latency.batch_size}"
            )
        if self.status != "finished":
            facts["status"] = "not finished"
        facts |= {"measured": f"{self.created_at:%Y-%m-%d %H:%M} UTC", "record": self.id}
        heading = f"{plan.model.reference} on {plan.dataset.reference}"
        return as_html(heading, self.metrics, facts, self.notes)


def new_record_id(now: datetime | None = None) -> str:
    """Sorts by time, can be typed."""
    return f"{(now or datetime.now(UTC)):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
