"""Traces on a server: OpenTelemetry's own programs and ours send them, and every span comes back as it was."""

from __future__ import annotations

import csv
import gzip
import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mlmodelscope.cli.trace import send_to
from mlmodelscope.client.client import Client
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.settings import Settings
from mlmodelscope.trace.otlp import as_json, as_protobuf
from mlmodelscope.trace.span import Span, Trace, span_id_of, trace_id_of

from .conftest import World, free_port

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")

LEVELS = ("application", "model", "framework")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, int]]:
    world, port = World(tmp_path_factory.mktemp("traces")), free_port()
    world.host(rpc_port=port, largest_trace=30_000, largest_body=4 << 20)
    yield world, port
    world.close()
    assert "an error of our own" not in world.log("server") and "Traceback" not in world.log("server")


@pytest.fixture
def world(place: tuple[World, int]) -> World:
    return place[0]


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    with Client(world.url) as client:
        yield client


def made(name: str, count: int = 30) -> Trace:
    """A root, and below it spans of three levels, one after the other; every tenth is long."""
    identity = trace_id_of(name, 0)
    root = span_id_of(identity, 0)
    spans = [Span(identity, root, None, name, "application", 0, count * 1000)]
    for number in range(1, count):
        start = 1000 * number
        parent = spans[-1].id if number % 3 == 0 else root
        end = start + (900 if number % 10 == 0 else 90)
        spans.append(
            Span(identity, span_id_of(identity, number), parent, f"layer{number % 7}", LEVELS[number % 3], start, end)
        )
    resource = {"model.name": "toy", "service.name": "mlmodelscope"}
    return Trace(identity, 1_700_000_000_000_000_000, tuple(spans), resource=resource)


def all_spans(client: Client, identity: str, **wanted: Any) -> list[dict[str, Any]]:
    return list(client.spans(identity, **wanted))


def told(spans: list[dict[str, Any]]) -> dict[str, tuple[str, str | None]]:
    return {each["id"]: (each["name"], each["parent"]) for each in spans}


# OpenTelemetry's own programs -----------------------------------------------------------------------------------------


def sent_by_sdk(exporter: Any) -> tuple[str, dict[str, tuple[str, str | None]]]:
    """A small program with OpenTelemetry's SDK: a request, two things below it, one of which fails."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanKind, StatusCode

    provider = TracerProvider(resource=Resource.create({"service.name": "shop", "model.name": "toy"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer, seen = provider.get_tracer("test"), []
    with tracer.start_as_current_span("request", kind=SpanKind.SERVER, attributes={"http.method": "GET"}) as request:
        seen.append(request)
        for number in range(2):
            with tracer.start_as_current_span("step", attributes={"number": number, "ratio": 0.5}) as step:
                step.add_event("looked", {"deep": True})
                seen.append(step)
        step.set_status(StatusCode.ERROR, "no luck")
    provider.shutdown()
    identity = f"{seen[0].get_span_context().trace_id:032x}"
    parents = [each.parent for each in seen]
    return identity, {
        f"{each.get_span_context().span_id:016x}": (each.name, f"{parent.span_id:016x}" if parent else None)
        for each, parent in zip(seen, parents, strict=True)
    }


def check_sdk(client: Client, identity: str, expected: dict[str, tuple[str, str | None]]) -> None:
    found = all_spans(client, identity)
    assert told(found) == expected
    root = next(each for each in found if each["parent"] is None)
    assert root["attributes"] == {"http.method": "GET", "service.name": "shop", "otel.kind": "server"}
    step = next(each for each in found if each["parent"])
    assert step["attributes"]["ratio"] == 0.5 and step["attributes"]["events"][0]["name"] == "looked"
    facts = client.trace(identity)
    assert (facts["service"], facts["model"], facts["spans"]) == ("shop", "toy", 3)
    assert abs(facts["began_unix_ns"] - time.time_ns()) < 3600 * 10**9
    again = json.loads(client.export_trace(identity, "otlp"))["resourceSpans"][0]
    spans = again["scopeSpans"][0]["spans"]
    assert {each["spanId"]: (each["name"], each.get("parentSpanId")) for each in spans} == expected
    assert {"key": "http.method", "value": {"stringValue": "GET"}} in spans[0]["attributes"]


@pytest.mark.parametrize("packed", ["none", "gzip"])
def test_the_sdk_sends_over_http(world: World, client: Client, packed: str) -> None:
    http = pytest.importorskip(
        "opentelemetry.exporter.otlp.proto.http", reason="opentelemetry-exporter-otlp-proto-http is not installed"
    )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(
        endpoint=f"{world.url}/api/v1/otlp/v1/traces", compression=http.Compression(packed), timeout=300
    )
    check_sdk(client, *sent_by_sdk(exporter))


def test_the_sdk_sends_over_grpc(place: tuple[World, int], client: Client) -> None:
    pytest.importorskip(
        "opentelemetry.exporter.otlp.proto.grpc", reason="opentelemetry-exporter-otlp-proto-grpc is not installed"
    )
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{place[1]}", insecure=True, timeout=300)
    check_sdk(client, *sent_by_sdk(exporter))


def test_a_token_goes_with_it_as_a_header(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, runner = world.token("read", owner="eve"), world.token("run", owner="ada")
    url = f"{world.url}/api/v1/otlp/v1/traces"
    trace, settings = made("with a token"), Settings(world.place / "h", world.place / "c")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"Authorization=Bearer%20{reader}")
    with pytest.raises(MLModelScopeError, match="403"):
        send_to(trace, url, settings)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"Authorization=Bearer%20{runner}")
    send_to(trace, url, settings)
    with Client(world.url) as client:
        assert client.trace(trace.id)["owner"] == "ada"


# Ours -----------------------------------------------------------------------------------------------------------------


def test_a_large_trace_comes_back_whole_and_is_shown_in_pieces(world: World, client: Client) -> None:
    trace = made("large", 20_000)
    settings = Settings(world.place / "h", world.place / "c")
    url = f"{world.url}/api/v1/otlp/v1/traces"
    send_to(trace, url, settings)
    first = client.trace(trace.id)
    assert (first["spans"], first["duration_ns"], first["model"]) == (20_000, trace.duration_ns, "toy")
    assert first["levels"] == ["application", "framework", "model"] and first["began_unix_ns"] == trace.began_unix_ns
    found = all_spans(client, trace.id)
    assert [
        (each["id"], each["parent"], each["name"], each["level"], each["start_ns"], each["end_ns"]) for each in found
    ] == [(span.id, span.parent, span.name, span.level, span.start_ns, span.end_ns) for span in trace.spans]
    window = {"from_ns": 5_000_000, "to_ns": 6_000_000}
    inside = all_spans(client, trace.id, **window, least_ns=500)
    assert {each["start_ns"] for each in inside} == {0, *range(5_000_000, 6_000_001, 10_000)}
    assert {each["level"] for each in all_spans(client, trace.id, **window, level="model")} == {"application", "model"}
    assert {each["name"] for each in all_spans(client, trace.id, name="YER3")} == {"layer3"}
    few = all_spans(client, trace.id, bins=200)
    assert len(few) <= 1 + 3 * 200 and sum(each["spans"] for each in few) == 20_000
    assert sum(each["spent_ns"] for each in few) == sum(span.duration_ns for span in trace.spans)
    assert {each["id"] for each in few if each["spans"] == 1} == {trace.spans[0].id}
    send_to(trace, url, settings)  # a sender that heard no answer sends it again
    assert client.trace(trace.id) == first


def test_a_record_s_trace_is_in_the_list_and_does_not_change(world: World, client: Client) -> None:
    world.client()
    (asked,) = client.ask({"kind": "profile", "model": "toy", "dataset": "pictures", "arguments": {"runs": 2}})
    record = asked.wait().record()
    (listed,) = [each for each in client.traces(record=record.id)]
    assert listed["model"] == "toy" and listed["record"] == record.id
    assert listed["id"] in [each["id"] for each in client.traces()]
    found = all_spans(client, listed["id"])
    assert len(found) == listed["spans"] == record.profile.spans  # type: ignore[union-attr]
    text = client.export_trace(listed["id"], "otlp")
    headers = {"Content-Type": "application/json"}
    url, http = "/otlp/v1/traces", world.http
    assert http.post(url, content=text, headers=headers).json() == {}  # it has all of them
    other = json.loads(text)
    other["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] = "0" * 15 + "7"
    partial = http.post(url, json=other).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1" and "does not change" in partial["errorMessage"]
    assert all_spans(client, listed["id"]) == found
    with pytest.raises(UsageError, match="delete the record"):
        client.delete(f"/traces/{listed['id']}")


def test_files_of_every_form(client: Client, world: World) -> None:
    trace = made("forms")
    send_to(trace, f"{world.url}/api/v1/otlp/v1/traces", Settings(world.place / "h", world.place / "c"))
    events = json.loads(client.export_trace(trace.id, "perfetto"))["traceEvents"]
    assert sum(each["ph"] == "X" for each in events) == 30
    assert len(json.loads(client.export_trace(trace.id, "speedscope"))["shared"]["frames"]) == 8
    rows = list(csv.DictReader(io.StringIO(client.export_trace(trace.id, "csv"))))
    assert {row["id"]: row["parent"] or None for row in rows} == {span.id: span.parent for span in trace.spans}
    assert client.export_trace(trace.id, "folded").startswith("forms")
    assert json.loads(client.export_trace(trace.id, "otlp")) == as_json(trace, trace.spans)
    page = world.http.get(f"/traces/{trace.id}/export?format=html")
    assert "sandbox" in page.headers["content-security-policy"] and "<script" in page.text
    assert world.http.get(f"/traces/{trace.id}/export?format=pdf").status_code == 422


def test_pages_and_filters(client: Client, world: World) -> None:
    names = [f"page {number}" for number in range(5)]
    for number, name in enumerate(names):
        document = as_json(made(name, 2), made(name, 2).spans)
        resource = document["resourceSpans"][0]["resource"]["attributes"]
        resource.append({"key": "service.name", "value": {"stringValue": f"pager{number % 2}"}})
        for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for key in ("startTimeUnixNano", "endTimeUnixNano"):
                span[key] = str(int(span[key]) + number * 10**9)
        assert world.http.post("/otlp/v1/traces", json=document).json() == {}
    even = [each["id"] for each in client.traces(service="pager0", limit=2)]
    assert even == [trace_id_of(name, 0) for name in reversed(names[::2])]
    began = [each["began_unix_ns"] for each in client.traces(service="pager0")]
    assert sorted(began) == [1_700_000_000_000_000_000 + number * 10**9 for number in (0, 2, 4)]
    late = {"since": "2023-11-14T22:13:22+00:00", "until": "2023-11-14T22:13:24Z"}
    assert [each["began_unix_ns"] % 10**10 // 10**9 for each in client.traces(service="pager0", **late)] == [2]
    client.delete(f"/traces/{even[0]}")
    assert [each["id"] for each in client.traces(service="pager0")] == even[1:]
    with pytest.raises(UsageError, match="there is no trace"):
        client.trace(even[0])


def test_the_same_over_grpc(place: tuple[World, int], client: Client) -> None:
    from mlmodelscope.server.rpc.messages import methods

    trace = made("over grpc", 12)
    known = {method.name: method for method in methods()}
    with grpc.insecure_channel(f"127.0.0.1:{place[1]}") as channel:
        channel.unary_unary(known["Export"].path)(as_protobuf(trace, trace.spans), timeout=300)

        def ask(name: str, /, **fields: Any) -> Any:
            method = known[name]
            call = channel.unary_unary(method.path, lambda each: each.SerializeToString(), method.answered.FromString)
            return call(method.asked(**fields), timeout=300)

        assert ask("GetTrace", id=trace.id).spans == 12
        assert trace.id in [each.id for each in ask("ListTraces", model="toy").items]
        found = ask("ListSpans", id=trace.id, least_ns=500)
        assert [each.name for each in found.items] == ["over grpc", "layer3"] and found.total == 2
        method = known["ExportTrace"]
        call = channel.unary_stream(method.path, lambda each: each.SerializeToString(), method.answered.FromString)
        text = b"".join(each.data for each in call(method.asked(id=trace.id, format="csv"), timeout=300)).decode()
        assert text == client.export_trace(trace.id, "csv")
        ask("DeleteTrace", id=trace.id)
        with pytest.raises(grpc.RpcError, match="there is no trace"):
            ask("GetTrace", id=trace.id)


# Hostile --------------------------------------------------------------------------------------------------------------

GOOD = {"traceId": "5b8aa5a2d2c872e8321cf37308d69df2", "spanId": "051581bf3cb55c13", "name": "a", "endTimeUnixNano": 9}


def one(**span: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**GOOD, **span}]}]}]}


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ({"traceId": "5b8a"}, "`trace_id` of a span is not 16 bytes"),
        ({"traceId": "0" * 32}, "`trace_id` of a span is not 16 bytes"),
        ({"traceId": "../../../etc/passwd"}, "`trace_id` of a span is not 16 bytes"),
        ({"spanId": 7}, "`span_id` of a span is not 8 bytes"),
        ({"parentSpanId": "xyz"}, "`parent_span_id` of a span is not 8 bytes"),
        ({"startTimeUnixNano": "10"}, "ends before it starts"),
        ({"endTimeUnixNano": "9" * 30}, "a whole number of a span is none"),
        ({"endTimeUnixNano": -1}, "is not a moment"),
        ({"attributes": [{"key": "k", "value": {"intValue": "many"}}]}, "a whole number of a span is none"),
        ({"attributes": [{"key": f"k{n}", "value": {"stringValue": "x" * 5000}} for n in range(50)]}, "64 KiB"),
    ],
)
def test_a_wrong_span_costs_no_other(world: World, span: dict[str, Any], words: str) -> None:
    document = one(**span)
    document["resourceSpans"].append(one(spanId="051581bf3cb55c14")["resourceSpans"][0])
    answer = world.http.post("/otlp/v1/traces", json=document)
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert words in answer.json()["partialSuccess"]["errorMessage"]


def test_odd_spans_are_kept_as_well_as_they_can_be(world: World, client: Client) -> None:
    deep: dict[str, Any] = {"stringValue": "bottom"}
    for _ in range(50):
        deep = {"arrayValue": {"values": [deep]}}
    odd = one(
        traceId="5b8aa5a2d2c872e8321cf37308d69df3",
        name="n\0ul" + "x" * 1000,
        parentSpanId="051581bf3cb55c13",  # itself
        attributes=[
            {"key": "nan", "value": {"doubleValue": "NaN"}},
            {"key": "deep", "value": deep},
            {"key": "mlmodelscope.level", "value": {"stringValue": "basement"}},
            {"key": "none"},
            "no pair",
        ],
        surprise={"a": 1},
    )
    assert world.http.post("/otlp/v1/traces", json=odd).json() == {}
    (span,) = all_spans(client, "5b8aa5a2d2c872e8321cf37308d69df3")
    assert len(span["name"]) == 500 and "\0" not in span["name"] and span["level"] == "application"
    assert span["attributes"]["nan"] == "nan"
    for form in ("perfetto", "speedscope", "csv", "html", "otlp", "folded"):
        assert client.export_trace("5b8aa5a2d2c872e8321cf37308d69df3", form)


def test_messages_have_bounds(world: World) -> None:
    url, http = "/otlp/v1/traces", world.http
    many = [{**GOOD, "traceId": f"{number + 1:032x}"} for number in range(130)]
    answer = http.post(url, json={"resourceSpans": [{"scopeSpans": [{"spans": many}]}]}).json()
    assert answer["partialSuccess"]["rejectedSpans"] == "30"
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    bomb = gzip.compress(b" " * (8 << 20))
    expected = {
        413: [(bomb, packed), (b"x" * (5 << 20), {"Content-Type": "application/json"})],
        400: [
            (b"no gzip", packed),
            (bomb[:100], packed),
            (b"{", {"Content-Type": "application/json"}),
            (b"[" * 100_000, {"Content-Type": "application/json"}),
            (b"[]", {"Content-Type": "application/json"}),
            (b"\xff\xff\xff", {"Content-Type": "application/x-protobuf"}),
        ],
        415: [
            (b"{}", {"Content-Type": "text/plain"}),
            (b"{}", {"Content-Encoding": "br", "Content-Type": "application/json"}),
        ],
    }
    for status, questions in expected.items():
        for body, headers in questions:
            answer = http.post(url, content=body, headers=headers)
            assert answer.status_code == status, (headers, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"


def test_a_full_disk_is_said(world: World, client: Client) -> None:
    identity = "5b8aa5a2d2c872e8321cf37308d69dff"
    url, http, folder = "/otlp/v1/traces", world.http, world.place / "server" / "traces" / "5b" / identity
    folder.mkdir(parents=True)
    (folder / "draft").symlink_to("/dev/full")  # every byte that is written there is one too many
    answer = http.post(url, json=one(traceId=identity))
    assert answer.status_code == 507 and "no space is left" in answer.json()["detail"]
    (folder / "draft").unlink(missing_ok=True)
    assert http.post(url, json=one(traceId=identity)).json() == {}
    assert client.trace(identity)["spans"] == 1


def test_a_trace_has_a_most_of_spans(world: World, client: Client) -> None:
    trace = made("too large", 30_500)
    document = as_protobuf(trace, trace.spans[:30_000])
    url, http, headers = "/otlp/v1/traces", world.http, {"Content-Type": "application/x-protobuf"}
    assert http.post(url, content=document, headers=headers).content == b""
    answer = http.post(url, content=as_protobuf(trace, trace.spans[30_000:]), headers=headers)
    assert b"30000 spans, which are the most" in answer.content
    assert client.trace(trace.id)["spans"] == 30_000
