"""What the API answers to pages that show a trace."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer


class TimelineRow(Answer):
    level: str
    lane: Annotated[str, Field(description="Such as a stream of a device; empty for the thread that called.")]
    depth: Annotated[int, Field(description="Place among the rows of the same level and lane.")]
    first_ns: Annotated[int, Field(description="When the first of its spans begins.")]
    last_ns: Annotated[int, Field(description="When the last of them has ended.")]
    spans: int


class Timeline(Answer):
    """A piece of a timeline in columns: the n-th numbers of each are of the n-th span, or of several grouped."""

    duration_ns: Annotated[int, Field(description="Of the whole trace.")]
    rows: Annotated[list[TimelineRow], Field(description="All rows of the trace, from top to bottom.")]
    total: Annotated[int, Field(description="Spans in this piece.")]
    names: list[str]
    name: Annotated[list[int], Field(description="Places in `names`; of several, that of the first.")]
    row: Annotated[list[int], Field(description="Places in `rows`.")]
    start_ns: list[int]
    end_ns: list[int]
    spent_ns: Annotated[list[int], Field(description="Of several, together.")]
    count: Annotated[list[int], Field(description="How many this stands for.")]
    id: Annotated[list[str | None], Field(description="Nothing for several.")]


class SpanAround(Answer):
    id: str
    name: str
    level: str


class SpanDetails(Answer):
    id: str
    parent: str | None
    name: str
    level: str
    start_ns: Annotated[int, Field(description="Nanoseconds since the trace began.")]
    end_ns: int
    spent_ns: int
    attributes: dict[str, Any]
    around: Annotated[list[SpanAround], Field(description="What it lies in, the outermost first.")]
    below: Annotated[int, Field(description="How many lie in it directly.")]


class FlameNode(Answer):
    parent: Annotated[int | None, Field(description="Place of the one above, which stands before it.")]
    name: str
    level: str
    total_ns: int
    own_ns: Annotated[int, Field(description="What those below it leave.")]
    count: int


class Flames(Answer):
    nodes: Annotated[list[FlameNode], Field(description="The first is all of the trace.")]
    left_out: Annotated[int, Field(description="How many were too small.")]


class NameTimes(Answer):
    name: str
    count: int
    time_ns: Annotated[float, Field(description="Of layers that of one run, each at its median; of others in all.")]
    total_ns: int
    mean_ns: float
    longest_ns: int
    share: Annotated[float, Field(description="Of the times of all names of the level in the window.")]


class NameList(Answer):
    items: list[NameTimes]
    total: int
    whole_ns: Annotated[float, Field(description="Sum of the times of all names.")]
    in_a_run: Annotated[bool, Field(description="Whether times are those of one run, as in the analyses.")]


class AnalysisColumn(Answer):
    name: str
    title: str
    unit: str
    kind: Annotated[str, Field(description="text, count, time_ns, bytes, share, rate or number.")]


class TraceAnalysis(Answer):
    id: Annotated[str, Field(description="Such as `A2`, as in the XSP paper.")]
    title: str
    columns: list[AnalysisColumn]
    rows: list[list[Any]]
    total: Annotated[int, Field(description="Rows in all; of more than a thousand those that take most time are here.")]
    notes: list[str]


class MissingAnalysis(Answer):
    id: str
    title: str
    why: str
    command: Annotated[str | None, Field(description="What would make it possible.")]


class MachinePeak(Answer):
    flops_per_s: float
    bytes_per_s: float
    intensity: Annotated[float, Field(description="Operations for each byte at the ridge of the roof.")]
    threads: int
    device: str
    how: str


class TraceAnalyses(Answer):
    record: str | None
    batch_size: int | None
    latency_ns: float | None
    peak: MachinePeak | None
    analyses: list[TraceAnalysis]
    missing: list[MissingAnalysis]
