"""The trace of whoever calls: what is a valid `traceparent`, and how ours joins it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from timelines import toy

from mlmodelscope import Settings
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.profiling import profile
from mlmodelscope.record.store import Store
from mlmodelscope.trace.caller import CALLED_BY, parse_traceparent
from mlmodelscope.trace.otlp import as_json, as_protobuf
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.store import load_trace

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def called(traceparent: str) -> Trace:
    trace = toy()
    return replace(trace, resource={**trace.resource, CALLED_BY: traceparent})


def spans_of(trace: Trace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = as_json(trace, trace.spans)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return found


def test_the_callers_span_is_read() -> None:
    found = parse_traceparent(f" {VALID} ")
    assert found is not None and (found.trace_id, found.span_id, found.is_sampled) == (TRACE, SPAN, True)
    assert found.traceparent == VALID
    unsampled = parse_traceparent(f"00-{TRACE}-{SPAN}-00")
    assert unsampled is not None and not unsampled.is_sampled
    future = parse_traceparent(f"cc-{TRACE}-{SPAN}-03-what-comes")
    assert future is not None and future.is_sampled


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "garbage",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        VALID.upper(),
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n00",
        f"cc-{TRACE}-{SPAN}-01-{'x' * 10_000_000}",
        "../../etc/passwd",
    ],
)
def test_what_is_not_valid_is_left_out(text: str | None) -> None:
    assert parse_traceparent(text) is None
    plain = toy()
    assert spans_of(called(text or "")) == spans_of(plain)


def test_exported_spans_are_part_of_the_callers_trace_below_its_span() -> None:
    trace = called(VALID)
    spans = spans_of(trace)
    assert {span["traceId"] for span in spans} == {TRACE}
    ids = {span["spanId"] for span in spans}
    above = [span["parentSpanId"] for span in spans if span["parentSpanId"] not in ids]
    assert above == [SPAN] and ids == {span.id for span in trace.spans}
    packed = as_protobuf(trace, trace.spans)
    assert bytes.fromhex(TRACE) in packed and bytes.fromhex(trace.id) not in packed


def test_spans_of_other_programs_keep_their_own_trace() -> None:
    trace = called(VALID)
    foreign = replace(trace, resource={**trace.resource, "service.name": "shop"})
    assert {span["traceId"] for span in spans_of(foreign)} == {trace.id}


def test_a_profile_keeps_the_caller_that_it_was_made_for(
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Any,
    settings: Settings,
) -> None:
    model, dataset = make_model({"layers": 1}), make_dataset(make_pictures(2))
    common: dict[str, Any] = {"level": "application", "runs": 1, "settings": settings}
    record, trace = profile(model, dataset, traceparent=VALID, **common)
    store = Store(settings)
    kept = load_trace(store.folder(record.id))
    store.close()
    assert kept == trace and {span["traceId"] for span in spans_of(kept)} == {TRACE}
    _, other = profile(model, dataset, traceparent=VALID, **common)
    assert not {span.id for span in other.spans} & {span.id for span in trace.spans}, "both may join one trace"
    _, alone = profile(model, dataset, traceparent="nonsense", **common)
    assert CALLED_BY not in alone.resource
