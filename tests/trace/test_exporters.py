"""Each form against the rules of whoever reads it."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from timelines import IDENTITY, RESOURCE, large, toy, watched

from mlmodelscope.errors import UsageError
from mlmodelscope.trace.chrome import write_chrome
from mlmodelscope.trace.csv import write_csv
from mlmodelscope.trace.export import FORMS, form_of
from mlmodelscope.trace.flame import write_folded
from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.otlp import write_otlp
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.speedscope import write_speedscope
from mlmodelscope.trace.text import spell, write_text
from mlmodelscope.trace.track import tracks_of


def side_by_side() -> Trace:
    """Two layers at the same time, and a kernel on a device's stream; names that try to break out."""
    spans = [
        Taken("application", "application", 0, 100, None),
        Taken("one;</script>", "framework", 10, 60, 0),
        Taken("two\n\"'", "framework", 40, 90, 0),
        Taken("kernel", "library", 50, 95, 1, {"lane": "stream 7"}),
        Taken("nothing", "library", 60, 60, 1),
    ]
    return Trace(IDENTITY, 0, number(spans, IDENTITY), (), RESOURCE)


TRACES = {"toy": toy, "side by side": side_by_side, "watched": watched, "large": lambda: large(3000)}


@pytest.fixture(params=list(TRACES))
def trace(request: pytest.FixtureRequest) -> Trace:
    return TRACES[request.param]()


def test_spans_of_a_track_nest_and_none_is_left_out(trace: Trace) -> None:
    tracks = tracks_of(trace)
    assert sum(len(track.spans) for track in tracks) == len(trace.spans)
    for track in tracks:
        around: list[Any] = []
        for span, depth in track.spans:
            del around[depth:]
            assert all(each.start_ns <= span.start_ns and span.end_ns <= each.end_ns for each in around)
            around.append(span)


def test_what_runs_side_by_side_has_tracks_of_its_own() -> None:
    assert [track.name for track in tracks_of(side_by_side())] == ["main", "main, 2", "stream 7"]


def test_chrome_gets_complete_events_that_nest(trace: Trace) -> None:
    """The format's rules: a phase, a process and a thread each; microseconds; events of a thread lie in one another."""
    document = json.loads(write_chrome(trace))
    assert set(document) == {"traceEvents", "displayTimeUnit", "otherData"} and document["displayTimeUnit"] == "ms"
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    names = [event for event in document["traceEvents"] if event["ph"] == "M"]
    points = [event for event in document["traceEvents"] if event["ph"] == "C"]
    assert len(events) + len(points) == len(trace.spans)
    assert len(events) + len(points) + len(names) == len(document["traceEvents"])
    assert {event["name"] for event in names} == {"process_name", "thread_name", "thread_sort_index"}
    ends: dict[int, list[float]] = {}
    for event in sorted(events, key=lambda each: (each["tid"], each["ts"], -each["dur"])):
        assert event["ts"] >= 0 and event["dur"] >= 0 and event["pid"] == 1 and event["cat"] and event["args"]["id"]
        around = ends.setdefault(event["tid"], [])
        while around and around[-1] <= event["ts"] + 1e-9:
            around.pop()
        assert not around or event["ts"] + event["dur"] <= around[-1] + 1e-9
        around.append(event["ts"] + event["dur"])


def test_samples_are_points_of_curves_in_chrome() -> None:
    events = json.loads(write_chrome(watched()))["traceEvents"]
    points = [event for event in events if event["ph"] == "C"]
    assert {event["name"] for event in points} == {"memory", "power"}
    assert {"bytes": 200 << 20} in [event["args"] for event in points] and {"W": 12.5} in [e["args"] for e in points]
    assert "memory" not in {event["args"].get("name") for event in events if event["ph"] == "M"}


def test_samples_and_counters_are_attributes_in_tables_and_in_otlp() -> None:
    rows = list(csv.DictReader(io.StringIO(write_csv(watched()))))
    sampled = [json.loads(row["attributes"]) for row in rows if row["kind"] == "sample"]
    assert {"value": 12.5, "unit": "W"} in sampled
    assert any(json.loads(row["attributes"]).get("cycles") == 1500 for row in rows if row["kind"] == "counters")
    assert '"mlmodelscope.value","value":{"doubleValue":12.5}' in write_otlp(watched())


def test_speedscope_gets_events_that_open_and_close_in_order(trace: Trace) -> None:
    document = json.loads(write_speedscope(trace))
    frames = len(document["shared"]["frames"])
    opened = 0
    for profile in document["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        stack, moment = [], profile["startValue"]
        for event in profile["events"]:
            assert 0 <= event["frame"] < frames and moment <= event["at"] <= profile["endValue"]
            moment = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                opened += 1
            else:
                assert stack.pop() == event["frame"]
        assert not stack
    assert opened == len(trace.spans)


def test_folded_stacks_add_up_to_the_whole() -> None:
    lines = [line.rpartition(" ") for line in write_folded(toy()).splitlines()]
    assert sum(int(spent) for _, _, spent in lines) == toy().duration_ns
    assert ("application;batch;run;fc", "700") in {(stack, spent) for stack, _, spent in lines}
    assert all(";;" not in stack for stack, _, _ in lines)


def test_a_row_for_each_span(trace: Trace) -> None:
    rows = list(csv.DictReader(io.StringIO(write_csv(trace))))
    assert Counter(row["id"] for row in rows) == Counter(span.id for span in trace.spans)
    assert all(int(row["end_ns"]) - int(row["start_ns"]) == int(row["duration_ns"]) for row in rows)
    assert {row["trace_id"] for row in rows} == {trace.id}


def test_names_of_strangers_spans_are_no_formulas(trace: Trace) -> None:
    """They come over OTLP from any program, and spreadsheets open the file."""
    hostile = replace(trace, spans=tuple(replace(span, name=f"=HYPERLINK({span.id})") for span in trace.spans))
    names = [row["name"] for row in csv.DictReader(io.StringIO(write_csv(hostile)))]
    assert names and all(name.startswith("'=HYPERLINK(") for name in names)


def test_the_tree_says_what_it_leaves_out() -> None:
    text = write_text(toy(), most=1)
    assert text.splitlines()[0].startswith("application") and "… 2 more" in text
    assert "conv" not in write_text(toy(), level="model") and "conv" in write_text(toy(), level="framework")
    assert all(len(line) < 140 for line in write_text(large(3000)).splitlines())


def test_durations_have_three_digits_and_a_unit() -> None:
    assert [spell(ns) for ns in (0, 999, 1234, 5_678_900, 12e9)] == ["0 ns", "999 ns", "1.23 µs", "5.68 ms", "12 s"]


def test_a_files_name_says_its_form() -> None:
    assert form_of("a.speedscope.json") is write_speedscope and form_of("a.json") is write_chrome
    with pytest.raises(UsageError, match="does not say which form"):
        form_of("trace.xml")
    for end in FORMS:
        assert form_of(f"x{end}")(toy())
