"""The schema of what an author may write, for editors: the manifest's fields with the steps' own parameters."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.schema import KINDS
from mlmodelscope_worker.output import OUTPUT_STEPS
from mlmodelscope_worker.parameters import Declaration
from mlmodelscope_worker.pipeline import STEPS


def manifest_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of one kind of manifest."""
    schema = KINDS[kind].model_json_schema(by_alias=False)
    if kind != "model":
        return _published(schema, kind)
    parts = schema["$defs"]
    for layer, steps in (("Input", STEPS), ("Output", OUTPUT_STEPS)):
        allowed = _steps_schema(steps)
        if layer == "Output":  # the papers write these inside `processing`
            for field in ("features_url", "features_checksum", "label_offset"):
                allowed["anyOf"][0]["properties"][field] = parts[layer]["properties"][field]
        described = parts[layer]["properties"]["processing"].get("description", "")
        parts[layer]["properties"]["processing"] = {**allowed, "description": described}
    parts.pop("Step", None)
    return _published(schema, "model")


def _steps_schema(steps: dict[str, Declaration]) -> dict[str, Any]:
    properties = {name: declaration.schema() for name, declaration in sorted(steps.items())}
    one = {"type": "object", "properties": properties, "additionalProperties": False}
    several = {
        "type": "array",
        "items": {"anyOf": [{"enum": sorted(steps)}, {**one, "minProperties": 1, "maxProperties": 1}]},
    }
    return {"anyOf": [dict(one, properties=dict(properties)), several, {"type": "null"}]}


def _published(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    # The word `license` is as welcome as `licence`.
    schema["properties"]["license"] = schema["properties"]["licence"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"MLModelScope {kind} manifest"} | {
        key: value for key, value in schema.items() if key != "title"
    }
