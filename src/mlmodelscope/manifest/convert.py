"""A manifest of any dialect as text in today's form, with its author's comments where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.manifest.dialect import Note
from mlmodelscope.manifest.load import Document
from mlmodelscope.manifest.source import SourceList, SourceMap, parse_source
from mlmodelscope.manifest.write import write_manifest

DataPath = tuple[str | int, ...]

_LEFT_OVER = "Comments of the source that have no place of their own here:"


def convert_document(document: Document, *, explain: bool = False) -> str:
    """Today's form; with `explain`, each value that the dialect only implied says so beside it."""
    comments = _Comments(document.text, document.file)
    above, beside = comments.place(document.data)
    if explain:
        for path, reason in _reasons(document.data, ()):
            beside.setdefault(path, reason)
    text = write_manifest(document.data, document.kind, above, beside)
    lost = comments.left_over()
    if lost:
        text += f"\n# {_LEFT_OVER}\n"
        text += "".join(f"# {line}".rstrip() + "\n" for line in lost)
    return text


def unclear(document: Document) -> list[Note]:
    """What a person should look at before trusting the conversion."""
    return [note for note in document.notes if note.kind in ("unclear", "typo")]


def _reasons(data: Any, path: DataPath) -> list[tuple[DataPath, str]]:
    found: list[tuple[DataPath, str]] = []
    if isinstance(data, SourceMap):
        for key, value in data.items():
            if key in data.reasons:
                found.append(((*path, key), data.reasons[key]))
            found += _reasons(value, (*path, key))
    elif isinstance(data, SourceList):
        for index, value in enumerate(data):
            found += _reasons(value, (*path, index))
    return found


class _Comments:
    """The comments of a text, by line: alone on their line, or behind something."""

    def __init__(self, text: str, file: str) -> None:
        self._lines = text.splitlines()
        ends, inside = _extent(parse_source(text, file), text) if text else ({}, set())
        self._own: dict[int, str] = {}
        self._behind: dict[int, str] = {}
        for number, line in enumerate(self._lines, 1):
            if number in inside:
                continue
            stripped = line.strip()
            if stripped.startswith("#"):
                self._own[number] = stripped[1:].removeprefix(" ")
            else:
                rest = line[ends.get(number, _key_end(line)) :]
                head, mark, comment = rest.partition("#")
                if mark and not head.strip(" \t:,]}-"):
                    self._behind[number] = comment.strip()

    def place(self, data: SourceMap) -> tuple[dict[DataPath, str], dict[DataPath, str]]:
        """Comments by the path of what they belong to; each is used once."""
        above: dict[DataPath, str] = {}
        beside: dict[DataPath, str] = {}
        for path, line in sorted(_paths(data, ()), key=lambda item: (item[1], len(item[0]))):
            block = self._block_before(line)
            if block:
                above[path] = "\n".join(block)
            if line in self._behind and isinstance(path[-1], str):
                beside[path] = self._behind.pop(line)
        return above, beside

    def _block_before(self, line: int) -> list[str]:
        block = []
        number = line - 1
        while number in self._own:
            block.append(self._own.pop(number))
            number -= 1
        return block[::-1]

    def left_over(self) -> list[str]:
        found = {**self._own, **self._behind}
        return [found[number] for number in sorted(found) if found[number] and found[number] != _LEFT_OVER]


def _key_end(line: str) -> int:
    """Behind the key of a line whose value stands below it."""
    colon = line.find(":")
    return colon + 1 if colon >= 0 else 0


def _extent(data: Any, text: str) -> tuple[dict[int, int], set[int]]:
    """Where scalars end in each line, and the lines that lie inside a scalar of several lines."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    ends: dict[int, int] = {}
    inside: set[int] = set()

    def visit(value: Any, span: tuple[int, int]) -> None:
        if isinstance(value, (SourceMap, SourceList)):
            items = value.items() if isinstance(value, SourceMap) else enumerate(value)
            for key, item in items:
                visit(item, value.spans[key])  # type: ignore[index]
            return
        first, last = _line_of(starts, span[0]), _line_of(starts, max(span[0], span[1] - 1))
        inside.update(range(first + 1, last + 1))
        if first == last:
            ends[first] = max(ends.get(first, 0), span[1] - starts[first - 1])
        else:
            inside.discard(last) if text[starts[last - 1] : span[1]].strip() == "" else None

    visit(data, (0, 0))
    return ends, inside


def _line_of(starts: list[int], offset: int) -> int:
    from bisect import bisect_right

    return bisect_right(starts, offset)


def _paths(data: Mapping[str, Any] | list[Any], path: DataPath) -> list[tuple[DataPath, int]]:
    """Every key and item with the line of the source that it came from."""
    found: list[tuple[DataPath, int]] = []
    if isinstance(data, SourceMap):
        for key, value in data.items():
            found.append(((*path, key), data.places[key][0]))
            if isinstance(value, (SourceMap, SourceList)):
                found += _paths(value, (*path, key))
    elif isinstance(data, SourceList):
        for index, value in enumerate(data):
            found.append(((*path, index), data.places[index][0]))
            if isinstance(value, (SourceMap, SourceList)):
                found += _paths(value, (*path, index))
    return found
