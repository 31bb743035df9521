"""V0, the flat form of 2017: `framework: mxnet` is a word, files are `graph_url`, `weights_url` or `trained_url`.

The very oldest files have no input and no output; `model` and `weights` are the addresses of their files, `dataset` is
the name of the training set.
"""

from __future__ import annotations

from mlmodelscope.manifest.dialect import v1
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import attributes_of, mend_keys, rename
from mlmodelscope.manifest.source import SourceMap, is_empty

_OLDEST = {"model": "graph_url", "weights": "weights_url", "dataset": "dataset_name"}
_KEYS = (
    *_OLDEST,
    "type",
    "input",
    "output",
    "dataset_name",
    "features_url",
    "graph_url",
    "weights_url",
    "trained_url",
    "mean_image",
)


def recognise(data: SourceMap) -> bool:
    if "inputs" in data or "outputs" in data:
        return False
    model = data.get("model")
    return isinstance(data.get("framework"), str) or (isinstance(model, str) and "://" in model)


def convert(data: SourceMap, notes: Notes) -> SourceMap:
    """V0 says the same as V1 with fewer words: bring it there, and read that."""
    mend_keys(data, (*_KEYS, *v1.TOP_LEVEL), notes)
    for old, new in _OLDEST.items():
        if isinstance(data.get(old), str):
            rename(data, old, new)
    v1.nest_framework(data)
    _add_layers(data, notes)
    _nest_layer(data, "input", ("dimensions", "mean_image", "mean", "scale", "layout", "color_mode"))
    if "mean_image" in data and isinstance(data.get("input"), SourceMap):
        _move_into(data, "mean_image", data["input"], "parameters")
    _nest_layer(data, "output", ())
    for key in ("features_url", "features_checksum"):
        if key in data and isinstance(data.get("output"), SourceMap):
            _move_into(data, key, data["output"], "parameters")
    model = SourceMap()
    model.place = data.place
    for old, new in (("graph_url", "graph_path"), ("weights_url", "weights_path"), ("trained_url", "graph_path")):
        for suffix in ("", "_checksum"):
            source = old if not suffix else old.replace("_url", suffix)
            target = new if not suffix else new.replace("_path", suffix)
            if source in data and target not in model:
                if old == "trained_url" and not suffix:
                    notes.add(
                        "unclear", "`trained_url` is taken for the model's file; it may be a page", data.places[source]
                    )
                data.move(source, model, target)
    if model and "model" not in data:
        data.put("model", model, next(iter(model.places.values())))
    attributes = attributes_of(data)
    if "dataset_name" in data and "training_dataset" not in attributes:
        data.move("dataset_name", attributes, "training_dataset")
    if "type" in data and "kind" not in attributes:
        data.move("type", attributes, "kind")
    rename(data, "input", "inputs")
    return v1.convert(data, notes)


def _add_layers(data: SourceMap, notes: Notes) -> None:
    """What goes in and comes out, where it is not written: a picture, and classes where a list of them is named."""
    if any(key in data for key in ("source", "run", "preprocess", "postprocess")):
        return  # not V0 alone: what is missing is missing
    if "input" not in data:
        layer = SourceMap()
        layer.place = data.place
        layer.put("type", "image", data.place, "V0's models take pictures")
        notes.add("unclear", "no input is written: it is taken for a picture, whose size is not known", data.place)
        data.put("input", layer, data.place)
    if "output" not in data:
        layer = SourceMap()
        reason = next((key for key in ("features_url", "dataset_name") if not is_empty(data.get(key))), None)
        layer.place = data.places[reason] if reason else data.place
        layer.put("type", "label" if reason else "general", layer.place)
        what = f"classification: `{reason}` names classes" if reason else "general: nothing says what the model answers"
        notes.add("implied" if reason else "unclear", f"no output is written; the task is {what}", layer.place)
        data.put("output", layer, layer.place)


def _nest_layer(data: SourceMap, key: str, parameters: tuple[str, ...]) -> None:
    layer = data.get(key)
    if isinstance(layer, SourceMap):
        for name in parameters:
            if name in layer:
                _move_into(layer, name, layer, "parameters")


def _move_into(holder: SourceMap, key: str, layer: SourceMap, block: str) -> None:
    inner = layer.get(block)
    if not isinstance(inner, SourceMap):
        inner = SourceMap()
        inner.place = holder.places[key]
        layer.put(block, inner, inner.place)
    holder.move(key, inner)
