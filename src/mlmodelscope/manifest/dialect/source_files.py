"""Old words for where a model's files are: `model{base_url, graph_path, weights_path, is_archive}` becomes `source`."""

from __future__ import annotations

import re
from typing import Any

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import attributes_of, drop_empty, keep_unknown, mend_keys, rename, take
from mlmodelscope.manifest.source import Place, SourceMap

_KNOWN = (
    "base_url",
    "graph_path",
    "graph_checksum",
    "weights_path",
    "weights_checksum",
    "features_path",
    "features_checksum",
    "is_archive",
    "onnx_url",
    "onnx_checksum",
    "checkpoint",
    "checkpoint_checksum",
    "checksum",
    "model_type",
)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
ARCHIVE = re.compile(r"\.(zip|whl|tar|tar\.gz|tgz|tar\.bz2|tbz2|tar\.xz|txz)$", re.IGNORECASE)


def read_model_block(data: SourceMap, notes: Notes) -> None:
    """Turn a `model` block into `source`; features named there go to the first output."""
    block = data.get("model")
    if "source" in data or not isinstance(block, SourceMap):
        return
    mend_keys(block, _KNOWN, notes)
    for key in list(block):
        drop_empty(block, key)
    place = data.places["model"]
    base, archived = _text(take(block, "base_url")), _is_archive(block, notes)
    _prefer_onnx(block, notes)
    archived = _read_checkpoint(block, archived, notes)
    rename(block, "checksum", "graph_checksum")
    source = SourceMap()
    source.place = place
    for role in ("graph", "weights"):
        _move_file(block, role, base, archived, source, notes)
    if "graph_path" not in source and "weights_path" in source:
        at = source.places["weights_path"]
        for kind in ("path", "checksum"):
            if f"weights_{kind}" in source:
                source.move(f"weights_{kind}", source, f"graph_{kind}")
        notes.add("implied", "there is no `graph_path`: the weights file is taken for the whole model", at)
    if "graph_path" not in source and base:
        source.put("graph_path", base, place, "is the `base_url`: no file is named")
    _move_features(data, block, base, archived, notes)
    take(data, "model")
    data.put("source", source, place)
    if block:
        keep_unknown(block, (), attributes_of(data), notes, "model.")


def _is_archive(block: SourceMap, notes: Notes) -> bool:
    place = block.places.get("is_archive", block.place)
    written = take(block, "is_archive")
    if written is None or isinstance(written, bool):
        return bool(written)
    if str(written).strip().lower() not in ("true", "yes", "false", "no"):
        notes.add("unclear", f"`is_archive: {written}` is neither true nor false, and taken for false", place)
    return str(written).strip().lower() in ("true", "yes")


def _prefer_onnx(block: SourceMap, notes: Notes) -> None:
    if "onnx_url" in block and "graph_path" not in block:
        notes.add("implied", "the ONNX file is the model", block.places["onnx_url"])
        block.move("onnx_url", block, "graph_path")
        if "onnx_checksum" in block:
            block.move("onnx_checksum", block, "graph_checksum")


def _read_checkpoint(block: SourceMap, archived: bool, notes: Notes) -> bool:
    """The oldest V1 names one file, often an archive that holds a folder; returns whether paths lie in an archive."""
    if "checkpoint" not in block or "graph_path" in block:
        return archived
    place, written = block.places["checkpoint"], _text(block["checkpoint"]).strip()
    if "checkpoint_checksum" in block:
        rename(block, "checkpoint_checksum", "graph_checksum")
    if archived and "#" not in written:
        if ARCHIVE.search(written.partition("?")[0]):
            notes.add("implied", "the checkpoint is an archive: the model is the folder in it", place)
            written += "#/"
        else:
            notes.add("unclear", f"`is_archive` is set, but {written} does not look like an archive", place)
    block["checkpoint"] = written
    block.move("checkpoint", block, "graph_path")
    return False


def _move_file(block: SourceMap, role: str, base: str, archived: bool, source: SourceMap, notes: Notes) -> None:
    path, checksum = f"{role}_path", f"{role}_checksum"
    if path in block:
        block[path] = _join(base, _text(block[path]), archived, block.places[path], notes)
        block.move(path, source)
    if checksum in block:
        if isinstance(block[checksum], str):
            block[checksum] = block[checksum].strip()
        block.move(checksum, source)


def _move_features(data: SourceMap, block: SourceMap, base: str, archived: bool, notes: Notes) -> None:
    outputs = data.get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs and isinstance(outputs[0], SourceMap) else None
    if first is None or "features_path" not in block:
        return
    if "features_url" not in first:
        block["features_path"] = _join(
            base, _text(block["features_path"]), archived, block.places["features_path"], notes
        )
        block.move("features_path", first, "features_url")
        if "features_checksum" in block and "features_checksum" not in first:
            block.move("features_checksum", first)


def _join(base: str, path: str, archived: bool, place: Place, notes: Notes) -> str:
    path = path.strip()
    if archived and base:
        if not ARCHIVE.search(base.partition("?")[0]):
            notes.add("unclear", f"`is_archive` is set, but {base} does not look like an archive", place)
            return f"{base.rstrip('/')}/{path}" if not _ABSOLUTE.match(path) else path
        return f"{base}#{path.lstrip('/')}" if not _ABSOLUTE.match(path) else path
    if archived:
        notes.add("unclear", "`is_archive` is set without a `base_url`: the file is taken as it is", place)
    if not base or _ABSOLUTE.match(path) or path.startswith("/"):
        return path
    return f"{base.rstrip('/')}/{path}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else str(getattr(value, "text", value))
