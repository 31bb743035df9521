"""What the API answers about records side by side."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer


class Between(Answer):
    """A number and its 95 % interval; both ends are the number itself where none is known."""

    value: float
    low: float
    high: float


class ComparedRecord(Answer):
    id: str
    name: Annotated[str, Field(description="What tells it from the others.")]
    model: str
    dataset: str
    part: Annotated[str | None, Field(description="Which part of the dataset was taken; nothing where it was all.")]
    kind: Annotated[str, Field(description="`evaluation`, `profile`, `training`, or the scenario of a bench.")]
    stack: str
    machine: str
    samples: int
    created_at: datetime
    notes: list[str]
    unstable: Annotated[list[str], Field(description="Why a bench's numbers may be worth little.")]


class ComparedFact(Answer):
    name: str
    values: Annotated[list[str], Field(description="Of each record, in their order.")]
    differs: bool


class Measure(Answer):
    name: str
    title: str
    kind: Literal["share", "dB", "time_s", "number", "bytes", "count"]
    better: Literal["more", "less"]
    values: list[Between | None]
    best: Annotated[int | None, Field(description="The place of what is surely best: intervals lie apart.")]
    comparable: Annotated[bool, Field(description="Whether the values are over the same samples, where that matters.")]


class LatencySpread(Answer):
    record: str
    count: int
    shares: Annotated[list[float], Field(description="Share of its latencies in each bin.")]
    longer: Annotated[float, Field(description="Share that is beyond the last bin.")]
    longest_s: float


class LatencySpreads(Answer):
    edges_s: Annotated[list[float], Field(description="One more than there are bins.")]
    logarithmic: bool
    items: list[LatencySpread]


class OverviewNumber(Answer):
    value: float
    record: Annotated[str, Field(description="The record that it comes from.")]
    dataset: Annotated[str, Field(description="What it was measured on.")]
    scenario: Annotated[str, Field(description="`evaluation`, `profile`, or the scenario of a bench.")]
    samples: Annotated[int, Field(description="Samples that were answered, or calls or queries that were timed.")]
    whole: Annotated[bool, Field(description="Whether an accuracy is over all samples of the dataset.")]
    low: float | None
    high: float | None
    unstable: bool
    metric: Annotated[str | None, Field(description="Of an accuracy: the name of the metric.")] = None
    title: str | None = None
    unit: str | None = None
    better: Literal["higher", "lower"] | None = None


class SweepPoint(Answer):
    batch_size: int
    samples_per_s: float
    speed_up: Annotated[float, Field(description="Times as fast as the smallest batch size.")]


class NotMeasured(Answer):
    what: str
    command: Annotated[str, Field(description="What would measure it.")]


class OverviewRow(Answer):
    """One model in one stack on one machine, measured on one dataset."""

    model: str
    dataset: str
    stack: str
    machine: str
    size_bytes: int | None
    best_batch: int | None
    optimal_batch: int | None
    accuracy: Annotated[OverviewNumber | None, Field(description="The first number of the dataset's task.")]
    top1: Annotated[
        OverviewNumber | None, Field(deprecated=True, description="Older name of `accuracy` of a classification.")
    ]
    latency_s: Annotated[OverviewNumber | None, Field(description="Of one sample at a time.")]
    p90_s: OverviewNumber | None
    samples_per_s: Annotated[OverviewNumber | None, Field(description="The most that was measured.")]
    total: Annotated[int | None, Field(description="Samples of the whole dataset, where its manifest says so.")]
    sweep: list[SweepPoint]
    missing: list[NotMeasured]
    comparable: Annotated[
        bool, Field(description="Whether its accuracy is over the same samples as most of the table.")
    ]
    fastest: Annotated[
        bool, Field(description="No other of the same samples is more accurate and has a lower latency.")
    ]
    most: Annotated[
        bool, Field(description="No other of the same samples is more accurate and has a higher throughput.")
    ]


class OverviewTable(Answer):
    """What was measured on one dataset; rows over all of its samples come first."""

    dataset: str
    rows: list[OverviewRow]
    notes: list[str]


class Overview(Answer):
    tables: Annotated[list[OverviewTable], Field(description="One for each dataset: their numbers do not compare.")]
    notes: list[str]


class LatencyRatio(Answer):
    ratio: Annotated[Between | None, Field(description="How many times as long the second takes, at the median.")]
    noise: Annotated[float, Field(description="By how much either differs from itself.")]
    verdict: Literal["faster", "slower", "no difference", "not judged"]
    sentence: str
    doubts: list[str]


class AccuracyPair(Answer):
    """Top-1 over the labeled samples that both answered."""

    first: Between
    second: Between
    samples: int
    only_first: Annotated[int, Field(description="Samples that only the first gets right.")]
    only_second: int
    p_value: Annotated[float, Field(description="McNemar's exact test.")]
    verdict: Annotated[
        Literal["more accurate", "less accurate", "no difference"], Field(description="The second, against the first.")
    ]
    sentence: str


class ApartSample(Answer):
    """Of divergences, null where the scores are no probabilities, or where it is infinite."""

    sample: str
    label: str | None
    first: str
    second: str
    same: bool
    overlap: float
    kl: float | None
    kl_back: float | None
    js: float | None
    hellinger: float | None


class AnswersApart(Answer):
    samples: int
    only_one: int
    other_bytes: int
    kept: Annotated[int, Field(description="Classes kept of each sample.")]
    exact: bool
    agree: Annotated[Between, Field(description="Share of the samples to which both say the same.")]
    same_set: Between
    overlap: float
    infinite: int
    both_right: int | None
    first_right: int | None
    second_right: int | None
    both_wrong: int | None
    means: Annotated[dict[str, float | None], Field(description="Of `kl`, `kl_back`, `js` and `hellinger`.")]
    most: dict[str, float | None]
    notes: list[str]
    apart: Annotated[list[ApartSample], Field(description="Those that differ most.")]


class ChangedSample(Answer):
    """One with another answer in the second record."""

    sample: str
    first: Annotated[float, Field(description="Quality of the first record's answer, from 0 to 1.")]
    second: float
    same: Annotated[bool, Field(description="Whether both answers are the same to the last digit.")]
    kind: Literal["worse", "better", "other"]


class ChangedCounts(Answer):
    worse: int
    better: int
    other: Annotated[int, Field(description="As good as before.")]


class QualitiesApart(Answer):
    """How good the answers to the same samples are, where they are not simply right or wrong."""

    samples: Annotated[int, Field(description="Samples that both answered.")]
    only_one: Annotated[int, Field(description="Samples that one of them lacks or failed at.")]
    same: Annotated[int, Field(description="Samples with the same answer.")]
    mean_change: Annotated[float, Field(description="Of the quality, from the first record to the second.")]
    about: Annotated[str, Field(description="What the quality is.")]
    counts: ChangedCounts
    changed: Annotated[
        list[ChangedSample],
        Field(description="Worse ones first, then better ones, then others; those that changed most first."),
    ]


class KindTimes(Answer):
    kind: str
    first_ns: float
    second_ns: float


class LayerTimes(Answer):
    first: str | None
    second: str | None
    kind: str
    first_ns: float | None
    second_ns: float | None
    difference_ns: float


class RunLayer(Answer):
    name: str
    kind: str
    start_ns: int
    end_ns: int


class LayerRun(Answer):
    trace: str
    layers: list[RunLayer]


class LayersApart(Answer):
    first_ns: Annotated[float, Field(description="Sum of the layers.")]
    second_ns: float
    ratio: float | None
    paired_by: str
    kinds: list[KindTimes]
    layers: Annotated[list[LayerTimes], Field(description="In the order of execution.")]
    total: int
    runs: Annotated[list[LayerRun], Field(description="One run of each, layer behind layer.")]


class Pair(Answer):
    latency: LatencyRatio | None
    accuracy: Annotated[AccuracyPair | None, Field(description="Where both answered the same samples.")]
    answers: Annotated[AnswersApart | None, Field(description="Where answers are lists of classes.")]
    qualities: Annotated[QualitiesApart | None, Field(description="Where answers are more or less good.")] = None
    layers: LayersApart | None
    notes: Annotated[list[str], Field(description="What is not compared, and why.")]


class Comparison(Answer):
    records: list[ComparedRecord]
    facts: list[ComparedFact]
    measures: list[Measure]
    latencies: LatencySpreads | None
    overview: Overview
    pair: Annotated[Pair | None, Field(description="Where they are two.")]
