"""YAML text becomes plain data in which every value remembers its place and numbers their spelling.

Read from the parser's events rather than from a loader: the author's spelling (`1.10` is not `1.1`) and the positions
survive, words mean what YAML 1.2 says (`no` is a word, Norway's too), foreign tags are refused and so are keys that
stand twice and contradict each other, aliases are counted before they are expanded, and no nesting is deep enough to
exhaust a stack.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mlmodelscope.errors import ManifestError, Problem

MAX_BYTES = 4 << 20
MAX_VALUES = 100_000
MAX_DEPTH = 64
MAX_REPEATED = 100

Place = tuple[int, int]
Span = tuple[int, int]
"""From and to, in characters of the text."""

FUNCTION_TAG = "!function"
_PREFIX = "tag:yaml.org,2002:"
_PLAIN = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?[0-9][0-9_]*|0o[0-7]+|0x[0-9a-fA-F]+")),
    (
        "float",
        re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"),
    ),
)


class SourceFloat(float):
    """A float that remembers how it was written."""

    text: str


class SourceInt(int):
    """An integer that remembers how it was written."""

    text: str


class SourceText(str):
    """A block of text that remembers the line where it starts: code keeps its line numbers."""

    line: int


class SourceFunction(str):
    """The name of a Python function, written `!function module.name`; nobody ever imports it."""


@dataclass(frozen=True)
class Repeated:
    """A key that stands twice in a mapping and means one thing nevertheless."""

    key: str
    first: Place
    second: Place
    superfluous: Span | None
    """The text, from the key to the end of its value, that can go; none where the two were put together."""


class SourceMap(dict[str, Any]):
    """A mapping that knows where each key stands and, where a dialect implied a value, why it is there."""

    repeated: tuple[Repeated, ...] = ()
    """In the outermost mapping of a text: the keys in it that stand twice."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, Place] = {}
        self.spans: dict[str, Span] = {}
        self.reasons: dict[str, str] = {}
        self.place: Place = (1, 1)

    def put(self, key: str, value: Any, place: Place, reason: str | None = None) -> None:
        self[key] = value
        self.places[key] = place
        if reason is not None:
            self.reasons[key] = reason

    def move(self, key: str, target: SourceMap, name: str | None = None) -> None:
        """Bring a key into another mapping, with all that is known of it."""
        name = name or key
        span, reason = self.spans.pop(key, None), self.reasons.pop(key, None)
        target.put(name, self.pop(key), self.places.pop(key), reason)
        if span is not None:
            target.spans[name] = span


class SourceList(list[Any]):
    """A list that knows where each item stands."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place] = []
        self.spans: list[Span] = []
        self.place: Place = (1, 1)

    def put(self, value: Any, place: Place) -> None:
        self.append(value)
        self.places.append(place)


def read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise ManifestError(Problem("this is a folder, not a manifest", file=str(path))) from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise ManifestError(Problem(f"cannot read it: {reason}", file=str(path))) from None


def parse_source(raw: bytes | str, file: str = "<text>", functions: bool = False) -> SourceMap:
    """Manifest text as data with places; `functions` lets names of functions through, as names."""
    text = decode_source(raw, file)
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        data = _Builder(file, functions).build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        reason = " ".join(filter(None, (error.context, error.problem))) or "cannot be parsed"
        raise ManifestError(Problem(f"not valid YAML: {reason}", file=file, line=line, column=column)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ManifestError(Problem(f"not valid YAML: {reason}", file=file)) from None
    if data is None:
        raise ManifestError(
            Problem(
                "the file is empty",
                file=file,
                hint="a manifest starts with `name:`, see docs/manifest-model.md",
            )
        )
    if not isinstance(data, SourceMap):
        raise ManifestError(Problem("a manifest is a mapping of keys to values", file=file, line=1, column=1))
    return data


def decode_source(raw: bytes | str, file: str) -> str:
    if isinstance(raw, str):
        return raw
    if len(raw) > MAX_BYTES:
        raise ManifestError(Problem(f"larger than {MAX_BYTES >> 20} MiB, so not a manifest", file=file))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise ManifestError(Problem("not UTF-8 text, so not a manifest", file=file, line=line, column=column)) from None


class _Open:
    """A mapping or list whose end has not come yet."""

    def __init__(self, data: SourceMap | SourceList, anchor: str | None, values: int, start: int) -> None:
        self.data = data
        self.anchor = anchor
        self.values_before = values
        self.start = start
        self.levels = 1
        self.key: str | None = None
        self.key_place: Place = (1, 1)
        self.key_start = 0
        self.starts: dict[str, int] = {}


class _Builder:
    """Events become data, without recursion."""

    def __init__(self, file: str, functions: bool = False) -> None:
        self.file = file
        self.functions = functions
        self.values = 0
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int, int]] = {}
        self.documents = 0
        self.repeated: list[Repeated] = []
        self.result: Any = None

    def build(self, events: Any) -> Any:
        for event in events:
            name = type(event).__name__
            if name == "ScalarEvent":
                self._value(self._scalar(event), event, 1)
            elif name in ("MappingStartEvent", "SequenceStartEvent"):
                self._start(event, SourceMap() if name == "MappingStartEvent" else SourceList())
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                self._end(event)
            elif name == "AliasEvent":
                self._alias(event)
            elif name == "DocumentStartEvent":
                self.documents += 1
                if self.documents > 1:
                    self.refuse("a second document starts here; a manifest file holds one", place_of_event(event))
        if self.repeated and isinstance(self.result, SourceMap):
            self.result.repeated = tuple(self.repeated)
        return self.result

    def _start(self, event: Any, data: SourceMap | SourceList) -> None:
        place = place_of_event(event)
        if len(self.open) >= MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH} levels", place)
        if event.tag and event.tag.removeprefix(_PREFIX) not in ("map", "seq", "!"):
            self.refuse(f"the tag `{event.tag[:60]}` is not allowed in a manifest", place)
        if self.open and isinstance(self.open[-1].data, SourceMap) and self.open[-1].key is None:
            self.refuse("a key must be a word", place)
        self._count(1, place)
        data.place = place
        self.open.append(_Open(data, event.anchor, self.values - 1, event.start_mark.index))

    def _end(self, event: Any) -> None:
        done = self.open.pop()
        if done.anchor:
            self.anchors[done.anchor] = (done.data, self.values - done.values_before, done.levels)
        if self.open:
            self.open[-1].levels = max(self.open[-1].levels, done.levels + 1)
        self._store(done.data, done.data.place, (done.start, event.end_mark.index))

    def _alias(self, event: Any) -> None:
        place = place_of_event(event)
        if event.anchor not in self.anchors:
            self.refuse(f"not valid YAML: `*{event.anchor}` repeats nothing that ends before it", place)
        data, size, levels = self.anchors[event.anchor]
        self._count(size, place)
        if len(self.open) + levels > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH} levels", place)
        self.open[-1].levels = max(self.open[-1].levels, levels + 1)
        self._value(copy.deepcopy(data), event, 0)

    def _value(self, value: Any, event: Any, count: int) -> None:
        place = place_of_event(event)
        self._count(count, place)
        holder = self.open[-1] if self.open else None
        if holder is not None and isinstance(holder.data, SourceMap) and holder.key is None:
            self._key(holder, value, event, place)
            return
        if getattr(event, "anchor", None) and type(event).__name__ == "ScalarEvent":
            self.anchors[event.anchor] = (value, 1, 0)
        self._store(value, place, (event.start_mark.index, event.end_mark.index))

    def _key(self, holder: _Open, value: Any, event: Any, place: Place) -> None:
        if type(event).__name__ != "ScalarEvent":
            self.refuse("a key must be a word", place)
        holder.key, holder.key_place, holder.key_start = event.value, place, event.start_mark.index

    def _store(self, value: Any, place: Place, span: Span) -> None:
        if not self.open:
            self.result = value
            return
        holder = self.open[-1]
        if isinstance(holder.data, SourceMap):
            assert holder.key is not None
            if holder.key in holder.data:
                self._store_again(holder, holder.data, holder.key, value, span)
            else:
                holder.data.put(holder.key, value, holder.key_place)
                holder.data.spans[holder.key] = span
                holder.starts[holder.key] = holder.key_start
            holder.key = None
        else:
            holder.data.put(value, place)
            holder.data.spans.append(span)

    def _store_again(self, holder: _Open, data: SourceMap, key: str, value: Any, span: Span) -> None:
        """A key that stands a second time: nothing is lost where one of the two is empty or both can be true."""
        first, place = data.places[key], holder.key_place
        if is_empty(data[key]) and not is_empty(value):
            superfluous: Span | None = (holder.starts[key], data.spans[key][1])
            data.put(key, value, place)
            data.spans[key], holder.starts[key] = span, holder.key_start
        elif is_empty(value) or _is_same(data[key], value):
            superfluous = (holder.key_start, span[1])
        elif _can_join(data[key], value):
            superfluous = None
            _join(data[key], value)
        else:
            self.refuse(f"the key `{key[:60]}` stands here a second time (first in line {first[0]})", place)
        if len(self.repeated) >= MAX_REPEATED:
            self.refuse(f"more than {MAX_REPEATED} keys stand a second time", place)
        self.repeated.append(Repeated(key, first, place, superfluous))

    def _count(self, values: int, place: Place) -> None:
        self.values += values
        if self.values > MAX_VALUES:
            self.refuse(f"more than {MAX_VALUES} values once its aliases are expanded", place)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.tag == FUNCTION_TAG and self.functions:
            return SourceFunction(text)
        if event.tag and event.tag != "!":
            kind = self._tagged(event)
        elif event.implicit[0]:
            kind = plain_kind(text)
        else:
            kind = "str"
        if kind == "str":
            # A folded text (`>`) joins lines: counting in it would name wrong ones.
            return _with_line(text, event) if event.style == "|" else text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                whole = SourceInt(text.replace("_", ""), 0 if text[:2] in ("0x", "0o") else 10)
                whole.text = text
                return whole
            if kind == "float":
                real = SourceFloat(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
                real.text = text
                return real
        except ValueError:
            return text  # more digits than a number may have: the author's word
        raise AssertionError(kind)

    def _tagged(self, event: Any) -> str:
        """The kind that a tag asks for, where the value is of that kind: `!!bool maybe` is not."""
        kind: str = event.tag.removeprefix(_PREFIX)
        plain = plain_kind(event.value)
        if kind not in ("str", *(name for name, _ in _PLAIN)):
            self.refuse(f"the tag `{event.tag[:60]}` is not allowed in a manifest", place_of_event(event))
        if kind not in ("str", plain) and (kind, plain) != ("float", "int"):
            self.refuse(f"`{event.value[:60]}` is not of the kind that its tag `!!{kind}` says", place_of_event(event))
        return kind

    def refuse(self, message: str, place: Place) -> Any:
        raise ManifestError(Problem(message, file=self.file, line=place[0], column=place[1]))


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, dict, list)) and not value)


def _is_same(one: Any, other: Any) -> bool:
    """The same value in the same spelling: 1.10 is not 1.1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return type(one) is type(other) and getattr(one, "text", one) == getattr(other, "text", other)


def _can_join(one: Any, other: Any) -> bool:
    """Whether two mappings contradict each other nowhere."""
    if not isinstance(one, SourceMap) or not isinstance(other, SourceMap):
        return False
    return all(
        key not in one or _is_same(one[key], value) or _can_join(one[key], value) for key, value in other.items()
    )


def _join(one: SourceMap, other: SourceMap) -> None:
    for key in list(other):
        if key not in one:
            other.move(key, one)
        elif isinstance(one[key], SourceMap):
            _join(one[key], other[key])


def plain_kind(text: str) -> str:
    """What YAML 1.2 takes an unquoted word for."""
    return next((name for name, pattern in _PLAIN if pattern.fullmatch(text)), "str")


def _with_line(text: str, event: Any) -> SourceText:
    block = SourceText(text)
    block.line = event.start_mark.line + 2  # behind the `|`
    return block


def place_of_event(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


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
