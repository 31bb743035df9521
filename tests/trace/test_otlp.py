"""OTLP, to a real receiver: an HTTP server that reads it with OpenTelemetry's own classes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from timelines import large, toy

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.send import send
from mlmodelscope.trace import otlp
from mlmodelscope.trace.span import Span, Trace


class Collector:
    """Keeps what it is sent, as a collector would; answers with `status`."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, bytes]] = []
        self.status = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.received.append((self.path, self.headers["Content-Type"], body))
                self.send_response(outer.status)
                if outer.status == 302:
                    self.send_header("Location", "http://127.0.0.1:1/")
                self.send_header("Content-Length", "0")
                self.end_headers()

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


def test_nobody_there_is_told() -> None:
    with pytest.raises(ArtifactError, match="cannot be reached"):
        send("http://127.0.0.1:9/v1/traces", b"", "application/json")
