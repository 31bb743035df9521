"""One row for each span, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from mlmodelscope.report.inert import inert
from mlmodelscope.trace.span import Trace

_OWN = ("kind", "memory_bytes", "shapes", "lane", "measured_ns")


def write_csv(trace: Trace) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["trace_id", "id", "parent", "depth", "level", "name", "start_ns", "end_ns", "duration_ns", *_OWN, "attributes"]
    )
    for span, depth in trace.walk():
        said = dict(span.attributes)
        own = [said.pop(name, "") for name in _OWN]
        writer.writerow(
            [
                *(span.trace_id, span.id, span.parent or "", depth, span.level, inert(span.name)),
                *(span.start_ns, span.end_ns, span.duration_ns),
                *(_cell(value) for value in own),
                json.dumps(said, sort_keys=True) if said else "",
            ]
        )
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value)
    return inert(value) if isinstance(value, str) else value
