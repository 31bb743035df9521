"""What the API answers about traces."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

_ID = "5b8aa5a2d2c872e8321cf37308d69df2"


class TraceSummary(Answer):
    model_config = example(
        id=_ID,
        owner="ada",
        service="mlmodelscope",
        model="resnet50",
        record=None,
        began_unix_ns=1767225600000000000,
        duration_ns=125_000_000,
        spans=1200,
        created_at="2026-01-01T00:00:00Z",
    )
    id: Annotated[str, Field(description="32 hexadecimal digits.")]
    owner: Annotated[str, Field(description="Who sent the first of its spans.")]
    service: Annotated[str, Field(description="`service.name` of what was traced.")]
    model: str | None
    record: Annotated[str | None, Field(description="Whose trace it is, where it is a record's.")]
    began_unix_ns: Annotated[int, Field(description="Its first moment, in nanoseconds since 1970.")]
    duration_ns: int
    spans: int
    created_at: datetime


class TraceDetails(TraceSummary):
    levels: Annotated[list[str], Field(description="Levels that have spans.")]
    resource: Annotated[dict[str, str], Field(description="What was traced, by OpenTelemetry's attribute names.")]


class TracePage(Answer):
    items: list[TraceSummary]
    next: Annotated[str | None, Field(description="`after` of the next page; nothing behind the last.")]


class TraceSpan(Answer):
    """A span; with `bins`, several short ones that lie side by side."""

    model_config = example(
        id="051581bf3cb55c13",
        parent="00f067aa0ba902b7",
        name="conv1",
        level="framework",
        start_ns=1000,
        end_ns=5000,
        spent_ns=4000,
        spans=1,
        attributes={"kind": "Conv"},
    )
    id: Annotated[str | None, Field(description="16 hexadecimal digits; nothing for several.")]
    parent: str | None
    name: Annotated[str, Field(description="Of several, that of the first.")]
    level: str
    start_ns: Annotated[int, Field(description="Nanoseconds since the trace began.")]
    end_ns: int
    spent_ns: Annotated[int, Field(description="How long it took; of several, together.")]
    spans: Annotated[int, Field(description="How many this stands for.")]
    attributes: dict[str, Any]


class SpanPage(Answer):
    items: list[TraceSpan]
    total: Annotated[int, Field(description="How many there are on all pages.")]


class PartialSuccess(Answer):
    rejectedSpans: Annotated[str, Field(description="How many could not be kept, as text: JSON has no such numbers.")]
    errorMessage: Annotated[str, Field(description="Why the first of them could not.")]


class ExportTraceServiceResponse(Answer):
    """OpenTelemetry's own answer; empty where all is well."""

    model_config = example(partialSuccess={"rejectedSpans": "1", "errorMessage": "`span_id` of a span is not 8 bytes"})
    partialSuccess: PartialSuccess | None = None
