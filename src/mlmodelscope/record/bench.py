"""What a bench found: numbers for each run of load, and whether the machine was quiet enough to believe them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.provision.machine.noise import Noise
from mlmodelscope.types import Interval

RANDOM = "random"
"""The name in the place of a dataset's, where random tensors were the samples."""


What = Literal["time to first token", "time per output token"]
FIRST: What = "time to first token"
EACH: What = "time per output token"


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TokenRecord(Part):
    """What a language model read and wrote in a run of load."""

    texts: int
    read: int | None = Field(description="Tokens of the questions; none where a server makes them out of sight.")
    written: int = Field(description="Tokens of the answers, those that end one included.")
    read_per_s: float | None = None
    written_per_s: float
    first_s: dict[str, Interval] = Field(
        default={}, description="Time to first token, from when the query was due, by percentile."
    )
    first_refused: dict[str, str] = Field(default={}, description="Percentiles of it that so few texts cannot tell.")
    first_mean_s: float | None = None
    each_s: dict[str, Interval] = Field(
        default={}, description="Time per output token of a text, the first one left out, by percentile."
    )
    each_refused: dict[str, str] = {}
    each_mean_s: float | None = None
    energy_j_per_token: dict[str, float] = Field(
        default={}, description="By meter, for each token written, or read where none was written."
    )


class Bound(Part):
    """How long something may take at a percentile, and whether it did."""

    what: What
    percentile: float
    bound_s: float
    source: str = Field(description="Who says so.")
    rule: str | None = Field(default=None, description="The name of MLPerf's rule, where it is one of theirs.")
    found: Interval | None = Field(default=None, description="What was measured; none where it cannot be told.")
    because: str | None = Field(default=None, description="Why it cannot be told.")
    verdict: Literal["met", "not met", "undecided"] = Field(
        description="Undecided where the interval holds the bound, or there is none."
    )


class LoadRecord(Part):
    """One run of load. Its queries are in the record's folder, under the same number."""

    scenario: str
    process: int = Field(default=0, description="Which fresh process it ran in, counted from 0.")
    batch_size: int = Field(description="Samples in a call of the framework.")
    samples_per_query: int
    lanes: int = Field(default=1, description="Calls that may run side by side.")
    rate_qps: float | None = Field(default=None, description="Queries that arrived in a second, on average.")
    seed: int | None = Field(default=None, description="Seed of the arrivals.")
    queries: int
    unanswered: int = Field(default=0, description="Queries that were due and never begun: the load was too high.")
    duration_s: float
    samples_per_s: float
    percentiles_s: dict[str, Interval] = Field(description="Latency from when a query was due, by percentile.")
    refused: dict[str, str] = Field(default={}, description="Percentiles that so few queries cannot tell.")
    mean_s: float
    trimmed_mean_s: float = Field(description="Without the lowest and highest 20 %, as in the papers.")
    cpu_s_per_sample: float | None = Field(default=None, description="Processor time of all threads of the worker.")
    peak_memory_bytes: int | None = Field(default=None, description="Most memory that the worker ever had.")
    energy_j_per_sample: dict[str, float] = Field(default={}, description="By meter, where the machine has one.")
    queue_most: int | None = Field(default=None, description="Most queries that waited at the same time.")
    tokens: TokenRecord | None = Field(default=None, description="For a language model: what it read and wrote.")
    late_p99_s: float | None = Field(
        default=None, description="How late queries were issued for which a lane was waiting, at the 99th percentile."
    )


class SelfTest(Part):
    """The same measured twice: what differs can only be noise."""

    what: str = Field(description="What was measured twice.")
    ratio: Interval = Field(description="Of the second's median to the first's.")


class Outliers(Part):
    share: float = Field(description="Share of the queries that took more than `times` the median.")
    times: float


class Stability(Part):
    """Whether the numbers can be believed, and if not, why not."""

    verdict: Literal["stable", "unstable"]
    because: tuple[str, ...] = Field(default=(), description="Why it was unstable, each reason with its numbers.")
    noise: tuple[Noise, ...] = Field(default=(), description="The machine meanwhile, for each process.")
    halves: SelfTest | None = Field(default=None, description="The second half of the queries against the first.")
    processes: SelfTest | None = Field(default=None, description="One fresh process against another.")
    outliers: Outliers | None = None

    def __str__(self) -> str:
        return self.verdict if not self.because else f"{self.verdict}, because {'; '.join(self.because)}"


class ColdStart(Part):
    """One fresh process, from nothing to its first answers."""

    start_s: float = Field(description="Start the process and connect to it.")
    load_s: float = Field(description="Import the framework and load the model.")
    first_s: float = Field(description="The first call.")
    second_s: float | None = Field(default=None, description="The second call.")
    steady_s: float | None = Field(default=None, description="The median of the last calls.")


class SweepRecord(Part):
    """Throughput over batch sizes; each size is a run of the record."""

    optimal_batch: int = Field(description="The first size at which doubling gains no more than `gain`.")
    gain: float = Field(description="The smallest gain that counts: 0.05 in the XSP paper.")
    ended: str = Field(description="Why no larger size was tried.")


class RateRecord(Part):
    """The most queries in a second whose latency stays below a bound."""

    bound_s: float | None = Field(
        default=None, description="Of a whole answer; none where only tokens are bounded, which `bounds` have."
    )
    percentile: float
    rate_qps: float | None = Field(description="The highest rate that passed, twice; none where nothing did.")
    ended: str


class BenchRecord(Part):
    scenario: str
    end_to_end: bool = Field(default=False, description="Whether a query goes through the whole pipeline.")
    random: dict[str, tuple[int, ...]] | None = Field(
        default=None, description="For random tensors in place of samples: the shapes that were asked for, by input."
    )
    budget_s: float = Field(description="Seconds that measuring was allowed to take.")
    seed: int
    measured: LoadRecord | None = Field(default=None, description="All runs that count, taken together.")
    throughput: Interval | None = Field(default=None, description="Samples in a second, over the runs.")
    tokens_per_s: Interval | None = Field(default=None, description="Tokens written in a second, over the runs.")
    bounds: tuple[Bound, ...] = Field(default=(), description="What a language model's answers were to keep to.")
    runs: tuple[LoadRecord, ...] = ()
    first_s: tuple[float, ...] = Field(default=(), description="The very first calls of the first process, in order.")
    warm_up_queries: int = Field(default=0, description="Queries before it was steady, which do not count.")
    steady: bool | None = Field(default=None, description="Whether it was steady before what counts began.")
    tight: bool | None = Field(default=None, description="Whether the intervals became as tight as asked for.")
    ended: str = Field(default="", description="Why measuring ended.")
    sweep: SweepRecord | None = None
    rate: RateRecord | None = None
    cold: tuple[ColdStart, ...] = ()
    loadgen: dict[str, Any] | None = Field(default=None, description="What MLPerf's LoadGen said, by its own names.")
    stability: Stability
