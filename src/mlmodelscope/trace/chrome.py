"""Chrome's trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing show."""

from __future__ import annotations

import json
from typing import Any

from mlmodelscope.trace.span import LEVELS, Span, Trace
from mlmodelscope.trace.track import tracks_of

_PROCESS = 1


def write_chrome(trace: Trace) -> str:
    title = f"{trace.resource.get('model.name', 'trace')} {trace.resource.get('model.version', '')}".strip()
    events: list[dict[str, Any]] = [_named("process_name", 0, name=title)]
    tracks = [track for track in tracks_of(trace) if not all(_is_sample(span) for span, _ in track.spans)]
    for thread, track in enumerate(tracks, 1):
        events.append(_named("thread_name", thread, name=track.name))
        events.append(_named("thread_sort_index", thread, sort_index=thread))
        events += [
            {
                "ph": "X",
                "name": span.name,
                "cat": span.level,
                "ts": span.start_ns / 1000,
                "dur": span.duration_ns / 1000,
                "pid": _PROCESS,
                "tid": thread,
                "args": {**dict(span.attributes), "level": span.level, "id": span.id},
            }
            for span, _ in track.spans
            if not _is_sample(span)
        ]
    events += [
        {
            "ph": "C",
            "name": span.name,
            "ts": span.start_ns / 1000,
            "pid": _PROCESS,
            "args": {str(span.attributes["unit"]): span.attributes["value"]},
        }
        for span in trace.spans
        if _is_sample(span)
    ]
    said = {
        **dict(trace.resource),
        "trace_id": trace.id,
        "levels": [level for level in LEVELS if trace.at(level)],
        "overhead": {f"{each.level} over {each.compared}": each.share for each in trace.overheads},
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": said}, separators=(",", ":"))


def _is_sample(span: Span) -> bool:
    """A sample is a point of a curve there, not something that happened."""
    return span.attributes.get("kind") == "sample"


def _named(what: str, thread: int, **said: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": _PROCESS, "tid": thread, "args": said}
