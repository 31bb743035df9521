"""What a caller asked, read with care: texts that must be there, words of a few, numbers within bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.request import Request
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk

Asked = Mapping[str, Any]
Call = Callable[[Desk, Person, Asked], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
MOST = 1000
LONGEST_KEY = 200


def said(asked: Asked, name: str, longest: int = 300) -> str:
    """A text that must be there."""
    found = str(asked.get(name, ""))
    if not found:
        raise UsageError(f"`{name}` is missing")
    if len(found) > longest:
        raise UsageError(f"`{name}` has {len(found)} characters, {longest} are the most")
    return found


def choice(asked: Asked, name: str, known: Sequence[str]) -> str | None:
    """One of a few words, or nothing."""
    found: str | None = asked.get(name)
    if found is not None and found not in known:
        raise UsageError(f"`{name}` is `{found[:60]}`\nknown: {', '.join(known)}")
    return found


def limit_of(asked: Asked, otherwise: int, most: int = MOST) -> int:
    limit: int = asked.get("limit", otherwise)
    if not 1 <= limit <= most:
        raise UsageError(f"`limit` is {limit}, it must be from 1 to {most}")
    return limit


def request_of(asked: Asked, kind: type[Request] = Request) -> Request:
    request = dict(asked.get("request", {}))
    for name in ("model", "dataset", "software", "hardware"):
        if name in request:  # a name stands for itself, a text is kept apart from names
            request[name] = request[name].get("name", request[name])
    try:
        return kind.model_validate(request)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None
