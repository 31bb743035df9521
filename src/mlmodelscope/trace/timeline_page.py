"""The timeline as one HTML file that asks the network for nothing. Its only script is ours, and the page says which."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from mako.lookup import TemplateLookup

from mlmodelscope.report import html as report
from mlmodelscope.trace.counters import counter_lines, sample_lanes, spell_sample
from mlmodelscope.trace.layers import agreement, kind_rows, layer_rows, run_ns
from mlmodelscope.trace.span import LEVELS, Trace
from mlmodelscope.trace.text import spell
from mlmodelscope.trace.track import tracks_of
from mlmodelscope_worker import __version__

_TEMPLATES = Path(__file__).parent / "templates"
_LISTED = 300
_PALETTE = 8


def write_page(trace: Trace) -> str:
    return str(_templates().get_template("timeline.html.mako").render(**_page(trace)))


@cache
def _templates() -> TemplateLookup:
    # Everything is escaped unless a template says `| n`, which only our own style, script and data do.
    folders = [str(_TEMPLATES), str(Path(report.__file__).parent / "templates")]
    return TemplateLookup(folders, default_filters=["h"], strict_undefined=True, input_encoding="utf-8")


def _page(trace: Trace) -> dict[str, Any]:
    """All that the template shows; it computes nothing."""
    script = (_TEMPLATES / "timeline.js").read_text(encoding="utf-8")
    layers = layer_rows(trace)
    kinds = kind_rows(layers)
    return {
        "version": __version__,
        "style": report.style() + (_TEMPLATES / "timeline.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "data": _data(trace, [row.kind for row in kinds]),
        "trace": trace,
        "resource": trace.resource,
        "began": f"{datetime.fromtimestamp(trace.began_unix_ns / 1e9, UTC):%d %B %Y, %H:%M} UTC".lstrip("0"),
        "levels": [level for level in LEVELS if trace.at(level)],
        "spell": spell,
        "run_ns": run_ns(trace),
        "batches": trace.named("batch", "application"),
        "sums": agreement(trace),
        "counters": counter_lines(trace),
        "kinds": kinds,
        "color": {row.kind: min(place, _PALETTE - 1) for place, row in enumerate(kinds)},
        "layers": sorted(layers, key=lambda row: -row.time_ns)[:_LISTED],
        "left_out": max(0, len(layers) - _LISTED),
        "most": max((row.share for row in layers), default=1.0) or 1.0,
    }


def _data(trace: Trace, kinds: list[str]) -> str:
    """Spans as columns, row after row of the picture: what the script draws without a further thought."""
    words: dict[str, int] = {}
    places = {span.id: place for place, span in enumerate(trace.spans)}
    ranks = {kind: min(rank, _PALETTE - 1) for rank, kind in enumerate(kinds)}
    rows: list[list[int]] = []
    tracks = []
    for track in tracks_of(trace):
        first = len(rows)
        tracks.append([track.name, first])
        for span, depth in track.spans:
            while len(rows) <= first + depth:
                rows.append([])
            rows[first + depth].append(places[span.id])
    columns = {
        "name": [words.setdefault(span.name, len(words)) for span in trace.spans],
        "level": [LEVELS.index(span.level) for span in trace.spans],
        "start": [span.start_ns for span in trace.spans],
        "end": [span.end_ns for span in trace.spans],
        "parent": [places.get(span.parent, -1) if span.parent else -1 for span in trace.spans],
        "color": [ranks.get(str(span.attributes.get("kind")), -1) for span in trace.spans],
        "said": [
            words.setdefault(json.dumps(dict(span.attributes)), len(words)) if span.attributes else -1
            for span in trace.spans
        ],
    }
    samples = _samples(trace, places)
    document = {"words": list(words), "levels": LEVELS, "rows": rows, "tracks": tracks, "samples": samples, **columns}
    # A `<` could end the script element that holds the data; nothing else has a meaning there.
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _samples(trace: Trace, places: dict[str, int]) -> dict[int, tuple[float, str]]:
    """How high each sample stands in its lane, whose foot is 0, and what it says."""
    found = {}
    for spans in sample_lanes(trace).values():
        most = max(float(span.attributes["value"]) for span in spans) or 1.0
        for span in spans:
            found[places[span.id]] = (round(float(span.attributes["value"]) / most, 4), spell_sample(span))
    return found
