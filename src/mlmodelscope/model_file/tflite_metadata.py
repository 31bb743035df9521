"""The words that a TensorFlow Lite model carries: names, how its input was normalized, and files of labels."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.flatbuffer import Table, root_table
from mlmodelscope.model_file.labels import labels_from_lines
from mlmodelscope.model_file.limit import MAX_TENSORS, MAX_TEXT_BYTES, Budget, clean, quote
from mlmodelscope.model_file.model_file import ModelFileError

METADATA_NAME = "TFLITE_METADATA"

_MODEL_NAME, _MODEL_DESCRIPTION, _MODEL_VERSION, _MODEL_SUBGRAPHS, _MODEL_AUTHOR, _MODEL_LICENSE = range(6)
_SUBGRAPH_INPUTS, _SUBGRAPH_OUTPUTS = 2, 3
_TENSOR_NAME, _TENSOR_DESCRIPTION, _TENSOR_CONTENT, _TENSOR_UNITS, _TENSOR_STATS, _TENSOR_FILES = 0, 1, 3, 4, 5, 6
_CONTENT_KIND, _CONTENT_PROPERTIES, _CONTENT_IMAGE = 0, 1, 2
_IMAGE_COLOR_SPACE = 0
_UNIT_KIND, _UNIT_OPTIONS, _UNIT_NORMALIZATION = 0, 1, 1
_NORMALIZATION_MEAN, _NORMALIZATION_STD = 0, 1
_STATS_MAX, _STATS_MIN = 0, 1
_FILE_NAME, _FILE_KIND, _FILE_LOCALE = 0, 2, 3
_LABELS_OF_AXIS, _LABELS_OF_VALUES = 2, 3

_COLOR_SPACES = {1: "RGB", 2: "BGR", 3: "GRAYSCALE"}


@dataclass(frozen=True)
class TfliteMetadata:
    entries: dict[str, str]
    labels: tuple[str, ...]
    notes: tuple[str, ...]


def read_metadata(content: memoryview, file: memoryview) -> TfliteMetadata:
    """`content` is the metadata, `file` the whole model: the archive with the label files is at its end."""
    if bytes(content[4:8]) != b"M001":
        return TfliteMetadata({}, (), ("its metadata is of a version that we do not know",))
    model = root_table(content, Budget())
    entries: dict[str, str] = {}
    for number, name in (
        (_MODEL_NAME, "name"),
        (_MODEL_DESCRIPTION, "description"),
        (_MODEL_VERSION, "version"),
        (_MODEL_AUTHOR, "author"),
        (_MODEL_LICENSE, "license"),
    ):
        _add(entries, name, model.text(number, MAX_TEXT_BYTES))
    label_files: list[str] = []
    subgraph = next(model.tables(_MODEL_SUBGRAPHS), None)
    if subgraph is not None:
        for side, number in (("input", _SUBGRAPH_INPUTS), ("output", _SUBGRAPH_OUTPUTS)):
            for index, tensor in zip(range(MAX_TENSORS), subgraph.tables(number), strict=False):
                _add_tensor(entries, f"{side}{index}" if index else side, tensor)
                if side == "output":
                    label_files += _label_files(tensor)
    labels, notes = _read_labels(file, label_files)
    return TfliteMetadata(entries, labels, notes)


def _add(entries: dict[str, str], name: str, text: str) -> None:
    if text.strip():
        entries[name] = clean(text.strip())


def _add_tensor(entries: dict[str, str], name: str, tensor: Table) -> None:
    _add(entries, f"{name}.name", tensor.text(_TENSOR_NAME))
    _add(entries, f"{name}.description", tensor.text(_TENSOR_DESCRIPTION, MAX_TEXT_BYTES))
    content = tensor.table(_TENSOR_CONTENT)
    if content is not None and content.integer(_CONTENT_KIND, "uint8") == _CONTENT_IMAGE:
        image = content.table(_CONTENT_PROPERTIES)
        color = image.integer(_IMAGE_COLOR_SPACE, "int8") if image else 0
        _add(entries, f"{name}.color_space", _COLOR_SPACES.get(color, ""))
    for unit in tensor.tables(_TENSOR_UNITS):
        options = unit.table(_UNIT_OPTIONS)
        if options is not None and unit.integer(_UNIT_KIND, "uint8") == _UNIT_NORMALIZATION:
            _add(entries, f"{name}.mean", _numbers(options, _NORMALIZATION_MEAN))
            _add(entries, f"{name}.std", _numbers(options, _NORMALIZATION_STD))
    stats = tensor.table(_TENSOR_STATS)
    if stats is not None:
        _add(entries, f"{name}.min", _numbers(stats, _STATS_MIN))
        _add(entries, f"{name}.max", _numbers(stats, _STATS_MAX))


def _numbers(table: Table, number: int) -> str:
    return ", ".join(f"{value:g}" for value in table.floats(number, MAX_TENSORS))


def _label_files(tensor: Table) -> list[str]:
    """Those without a language first: the others are translations."""
    files = [
        (file.text(_FILE_LOCALE), file.text(_FILE_NAME))
        for file in tensor.tables(_TENSOR_FILES)
        if file.integer(_FILE_KIND, "int8") in (_LABELS_OF_AXIS, _LABELS_OF_VALUES)
    ]
    return [name for _, name in sorted(files, key=lambda file: file[0] != "")]


def _read_labels(file: memoryview, names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not names:
        return (), ()
    try:
        text = Archive(file).read(names[0], MAX_TEXT_BYTES).decode(errors="replace")
    except ModelFileError as error:
        # A model without its labels still runs.
        return (), (f"its file of labels {quote(names[0])} could not be read: {error.message}",)
    return labels_from_lines(text), ()
