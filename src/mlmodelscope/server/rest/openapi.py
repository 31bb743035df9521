"""The document that describes the API: short names for operations, and problems described as they are sent."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from mlmodelscope.server.rest.problem_answers import Problem

_REFERENCE = "#/components/schemas/{model}"
_WHAT_GOES_WRONG = ("4", "5")


def operation_name(route: APIRoute) -> str:
    """A client's function is called as ours is: `list_evaluations`."""
    return route.name


def describe_problems(app: FastAPI) -> None:
    """Have the document say that errors come as problem+json; FastAPI would leave them without a body."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _add_problems(make())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _add_problems(document: dict[str, Any]) -> None:
    schema = Problem.model_json_schema(ref_template=_REFERENCE)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name, inner in schema.pop("$defs", {}).items():
        schemas.setdefault(name, inner)
    schemas["Problem"] = schema
    _shorten(document)
    body = {"application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}}}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status.startswith(_WHAT_GOES_WRONG):
                    response["content"] = body


def _shorten(document: dict[str, Any]) -> None:
    """Names that people can type: `ManifestCpu`, where two are called alike, and not the whole way to it."""
    schemas = document["components"]["schemas"]
    short: dict[str, str] = {}
    for name in sorted(schemas):
        found = _short(name)
        while found != name and (found in schemas or found in short.values()):
            found += "_"
        short[name] = found
    text = json.dumps(document)
    for name, found in short.items():
        if found != name:
            text = text.replace(f'"{_REFERENCE.format(model=name)}"', f'"{_REFERENCE.format(model=found)}"')
    document.update(json.loads(text))
    document["components"]["schemas"] = {
        found: document["components"]["schemas"][name]
        for name, found in sorted(short.items(), key=lambda pair: pair[1])
    }


def _short(name: str) -> str:
    if name.startswith("mlmodelscope__"):
        _, package, *_, last = name.split("__")
        return package.title() + last
    inner = re.match(r"(\w+?)_Annotated_([A-Za-z]+)", name)
    return f"{inner[1]}{inner[2][0].upper()}{inner[2][1:]}" if inner else name
