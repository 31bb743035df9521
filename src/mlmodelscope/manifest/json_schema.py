"""The schema of what an author may write, for editors: the manifest's fields with the steps' own parameters."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.plugins.steps import ANSWER_STEPS, AUGMENTATIONS, OUTPUT_STEPS, STEPS
from mlmodelscope_worker.parameters import Declaration


def manifest_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of one kind of manifest."""
    schema = KINDS[kind].model_json_schema(by_alias=False)
    fields = schema["properties"]
    if kind == "software":
        fields["container"] = _or(fields["container"], {"type": "string"})
        fields["env"] = _variables(fields["env"])
    if kind != "model":
        return _finish(schema, kind)
    parts = schema["$defs"]
    fields["envvars"] = _variables(fields["envvars"])
    for layers, layer in (("inputs", "Input"), ("outputs", "Output")):
        fields[layers] = _or(fields[layers], {"$ref": f"#/$defs/{layer}"})
    _allow_papers_form(schema)
    for layer, steps in (("Input", STEPS), ("Output", OUTPUT_STEPS)):
        allowed = _steps_schema(steps.all())
        if layer == "Output":  # the papers write these inside `processing`
            for field in ("features_url", "features_checksum", "label_offset"):
                allowed["anyOf"][0]["properties"][field] = parts[layer]["properties"][field]
        described = parts[layer]["properties"]["processing"].get("description", "")
        parts[layer]["properties"]["processing"] = {**allowed, "description": described}
    described = fields["answer"].get("description", "")
    fields["answer"] = {**_steps_schema(ANSWER_STEPS.all()), "description": described}
    for key, steps in (("processing", STEPS), ("augmentation", AUGMENTATIONS)):
        described = parts["Training"]["properties"][key].get("description", "")
        parts["Training"]["properties"][key] = {**_steps_schema(steps.all()), "description": described}
    parts.pop("Step", None)
    return _finish(schema, "model")


def _or(schema: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    """The same field, which may be written in another form as well."""
    annotations = _annotations(schema)
    rest = {key: value for key, value in schema.items() if key not in annotations}
    return {"anyOf": [*rest.get("anyOf", [rest]), *others], **annotations}


def _annotations(schema: dict[str, Any]) -> dict[str, Any]:
    words = ("description", "title", "default")
    return {key: value for key, value in schema.items() if key in words}


def _variables(schema: dict[str, Any]) -> dict[str, Any]:
    """Environment variables: a mapping, or a list of one-key mappings; a value need not be quoted."""
    one = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
    annotations = _annotations(schema)
    return {"anyOf": [one, {"type": "array", "items": one}], **annotations}


def _allow_papers_form(schema: dict[str, Any]) -> None:
    """Containers and variables may stand inside the framework, as they do in the papers."""
    value = {"type": ["string", "number", "boolean"]}
    for part in ("Framework", "Images"):
        schema["$defs"][part]["patternProperties"] = {"^[A-Z][A-Z0-9_]+$": value}
    inside = schema["$defs"]["Framework"]["properties"]
    inside |= {key: schema["properties"][key] for key in ("container", "envvars")}
    images = schema["properties"]["container"]
    images["patternProperties"] = {"^[A-Z][A-Z0-9_]+$": value}


def _steps_schema(steps: dict[str, Declaration]) -> dict[str, Any]:
    properties = {name: declaration.schema() for name, declaration in sorted(steps.items())}
    one = {"type": "object", "properties": properties, "additionalProperties": False}
    several = {
        "type": "array",
        "items": {"anyOf": [{"enum": sorted(steps)}, {**one, "minProperties": 1, "maxProperties": 1}]},
    }
    return {"anyOf": [dict(one, properties=dict(properties)), several, {"type": "null"}]}


def _finish(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    # The word `licence` is accepted as well, and a manifest may say which kind it is.
    schema["properties"]["licence"] = {**schema["properties"]["license"], "description": "The same as `license`."}
    schema["properties"]["kind"] = {"const": kind, "description": "Which kind of manifest this is."}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"MLModelScope {kind} manifest"} | {
        key: value for key, value in schema.items() if key != "title"
    }
