"""YAML text becomes plain data in which every value remembers its place and numbers their spelling.

Read from the composed nodes rather than from a loader: the author's spelling (`1.10` is not `1.1`) and the positions
survive, duplicate keys and foreign tags are refused, and aliases are counted before they are expanded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from mlmodelscope.errors import ManifestError, Problem

MAX_BYTES = 4 << 20
MAX_VALUES = 100_000
MAX_DEPTH = 64

Place = tuple[int, int]


class SourceFloat(float):
    """A float that remembers how it was written."""

    text: str


class SourceInt(int):
    """An integer that remembers how it was written."""

    text: str


class SourceMap(dict[str, Any]):
    """A mapping that knows where each key stands."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, Place] = {}
        self.place: Place = (1, 1)

    def put(self, key: str, value: Any, place: Place) -> None:
        self[key] = value
        self.places[key] = place

    def move(self, key: str, target: SourceMap) -> None:
        target.put(key, self.pop(key), self.places.pop(key))


class SourceList(list[Any]):
    """A list that knows where each item stands."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place] = []
        self.place: Place = (1, 1)


def read_source(path: Path) -> SourceMap:
    """A manifest file as data with places; ManifestError with file, line and column when it cannot be."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise ManifestError(Problem("this is a folder, not a manifest", file=str(path))) from None
    except OSError as error:
        raise ManifestError(Problem(f"cannot read it: {error.strerror or error}", file=str(path))) from None
    return parse_source(raw, str(path))


def parse_source(raw: bytes | str, file: str = "<text>") -> SourceMap:
    """Manifest text as data with places."""
    text = _decode(raw, file)
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        reason = " ".join(filter(None, (error.context, error.problem))) or "cannot be parsed"
        raise ManifestError(Problem(f"not valid YAML: {reason}", file=file, line=line, column=column)) from None
    except RecursionError:
        raise ManifestError(Problem(f"nested deeper than {MAX_DEPTH} levels", file=file)) from None
    except (YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ManifestError(Problem(f"not valid YAML: {reason}", file=file)) from None
    if node is None:
        raise ManifestError(
            Problem(
                "the file is empty",
                file=file,
                hint="a manifest starts with `name:`, see docs/manifest-model.md",
            )
        )
    data = _Converter(file).convert(node, 0)
    if not isinstance(data, SourceMap):
        raise ManifestError(Problem("a manifest is a mapping of keys to values", file=file, line=1, column=1))
    return data


def _decode(raw: bytes | str, file: str) -> str:
    if isinstance(raw, str):
        return raw
    if len(raw) > MAX_BYTES:
        raise ManifestError(Problem(f"larger than {MAX_BYTES >> 20} MiB, so not a manifest", file=file))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise ManifestError(Problem("not UTF-8 text, so not a manifest", file=file, line=line, column=column)) from None
    return text


class _Converter:
    def __init__(self, file: str) -> None:
        self.file = file
        self.values = 0

    def convert(self, node: Node, depth: int) -> Any:
        self.values += 1
        place = (node.start_mark.line + 1, node.start_mark.column + 1)
        if self.values > MAX_VALUES:
            self.refuse(f"more than {MAX_VALUES} values once its aliases are expanded", place)
        if depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH} levels", place)
        if not isinstance(node, ScalarNode) and _kind(node) not in ("map", "seq"):
            self.refuse(f"the tag `{node.tag}` is not allowed in a manifest", place)
        if isinstance(node, MappingNode):
            return self.mapping(node, place, depth)
        if isinstance(node, SequenceNode):
            items = SourceList()
            items.place = place
            for item in node.value:
                items.places.append((item.start_mark.line + 1, item.start_mark.column + 1))
                items.append(self.convert(item, depth + 1))
            return items
        assert isinstance(node, ScalarNode)
        return self.scalar(node, place)

    def mapping(self, node: MappingNode, place: Place, depth: int) -> SourceMap:
        result = SourceMap()
        result.place = place
        for key_node, value_node in node.value:
            at = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if not isinstance(key_node, ScalarNode):
                self.refuse("a key must be a word", at)
            key = key_node.value
            if key in result:
                first = result.places[key]
                self.refuse(f"the key `{key}` stands here a second time (first in line {first[0]})", at)
            result.put(key, self.convert(value_node, depth + 1), at)
        return result

    def scalar(self, node: ScalarNode, place: Place) -> Any:
        kind = _kind(node)
        text: str = node.value
        if kind in ("str", "timestamp", "merge", "value"):
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                whole = SourceInt(text.replace("_", ""), 0) if text[:2].lower() in ("0x", "0o") else SourceInt(text)
                whole.text = text
                return whole
            if kind == "float":
                real = SourceFloat(_spell_float(text))
                real.text = text
                return real
        except ValueError:
            return text  # digits of another number base or script: the author's word, not a number
        self.refuse(f"the tag `{node.tag}` is not allowed in a manifest", place)

    def refuse(self, message: str, place: Place) -> Any:
        raise ManifestError(Problem(message, file=self.file, line=place[0], column=place[1]))


def _kind(node: Node) -> str:
    return str(node.tag).removeprefix("tag:yaml.org,2002:")


def _spell_float(text: str) -> str:
    return text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan")


def place_of(data: Any, path: tuple[str | int, ...]) -> Place:
    """Line and column of the deepest part of `path` that exists in the data."""
    place: Place = getattr(data, "place", (0, 0))
    for part in path:
        if isinstance(data, SourceMap) and part in data.places:
            place = data.places[str(part)]
            data = data[str(part)]
        elif isinstance(data, SourceList) and isinstance(part, int) and part < len(data):
            place = data.places[part]
            data = data[part]
        else:
            break
    return place


def spell_path(path: tuple[str | int, ...]) -> str:
    """`inputs[0].processing.crop`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
