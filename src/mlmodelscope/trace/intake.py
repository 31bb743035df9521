"""Spans that others send, in OpenTelemetry's own form: read one by one, so that one that is wrong costs no other.

https://opentelemetry.io/docs/specs/otlp/. What comes in is a document with the field names of trace.proto; JSON, which
writes them in another way, is brought to that form first.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.trace.span import LEVELS

MOST_TRACES = 100
"""Traces that one message may belong to; each is a folder."""
_LONGEST_NAME = 500
_LONGEST_VALUE = 4096
_LONGEST_WORDS = 65_536
_MOST_ATTRIBUTES = 128
_MOST_EVENTS = 128
_DEEPEST = 6
_OURS = "mlmodelscope."
_KINDS = {2: "server", 3: "client", 4: "producer", 5: "consumer"}
_LATEST_NS = 1 << 62


@dataclass(frozen=True, slots=True)
class Row:
    """A span as it is kept; times are nanoseconds since 1970."""

    id: str
    parent: str | None
    name: str
    level: str
    start_ns: int
    end_ns: int
    attributes: str | None


@dataclass
class Arrived:
    """The spans of one trace in one message."""

    rows: list[Row] = field(default_factory=list)
    resource: dict[str, str] = field(default_factory=dict)


@dataclass
class Message:
    """What a message holds, and what of it cannot be kept."""

    traces: dict[str, Arrived] = field(default_factory=dict)
    rejected: int = 0
    reason: str = ""

    def reject(self, reason: str, count: int = 1) -> None:
        self.rejected += count
        self.reason = self.reason or reason


def read_message(document: Mapping[str, Any]) -> Message:
    """Every span that can be kept, by its trace."""
    message = Message()
    for group in _list(document, "resource_spans"):
        resource = _attributes(_map(_map(group).get("resource")))
        words = {key: str(value)[:_LONGEST_VALUE] for key, value in resource.items()}
        for inner in _list(group, "scope_spans"):
            for span in _list(inner, "spans"):
                try:
                    trace, row = _row(_map(span), words)
                except ValueError as error:
                    message.reject(str(error))
                    continue
                if trace not in message.traces and len(message.traces) >= MOST_TRACES:
                    message.reject(f"more than {MOST_TRACES} traces in one message")
                    continue
                arrived = message.traces.setdefault(trace, Arrived())
                arrived.rows.append(row)
                arrived.resource |= words
    return message


def document_of_json(text: bytes) -> Mapping[str, Any]:
    """OTLP's JSON in the words of the .proto files; UsageError where it is none."""
    try:
        found = _snake(json.loads(text or b"{}"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError("this is not an ExportTraceServiceRequest")
    return found


def _snake(value: Any) -> Any:
    if isinstance(value, dict):
        return {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key): _snake(each) for key, each in value.items()}
    return [_snake(each) for each in value] if isinstance(value, list) else value


def _row(span: Mapping[str, Any], resource: Mapping[str, str]) -> tuple[str, Row]:
    trace, identity = _id(span.get("trace_id"), 16, "trace_id"), _id(span.get("span_id"), 8, "span_id")
    parent = span.get("parent_span_id")
    start, end = _moment(span, "start_time_unix_nano"), _moment(span, "end_time_unix_nano")
    if end < start:
        raise ValueError("a span ends before it starts")
    said = _attributes(span)
    level = said.pop(f"{_OURS}level", "application")
    facts: dict[str, Any] = {key.removeprefix(_OURS): value for key, value in said.items()}
    if resource.get("service.name", "mlmodelscope") != "mlmodelscope":
        facts.setdefault("service.name", resource["service.name"])
    facts |= _more(span, start)
    words = json.dumps(facts, separators=(",", ":")) if facts else None
    if words is not None and len(words) > _LONGEST_WORDS:
        raise ValueError("a span has attributes of more than 64 KiB")
    return trace, Row(
        identity,
        _id(parent, 8, "parent_span_id") if parent else None,
        _text(span.get("name") or "", _LONGEST_NAME) or "span",
        level if level in LEVELS[1:] else "application",
        start,
        end,
        words,
    )


def _more(span: Mapping[str, Any], start: int) -> Iterator[tuple[str, Any]]:
    """What OpenTelemetry knows of a span beyond ours, where it says something."""
    kind, status = span.get("kind"), _map(span.get("status"))
    if isinstance(kind, str):  # JSON may have its name
        kind = {f"SPAN_KIND_{name.upper()}": number for number, name in _KINDS.items()}.get(kind)
    if kind in _KINDS:
        yield "otel.kind", _KINDS[kind]
    if status.get("code") in (2, "STATUS_CODE_ERROR"):
        yield "otel.status", "error"
        if status.get("message"):
            yield "otel.status_message", _text(status["message"], _LONGEST_VALUE)
    events = []
    for event in _list(span, "events")[:_MOST_EVENTS]:
        found = _map(event)
        at = _moment(found, "time_unix_nano") - start
        events.append({"name": _text(found.get("name") or "", _LONGEST_NAME), "at_ns": at, **_attributes(found)})
    if events:
        yield "events", events


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for pair in _list(holder, "attributes")[:_MOST_ATTRIBUTES]:
        known = _map(pair)
        found[_text(known.get("key") or "", _LONGEST_NAME)] = _value(_map(known.get("value")), 0)
    return found


def _value(value: Mapping[str, Any], depth: int) -> Any:
    for name, inner in value.items():
        if depth > _DEEPEST:
            return "…"
        if name == "string_value":
            return _text(inner, _LONGEST_VALUE)
        if name == "bool_value":
            return bool(inner)
        if name == "int_value":
            return _integer(inner)
        if name == "double_value":
            number = _number(inner)
            return number if math.isfinite(number) else str(number)
        if name == "bytes_value":
            return inner if isinstance(inner, str) else base64.b64encode(bytes(inner)[:_LONGEST_VALUE]).decode()
        if name == "array_value":
            return [_value(_map(each), depth + 1) for each in _list(_map(inner), "values")[:_MOST_ATTRIBUTES]]
        if name == "kvlist_value":
            pairs = _list(_map(inner), "values")[:_MOST_ATTRIBUTES]
            return {str(_map(each).get("key")): _value(_map(_map(each).get("value")), depth + 1) for each in pairs}
    return ""


def _id(value: Any, size: int, name: str) -> str:
    try:
        found = bytes.fromhex(value) if isinstance(value, str) else bytes(value or b"")
    except (ValueError, TypeError, binascii.Error):
        found = b""
    if len(found) != size or not any(found):
        raise ValueError(f"`{name}` of a span is not {size} bytes")
    return found.hex()


def _moment(holder: Mapping[str, Any], name: str) -> int:
    found = _integer(holder.get(name, 0))
    if not 0 <= found < _LATEST_NS:
        raise ValueError(f"`{name}` of a span is not a moment")
    return found


def _integer(value: Any) -> int:
    if isinstance(value, (int, str)) and re.fullmatch(r"-?\d{1,20}", str(value)):
        return max(-(1 << 63), min(int(value), (1 << 63) - 1))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    raise ValueError("a whole number of a span is none")


def _number(value: Any) -> float:
    try:
        return float(value)  # JSON writes "NaN" and "Infinity" as texts
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a number of a span is none") from None


def _text(value: Any, longest: int) -> str:
    """Without what no database keeps: NUL, and halves of characters."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", str(value)[:longest])


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(holder: Any, name: str) -> list[Any]:
    found = _map(holder).get(name)
    return found if isinstance(found, list) else []
