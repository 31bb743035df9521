"""Where each value of a resolved manifest came from: a line of the file, its dialect, or a default."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from mlmodelscope.manifest.listing import OUTPUT_FIELDS
from mlmodelscope.manifest.load import Document
from mlmodelscope.manifest.schema import Manifest
from mlmodelscope.manifest.source import SourceList, SourceMap

DataPath = tuple[str | int, ...]


def resolve(document: Document) -> tuple[Manifest, dict[str, Any], dict[DataPath, str]]:
    """The manifest, everything explicit in the current format, and the origin of each value by its path."""
    written = copy.deepcopy(document.data)
    manifest = document.manifest()
    explicit = _authored(manifest.model_dump(mode="json", exclude_none=True, by_alias=False))
    for key in [key for key, value in explicit.items() if value in ([], {})]:
        del explicit[key]
    return manifest, explicit, dict(_origins(explicit, _listed(written), ()))


def _authored(value: Any) -> Any:
    """Steps as an author writes them."""
    if isinstance(value, dict):
        if value.keys() == {"name", "parameters"}:
            parameters = {key: item for key, item in value["parameters"].items() if item is not None}
            return {value["name"]: parameters}
        return {key: _authored(item) for key, item in value.items()}
    return [_authored(item) for item in value] if isinstance(value, list) else value


def _listed(written: SourceMap) -> SourceMap:
    """Steps written as a mapping, as the list that says the same."""
    for kind in ("inputs", "outputs"):
        layers = written.get(kind)
        if isinstance(layers, SourceMap):
            wrapped = SourceList()
            wrapped.put(layers, layers.place)
            written[kind] = layers = wrapped
        for layer in layers if isinstance(layers, list) else ():
            steps = layer.get("processing") if isinstance(layer, SourceMap) else None
            if isinstance(steps, SourceMap):
                for name in [each for each in OUTPUT_FIELDS if each in steps]:
                    steps.move(name, layer)  # they may stand among the steps, and belong to the output
                layer["processing"] = _as_list(steps)
    return written


def _as_list(steps: SourceMap) -> SourceList:
    listed = SourceList()
    for name in list(steps):
        one = SourceMap()
        steps.move(name, one)
        one.place = one.places[name]
        listed.put(one, one.place)
    return listed


def _origins(value: Any, written: Any, path: DataPath, above: str | None = None) -> Iterator[tuple[DataPath, str]]:
    """One origin for each scalar and short list; what stands in the file's own words is `line N`."""
    if isinstance(value, dict):
        for key, item in value.items():
            inner, origin = _look_up(written, key, above)
            if isinstance(item, dict) or (isinstance(item, list) and item and isinstance(item[0], dict)):
                yield from _origins(item, inner, (*path, key), origin if origin != "default" else None)
            else:
                yield (*path, key), origin
    elif isinstance(value, list):
        for index, item in enumerate(value):
            here = written[index] if isinstance(written, list) and index < len(written) else None
            if isinstance(item, dict):
                yield from _origins(item, here, (*path, index), above)


def _look_up(written: Any, key: str, above: str | None) -> tuple[Any, str]:
    if isinstance(written, SourceMap):
        for word in (key, "licence" if key == "license" else key):
            if word in written:
                reason = written.reasons.get(word)
                line = written.places[word][0]
                return written[word], f"implied: {reason}" if reason else f"line {line}" if line else "given"
        return None, "default"
    # `resize: 224` says the main parameter in a word, `container: image` all images at once.
    return written, "default" if written is None else above or "default"
