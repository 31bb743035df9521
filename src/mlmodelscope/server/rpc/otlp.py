"""OpenTelemetry's messages as documents, and back: the same over gRPC and in the body of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import traces
from mlmodelscope.trace.intake import read_message

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


def protobuf_document(body: bytes) -> Mapping[str, Any]:
    """An ExportTraceServiceRequest of protocol buffers; UsageError where these bytes are none."""
    try:
        from google.protobuf.message import DecodeError

        from mlmodelscope.server.rpc.convert import plain
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing on the server", hint="send JSON") from None
    try:
        found: Mapping[str, Any] = plain(_export().asked.FromString(body))
        return found
    except DecodeError:
        raise UsageError("this is not an ExportTraceServiceRequest") from None


def protobuf_answer(rejected: int, reason: str) -> bytes:
    from mlmodelscope.server.rpc.convert import fill

    return bytes(fill(_export().answered, _answer(rejected, reason)).SerializeToString())


def export(desk: Desk, person: Person, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    demand(person, "run")
    message = traces.take(desk, person, read_message(asked))
    return _answer(message.rejected, message.reason)


def _answer(rejected: int, reason: str) -> dict[str, Any]:
    return {"partial_success": {"rejected_spans": rejected, "error_message": reason}} if rejected else {}


def _export() -> Any:
    from mlmodelscope.server.rpc.messages import methods

    return next(method for method in methods() if method.service == SERVICE)
