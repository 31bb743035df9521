"""Methods about records of others, and which stay. Bundles come in over HTTP alone, where they can be long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import hub

Asked = Mapping[str, Any]


def list_keys(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return hub.keys(desk, person)


def get_origin(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return hub.origin(desk, person, _name(asked))


def pin_record(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return hub.pin(desk, person, _name(asked), asked.get("pinned", True))


def _name(asked: Asked) -> str:
    name = str(asked.get("name", ""))
    if not 0 < len(name) <= 300:
        raise UsageError("`name` is missing, or too long")
    return name


HUB_CALLS: dict[str, Callable[[Desk, Person, Asked], Mapping[str, Any]]] = {
    "ListKeys": list_keys,
    "GetOrigin": get_origin,
    "PinRecord": pin_record,
}
