"""OpenTelemetry's own form (OTLP): what any collector takes, as JSON or as protocol buffers.

https://opentelemetry.io/docs/specs/otlp/; the field numbers are those of opentelemetry/proto/trace/v1/trace.proto.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from mlmodelscope.errors import UsageError
from mlmodelscope.provision.weights.protobuf_wire import (
    FIXED64,
    VARINT,
    read_fields,
    write_bytes_header,
    write_varint,
)
from mlmodelscope.trace.caller import CALLED_BY, parse_traceparent
from mlmodelscope.trace.span import Span, Trace
from mlmodelscope_worker import __version__

SPANS_AT_ONCE = 2000
"""Collectors take messages of 4 MiB at least: so many spans stay well below that."""

_INTERNAL = 1
_SCOPE = "mlmodelscope"


def write_otlp(trace: Trace) -> str:
    return json.dumps(as_json(trace, trace.spans), separators=(",", ":"))


def messages(trace: Trace) -> Iterator[bytes]:
    """The trace as messages of protocol buffers, of a size that collectors take."""
    for start in range(0, len(trace.spans), SPANS_AT_ONCE):
        yield as_protobuf(trace, trace.spans[start : start + SPANS_AT_ONCE])


@dataclass(frozen=True)
class Receiver:
    """Where traces are sent, and what is said with each message."""

    url: str
    headers: Mapping[str, str]
    compress: bool = True


def receiver_of(address: str, environment: Mapping[str, str]) -> Receiver:
    """An address without a path is that of a collector. `env` stands for what OpenTelemetry's own variables say, whose
    headers and compression hold for any address."""

    def said(name: str) -> str:
        return environment.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or environment.get(f"OTEL_EXPORTER_OTLP_{name}", "")

    headers = {}
    for pair in filter(None, said("HEADERS").split(",")):
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError("OTEL_EXPORTER_OTLP_HEADERS is no list of name=value, separated by commas")
        headers[unquote(name.strip())] = unquote(value.strip())
    if address == "env":
        exact = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        base = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        if not exact and not base:
            raise UsageError(
                "`--otlp env` needs OTEL_EXPORTER_OTLP_ENDPOINT", hint="or name it: --otlp http://host:4318"
            )
        url = exact or f"{(base or '').rstrip('/')}/v1/traces"
    else:
        url = f"{address.rstrip('/')}/v1/traces" if urlsplit(address).path in ("", "/") else address
    return Receiver(url, headers, said("COMPRESSION") != "none")


def rejected(body: bytes, content_type: str) -> tuple[int, str]:
    """How many spans a receiver took the message without, and why: `partial_success` of its answer."""
    try:
        if content_type == "application/json":
            partial = (json.loads(body or b"{}") or {}).get("partialSuccess") or {}
            return int(partial.get("rejectedSpans", 0)), str(partial.get("errorMessage", ""))
        count, reason = 0, ""
        for outer in read_fields(memoryview(body)):
            for field in read_fields(outer.content()) if outer.number == 1 else ():
                if field.number == 1:
                    count = field.integer()
                elif field.number == 2:
                    reason = field.text()
        return count, reason
    except (ValueError, AttributeError, TypeError):
        return 0, ""  # an answer in words of its own; that it took the message is said by its status


def in_callers_trace(trace: Trace, spans: Sequence[Span]) -> list[Span]:
    """The spans as part of the trace that asked for them, below the span that did; as they are where none did.

    Their own ids stay: they follow from the record, so that several profiles may join one trace.
    """
    caller = parse_traceparent(trace.resource.get(CALLED_BY))
    if caller is None or _prefix(trace) == "":
        return list(spans)
    return [replace(span, trace_id=caller.trace_id, parent=span.parent or caller.span_id) for span in spans]


def as_json(trace: Trace, spans: Sequence[Span]) -> dict[str, Any]:
    """An ExportTraceServiceRequest; OTLP writes ids as hexadecimal digits and 64-bit numbers as text."""
    spans = in_callers_trace(trace, spans)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [_pair(*each) for each in _resource(trace).items()]},
                "scopeSpans": [
                    {
                        "scope": {"name": _SCOPE, "version": __version__},
                        "spans": [_span_json(span, trace.began_unix_ns, _prefix(trace)) for span in spans],
                    }
                ],
            }
        ]
    }


def _resource(trace: Trace) -> dict[str, str]:
    return {"service.name": "mlmodelscope", "service.version": __version__, **dict(trace.resource)}


def _prefix(trace: Trace) -> str:
    """Before the names of attributes: ours say whose they are, those of other people's spans are as they came."""
    return "mlmodelscope." if trace.resource.get("service.name", _SCOPE) == _SCOPE else ""


def _attributes(span: Span, prefix: str) -> dict[str, Any]:
    return {"mlmodelscope.level": span.level, **{f"{prefix}{key}": each for key, each in span.attributes.items()}}


def _span_json(span: Span, began_ns: int, prefix: str) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(began_ns + span.start_ns),
        "endTimeUnixNano": str(began_ns + span.end_ns),
        "attributes": [_pair(*each) for each in _attributes(span, prefix).items()],
    }


def _pair(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": _value(value)}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": [_pair(str(key), each) for key, each in value.items()]}}
    return {"stringValue": str(value)}


def as_protobuf(trace: Trace, spans: Sequence[Span]) -> bytes:
    """The same ExportTraceServiceRequest, byte by byte."""
    spans = in_callers_trace(trace, spans)
    resource = _join(_message(1, _pair_bytes(*each)) for each in _resource(trace).items())
    scope = _text(1, _SCOPE) + _text(2, __version__)
    inside = _message(1, scope) + _join(
        _message(2, _span_bytes(span, trace.began_unix_ns, _prefix(trace))) for span in spans
    )
    return _message(1, _message(1, resource) + _message(2, inside))


def _span_bytes(span: Span, began_ns: int, prefix: str) -> bytes:
    return _join(
        [
            _message(1, bytes.fromhex(span.trace_id)),
            _message(2, bytes.fromhex(span.id)),
            _message(4, bytes.fromhex(span.parent)) if span.parent else b"",
            _text(5, span.name),
            _number(6, _INTERNAL),
            _fixed(7, began_ns + span.start_ns),
            _fixed(8, began_ns + span.end_ns),
            *(_message(9, _pair_bytes(*each)) for each in _attributes(span, prefix).items()),
        ]
    )


def _pair_bytes(key: str, value: Any) -> bytes:
    return _text(1, key) + _message(2, _value_bytes(value))


def _value_bytes(value: Any) -> bytes:
    if isinstance(value, bool):
        return _number(2, int(value))
    if isinstance(value, int):
        return _number(3, value)
    if isinstance(value, float):
        return write_varint(4 << 3 | FIXED64) + struct.pack("<d", value)
    if isinstance(value, (list, tuple)):
        return _message(5, _join(_message(1, _value_bytes(each)) for each in value))
    if isinstance(value, Mapping):
        return _message(6, _join(_message(1, _pair_bytes(str(key), each)) for key, each in value.items()))
    return _text(1, str(value))


def _join(parts: Any) -> bytes:
    return b"".join(parts)


def _message(number: int, content: bytes) -> bytes:
    return write_bytes_header(number, len(content)) + content


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8", "replace"))


def _number(number: int, value: int) -> bytes:
    return write_varint(number << 3 | VARINT) + write_varint(value)


def _fixed(number: int, value: int) -> bytes:
    return write_varint(number << 3 | FIXED64) + struct.pack("<Q", value)
