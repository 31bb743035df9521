"""Between messages and what handlers take and give: plain dictionaries, lists, texts, numbers and moments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

Made = TypeVar("Made", bound=Message)


def plain(value: Any) -> Any:
    """A message without what was unspecified. Whole numbers in a document are whole again: it knows one kind only."""
    if isinstance(value, Mapping):  # a document (Struct) is one, too
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(inner) for inner in value]
    if isinstance(value, Message):
        if value.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
            return value.ToDatetime(tzinfo=UTC)
        return {field.name: plain(inner) for field, inner in value.ListFields()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def fill(kind: type[Made], document: Mapping[str, Any]) -> Made:
    """A message with what a handler answers; what the message has no field for is left out, and a test would tell."""
    message: Made
    if isinstance(document.get("data"), bytes):  # a piece of a file, which JSON could not hold
        message = kind(data=document["data"])
        return message
    message = kind()
    json_format.ParseDict(_spoken(document), message, ignore_unknown_fields=True)
    return message


def _spoken(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _spoken(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spoken(inner) for inner in value]
    if isinstance(value, datetime):  # one without a time zone comes from the database, which keeps UTC
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
