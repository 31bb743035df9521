"""What goes wrong, as a gRPC status: a code, a message for people, and in the trailing metadata the whole problem."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from starlette.exceptions import HTTPException

from mlmodelscope.ledger.manifests import Taken
from mlmodelscope.server.rest.problem import document, problem_of

_LOG = logging.getLogger("mlmodelscope.server")
_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.FAILED_PRECONDITION,
    410: grpc.StatusCode.ABORTED,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
    507: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
# Whoever receives more than 8 KiB of metadata may break the call off and never see the reason.
_LONGEST_MESSAGE = 2000
_LONGEST_PROBLEM = 3600


@dataclass(frozen=True)
class Status:
    """How a call ends that went wrong."""

    code: Any
    message: str
    trailing: tuple[tuple[str, str | bytes], ...]


def status_of(error: Exception) -> Status:
    found = _problem(error)
    code = _CODES.get(found["status"], grpc.StatusCode.INTERNAL)
    if found["title"] == Taken.__name__:
        code = grpc.StatusCode.ALREADY_EXISTS
    trailing: list[tuple[str, str | bytes]] = [("problem-bin", _packed(found))]
    if isinstance(error, HTTPException) and error.headers and "Retry-After" in error.headers:
        trailing.append(("retry-after", error.headers["Retry-After"]))
    return Status(code, _short(found["detail"], _LONGEST_MESSAGE), tuple(trailing))


def _problem(error: Exception) -> dict[str, Any]:
    if isinstance(error, DecodeError):
        return document(400, "Unreadable", "this is no message of the kind that is asked for")
    if isinstance(error, HTTPException):
        return document(error.status_code, "Error", str(error.detail))
    found = problem_of(error)
    if found is None:
        _LOG.error("a call failed", exc_info=error)
        return document(500, "Error", "something went wrong in the server; its log says more")
    return found


def _packed(problem: Mapping[str, Any]) -> bytes:
    """As JSON, with as much of the long parts as may be sent; `detail` has them in words."""
    kept = dict(problem)
    while len(packed := json.dumps(kept, ensure_ascii=False, default=str).encode()) > _LONGEST_PROBLEM:
        if "resolution" in kept:
            del kept["resolution"]
        elif len(kept.get("problems") or ()) > 1:
            kept["problems"] = kept["problems"][: len(kept["problems"]) // 2]
        elif "problems" in kept:
            del kept["problems"]
        elif kept["detail"] != (shorter := _short(kept["detail"], _LONGEST_MESSAGE)):
            kept["detail"] = shorter
        else:
            return json.dumps({key: kept[key] for key in ("type", "title", "status")}).encode()
    return packed


def _short(text: str, longest: int) -> str:
    """So many bytes of it at most, as they are sent: what is not plain ASCII takes three for each."""
    length = 0
    for place, letter in enumerate(text):
        length += 1 if " " <= letter <= "~" and letter != "%" else 3 * len(letter.encode(errors="replace"))
        if length > longest:
            return text[:place] + " …"
    return text
