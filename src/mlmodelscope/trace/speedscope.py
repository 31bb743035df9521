"""speedscope's own format (speedscope.app): a profile for each track, spans opening and closing."""

from __future__ import annotations

import json

from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.track import nested_events, tracks_of


def write_speedscope(trace: Trace) -> str:
    frames: dict[str, int] = {}
    profiles = []
    for track in tracks_of(trace):
        events = [
            {"type": "O" if opens else "C", "frame": frames.setdefault(span.name, len(frames)), "at": at}
            for opens, span, at in nested_events(track)
        ]
        profiles.append(
            {
                "type": "evented",
                "name": track.name,
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": max([trace.duration_ns, *(each["at"] for each in events)]),
                "events": events,
            }
        )
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "mlmodelscope",
        "name": trace.resource.get("model.name", "trace"),
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }
    return json.dumps(document, separators=(",", ":"))
