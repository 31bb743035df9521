"""OTLP, to a real receiver: an HTTP server that reads it with OpenTelemetry's own classes."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from timelines import large, toy

from mlmodelscope.cli.trace import send_to
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.provision.send import send
from mlmodelscope.settings import Settings
from mlmodelscope.trace import otlp
from mlmodelscope.trace.span import Span, Trace


class Collector:
    """Keeps what it is sent, as a collector would; answers with `status`."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, bytes]] = []
        self.headers: list[Any] = []
        self.status = 200
        self.first: list[int] = []
        """What the next requests are answered with, before `status`."""
        self.answer = b""
        self.retry_after = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers["Content-Encoding"] == "gzip"
                outer.received.append(
                    (self.path, self.headers["Content-Type"], gzip.decompress(body) if packed else body)
                )
                outer.headers.append(self.headers)
                status = outer.first.pop(0) if outer.first else outer.status
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "http://127.0.0.1:1/")
                if outer.retry_after:
                    self.send_header("Retry-After", outer.retry_after)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(outer.answer)))
                self.end_headers()
                self.wfile.write(outer.answer)

            def log_message(self, *words: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def request_class() -> Any:
    service = pytest.importorskip(
        "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="opentelemetry-proto is not installed"
    )
    return service.ExportTraceServiceRequest


def spans_in(request: Any) -> list[Any]:
    return [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]


def check(received: Any, span: Span, trace: Trace) -> None:
    assert received.trace_id.hex() == span.trace_id and received.span_id.hex() == span.id
    assert received.parent_span_id.hex() == (span.parent or "")
    assert (received.name, received.kind) == (span.name, 1)
    assert received.start_time_unix_nano - trace.began_unix_ns == span.start_ns
    assert received.end_time_unix_nano - trace.began_unix_ns == span.end_ns
    attributes = {pair.key: pair.value for pair in received.attributes}
    assert attributes["mlmodelscope.level"].string_value == span.level
    assert len(attributes) == len(span.attributes) + 1


def test_a_collector_reads_what_it_is_sent(collector: Collector) -> None:
    kind, trace = request_class(), large(5000)
    for message in otlp.messages(trace):
        assert len(message) < 4 << 20
        send(f"{collector.url}/v1/traces", message, "application/x-protobuf")
    received = [kind.FromString(body) for _, _, body in collector.received]
    assert {(path, form) for path, form, _ in collector.received} == {("/v1/traces", "application/x-protobuf")}
    found = [span for request in received for span in spans_in(request)]
    assert len(received) == 3 and len(found) == len(trace.spans)
    for one, span in zip(found, trace.spans, strict=True):
        check(one, span, trace)
    service = {pair.key: pair.value.string_value for pair in received[0].resource_spans[0].resource.attributes}
    assert service["service.name"] == "mlmodelscope" and service["model.name"] == "toy"


def test_json_and_protocol_buffers_say_the_same() -> None:
    json_format = pytest.importorskip("google.protobuf.json_format")
    kind, trace = request_class(), toy()
    written = otlp.as_json(trace, trace.spans)
    for span in written["resourceSpans"][0]["scopeSpans"][0][
        "spans"
    ]:  # OTLP has ids in hexadecimal, JSON's own rule base64
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                import base64

                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    assert json_format.ParseDict(written, kind()) == kind.FromString(otlp.as_protobuf(trace, trace.spans))


@pytest.mark.parametrize("value", [True, -5, 2**60, 0.5, "text", [1, [2, "x"]], {"a": {"b": 1}}, None])
def test_every_kind_of_attribute_is_written(value: Any) -> None:
    kind, trace = request_class(), toy()
    span = Span(trace.id, "1" * 16, None, "odd", "model", 0, 1, {"value": value})
    (received,) = spans_in(kind.FromString(otlp.as_protobuf(trace, [span])))
    check(received, span, trace)
    assert json.dumps(otlp.as_json(trace, [span]))


def test_a_refusal_is_told_without_the_secrets_of_the_address(collector: Collector) -> None:
    collector.status = 401
    host = collector.url.partition("//")[2]
    with pytest.raises(ArtifactError, match="answered 401") as caught:
        send(f"http://user:secret@{host}/v1/traces", b"", "application/json")
    assert "secret" not in str(caught.value)


def test_a_redirect_is_not_followed(collector: Collector) -> None:
    collector.status = 302
    with pytest.raises(ArtifactError, match="answered 302"):
        send(collector.url, b"x", "application/json")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://example.org/", "http://", "collector"])
def test_only_web_addresses_are_sent_to(address: str) -> None:
    with pytest.raises(ArtifactError, match="no http or https address"):
        send(address, b"", "application/json")


def test_nobody_there_is_told_after_as_many_tries() -> None:
    with pytest.raises(ArtifactError, match="cannot be reached.*, 3 times"):
        send("http://127.0.0.1:9/v1/traces", b"", "application/json", waits_s=(0, 0))


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("mlmodelscope.provision.send.time.sleep", waits.append)
    return waits


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_receiver_is_asked_again(collector: Collector, slept: list[float], status: int) -> None:
    collector.first = [status, status]
    send(collector.url, b"x", "application/json")
    assert len(collector.received) == 3 and slept == [0.5, 1.0]


def test_it_waits_as_long_as_the_receiver_says_and_not_for_ever(collector: Collector, slept: list[float]) -> None:
    collector.first, collector.retry_after = [503], "7"
    send(collector.url, b"x", "application/json")
    collector.first, collector.retry_after = [429], "86400"
    send(collector.url, b"x", "application/json")
    collector.first, collector.retry_after = [429], "Wed, 21 Oct 2015 07:28:00 GMT"
    send(collector.url, b"x", "application/json")
    assert slept == [7.0, 30.0, 0.5]


def test_a_receiver_that_stays_busy_is_given_up(collector: Collector, slept: list[float]) -> None:
    collector.status = 503
    with pytest.raises(ArtifactError, match="answered 503.*, 4 times"):
        send(collector.url, b"x", "application/json")
    assert len(collector.received) == 4 and len(slept) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_final_answer_is_not_asked_for_again(collector: Collector, slept: list[float], status: int) -> None:
    collector.status = status
    with pytest.raises(ArtifactError, match=f"answered {status}"):
        send(collector.url, b"x", "application/json")
    assert len(collector.received) == 1 and not slept


def test_what_is_packed_is_unpacked_there_or_sent_plainly(collector: Collector) -> None:
    send(collector.url, b"x" * 5000, "application/json", compress=True)
    collector.first = [415]
    send(collector.url, b"y", "application/json", compress=True)
    assert [body[:1] for _, _, body in collector.received] == [b"x", b"y", b"y"]
    assert [each["Content-Encoding"] for each in collector.headers] == ["gzip", "gzip", None]
    assert int(collector.headers[0]["Content-Length"]) < 100


def test_the_address_may_come_from_opentelemetrys_own_variables() -> None:
    said = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://host:4318/", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c,x-key=1"}
    assert otlp.receiver_of("env", said) == otlp.Receiver("http://host:4318/v1/traces", {"a": "b c", "x-key": "1"})
    exact = {**said, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://host/in", "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    assert otlp.receiver_of("env", exact) == otlp.Receiver("http://host/in", {"a": "b c", "x-key": "1"}, False)
    assert otlp.receiver_of("http://other", said).url == "http://other/v1/traces"
    assert otlp.receiver_of("http://other/here", {}) == otlp.Receiver("http://other/here", {})


@pytest.mark.parametrize("said", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a"}])
def test_variables_that_do_not_say_enough_are_refused(said: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP"):
        otlp.receiver_of("env", said)


def test_spans_that_a_receiver_rejects_are_counted() -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    answer = service.ExportTraceServiceResponse()
    assert otlp.rejected(answer.SerializeToString(), "application/x-protobuf") == (0, "")
    answer.partial_success.rejected_spans = 3
    answer.partial_success.error_message = "too old"
    assert otlp.rejected(answer.SerializeToString(), "application/x-protobuf") == (3, "too old")
    written = b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "no"}}'
    assert otlp.rejected(written, "application/json") == (2, "no")
    for strange in (b"[]", b"{", b"<html>", b"\xff"):
        assert otlp.rejected(strange, "application/json") == otlp.rejected(strange, "text/html") == (0, "")


def test_the_command_says_what_was_rejected(
    collector: Collector, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.answer = b"\x0a\x06\x08\x02\x12\x02no"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
    send_to(toy(), collector.url, Settings.from_environment())
    assert "of these 2 were rejected: no" in capsys.readouterr().err
    assert collector.headers[0]["x-key"] == "secret" and collector.received[0][0] == "/v1/traces"
