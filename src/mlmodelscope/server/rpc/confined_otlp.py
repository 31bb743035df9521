"""Spans that somebody sends, read in a confined process: a few bytes of a message may stand for a large object."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

from mlmodelscope.confine.confined import Confined
from mlmodelscope.server.rpc.otlp import protobuf_document
from mlmodelscope.trace.intake import Arrived, Message, Row, document_of_json, read_message


def message_of(file: str, is_json: bool, confined: Confined) -> Message:
    """Every span of an ExportTraceServiceRequest that can be kept."""
    found = confined.call(read_spans, file=file, is_json=is_json)
    traces = {
        identity: Arrived([Row(*row) for row in arrived["rows"]], arrived["resource"])
        for identity, arrived in found["traces"].items()
    }
    return Message(traces, found["rejected"], found["reason"])


def read_spans(file: str, is_json: bool) -> dict[str, Any]:
    body = Path(file).read_bytes()
    message = read_message(document_of_json(body) if is_json else protobuf_document(body))
    traces = {
        identity: {"rows": [astuple(row) for row in arrived.rows], "resource": arrived.resource}
        for identity, arrived in message.traces.items()
    }
    return {"traces": traces, "rejected": message.rejected, "reason": message.reason}
