"""The ONNX model hub: `ONNX_HUB_MANIFEST.json`, with whole digests and the names and shapes of tensors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.errors import ManifestError
from mlmodelscope.model_file.limit import clean

_NAME = "*ONNX_HUB_MANIFEST.json"
_PLACE = "https://github.com/onnx/models/raw/main/"
_MOST_PORTS = 64
# Tags, the first that is there decides.
_TASKS = {
    "classification": "classification",
    "faster-rcnn": "object_detection",
    "mask-rcnn": "instance_segmentation",
    "fcn": "semantic_segmentation",
    "duc": "semantic_segmentation",
    "object detection segmentation": "object_detection",
    "super resolution": "image_enhancement",
    "fast neural style": "image_generation",
    "machine comprehension": "question_answering",
}


def _recognize(files: Files) -> bool:
    return bool(files.matching(_NAME))


@source_form("onnx", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """The ONNX hub's manifest."""
    for file in reading.files.matching(_NAME):
        try:
            data = json.loads(reading.files.read(file))
        except (ManifestError, ValueError, RecursionError):
            reading.leave_out("a manifest that cannot be read", file)
            continue
        for index, model in enumerate(data if isinstance(data, list) else []):
            place = f"{file}#{index}"
            entry = _entry(model, place) if isinstance(model, dict) else None
            if entry is None:
                reading.leave_out("a model without a path", place)
                continue
            yield entry


def _entry(model: Mapping[str, Any], place: str) -> Entry | None:
    path, about = model.get("model_path"), model.get("metadata")
    about = about if isinstance(about, dict) else {}
    if not isinstance(path, str) or not re.fullmatch(r"[\w./+-]{1,400}", path) or ".." in path:
        return None
    name = name_from(path.rpartition("/")[2].removesuffix(".onnx"))
    if name is None:
        return None
    sha256, size = about.get("model_sha"), about.get("model_bytes")
    listed = about.get("tags")
    tags = [clean(each)[:60] for each in listed[:20] if isinstance(each, str)] if isinstance(listed, list) else []
    weights = WeightsFact(
        _PLACE + path,
        sha256 if isinstance(sha256, str) and re.fullmatch(r"[0-9a-f]{64}", sha256) else "",
        size_bytes=size if isinstance(size, int) and 0 < size < 1 << 50 else 0,
    )
    return Entry(
        name,
        next((_TASKS[tag] for tag in tags if tag in _TASKS), "general"),
        architecture=clean(str(model.get("model") or ""))[:100],
        framework="onnxruntime",
        description=f"opset {_whole(model.get('opset_version'))}; {', '.join(tags)}"[:200],
        code_license="Apache-2.0",
        weights=(weights,),
        tensors={key: made for key in ("inputs", "outputs") if (made := _ports(about, key))},
        references=("https://github.com/onnx/models",),
        place=place,
    )


def _whole(value: Any) -> str:
    return str(value) if isinstance(value, int) and 0 < value < 1000 else "unknown"


def _ports(about: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Names, shapes and types; what differs from a whole number is an open size."""
    ports = about.get("io_ports")
    listed = ports.get(key) if isinstance(ports, dict) else None
    found = []
    for each in listed[:_MOST_PORTS] if isinstance(listed, list) else []:
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            continue
        shape = each.get("shape")
        sizes = [size if _is_size(size) else -1 for size in shape[:16]] if isinstance(shape, list) else []
        found.append({"name": clean(each["name"])[:200], "shape": sizes, "type": clean(str(each.get("type")))[:40]})
    return found


def _is_size(size: Any) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and 0 < size < 1 << 31
