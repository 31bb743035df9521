"""What inputs and outputs of V1 have in common: `parameters`, element types, and keys that are kept though unknown."""

from __future__ import annotations

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    keep_unknown,
    take,
)
from mlmodelscope.manifest.schema.part import Part
from mlmodelscope.manifest.source import SourceMap

ELEMENT_TYPES = {
    word: word
    for word in ("float32", "float16", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64")
} | {"int64": "int64", "bool": "bool", "float": "float32", "double": "float64", "half": "float16", "string": "string"}


def take_parameters(layer: SourceMap) -> SourceMap:
    place = layer.places.get("parameters", layer.place)
    parameters = take(layer, "parameters")
    if isinstance(parameters, SourceMap):
        return parameters
    made = SourceMap()
    made.place = place
    if parameters is not None:
        made.put("parameters", parameters, place)
    return made


def keep_parameters(parameters: SourceMap, layer: SourceMap, notes: Notes, prefix: str) -> None:
    for key in list(parameters):
        drop_empty(parameters, key)
    if parameters:
        keep_unknown(parameters, (), attributes_of(layer), notes, prefix)


def keep_others(layer: SourceMap, schema: type[Part], notes: Notes, prefix: str) -> None:
    """Move a layer's keys that today's schema does not know to its attributes."""
    if any(key not in schema.model_fields for key in layer):
        keep_unknown(layer, schema.model_fields, attributes_of(layer), notes, prefix)
