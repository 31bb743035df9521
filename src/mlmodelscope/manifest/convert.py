"""A manifest of any dialect as text in the current format, with its author's comments where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from mlmodelscope.manifest.dialect import Note, recognise_kind
from mlmodelscope.manifest.load import Document
from mlmodelscope.manifest.source import Place, SourceList, SourceMap
from mlmodelscope.manifest.write import spell_comment, write_manifest

DataPath = tuple[str | int, ...]

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_LEFT_OVER = "Comments of the source that have no place of their own here:"


def convert_document(document: Document, *, explain: bool = False) -> str:
    """The current format; with `explain`, each value that the dialect only implied says so beside it."""
    comments = _Comments(document.text)
    above, beside = comments.place(document.data)
    if explain:
        for path, reason in _reasons(document.data, ()):
            beside.setdefault(path, reason)
    text = write_manifest(document.data, document.kind, above, beside)
    if recognise_kind(document.data) != document.kind:
        text = f"kind: {document.kind}\n{text}"
    lost = comments.left_over()
    if lost:
        text += f"\n# {_LEFT_OVER}\n"
        text += "".join(f"# {spell_comment(line)}".rstrip() + "\n" for line in lost)
    return text


def unclear(document: Document) -> list[Note]:
    """What a person should look at before trusting the conversion."""
    return [note for note in document.notes if note.kind in ("unclear", "typo", "repeated")]


def _reasons(data: Any, path: DataPath) -> list[tuple[DataPath, str]]:
    found: list[tuple[DataPath, str]] = []
    if isinstance(data, SourceMap):
        for key, value in data.items():
            if key in data.reasons:
                found.append(((*path, key), data.reasons[key]))
            inner = _reasons(value, (*path, key))
            if _is_step(path) and inner:  # a step stays on its line
                said = dict.fromkeys(reason for _, reason in inner)
                found.append(((*path, key), "; ".join(said)))
            else:
                found += inner
    elif isinstance(data, SourceList):
        for index, value in enumerate(data):
            found += _reasons(value, (*path, index))
    return found


def _is_step(path: DataPath) -> bool:
    return len(path) > 1 and path[-2] == "processing" and isinstance(path[-1], int)


class _Comments:
    """The comments of a text, by line: alone on their line, or behind something."""

    def __init__(self, text: str) -> None:
        self._lines = re.split(_LINE_END, text)
        self._own: dict[int, tuple[int, str]] = {}
        self._behind: dict[int, str] = {}
        for line, column, comment, alone in _find_comments(text):
            if alone:
                self._own[line] = (column, comment)
            else:
                self._behind[line] = comment

    def place(self, data: SourceMap) -> tuple[dict[DataPath, str], dict[DataPath, str]]:
        """Comments by the path of what they belong to; each is used once."""
        above: dict[DataPath, str] = {}
        beside: dict[DataPath, str] = {}
        seen = 0
        for path, (line, column), holds in sorted(_paths(data, ()), key=lambda item: (item[1][0], len(item[0]))):
            if line != seen:  # what is above a line is about the first thing in it
                block = self._block_before(line, column)
                if block:
                    above[path] = "\n".join(block)
            if line in self._behind and (isinstance(path[-1], str) or not holds):
                beside[path] = self._behind.pop(line)
            seen = line
        return above, beside

    def _block_before(self, line: int, column: int) -> list[str]:
        """The comments above a key; one that is indented further than the key ends what comes before."""
        block = []
        for number in range(line - 1, 0, -1):
            if number in self._own and self._own[number][0] <= column:
                block.append(self._own.pop(number)[1])
            elif number in self._own or self._lines[number - 1].strip():
                break
        return block[::-1]

    def left_over(self) -> list[str]:
        found = {**{line: comment for line, (_, comment) in self._own.items()}, **self._behind}
        return [found[number] for number in sorted(found) if found[number] and found[number] != _LEFT_OVER]


def _find_comments(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Line, column, text and whether it stands alone: whatever follows a `#` between two of YAML's tokens."""
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    end, line, column = 0, 1, 1
    for token in yaml.scan(text, Loader=loader):
        start = token.start_mark
        if start.index > end:
            yield from _comments_in(text[end : start.index], line, column)
        style = getattr(token, "style", None)
        if style in ("|", ">"):  # `key: |  # a comment` is the one place for a comment inside a token
            header = re.split(_LINE_END, text[start.index : token.end_mark.index], maxsplit=1)[0]
            yield from _comments_in(header, start.line + 1, start.column + 1)
        if token.end_mark.index > end:
            end, line, column = token.end_mark.index, token.end_mark.line + 1, token.end_mark.column + 1
    yield from _comments_in(text[end:], line, column)


def _comments_in(gap: str, line: int, column: int) -> Iterator[tuple[int, int, str, bool]]:
    if "#" not in gap:
        return
    for number, part in enumerate(re.split(_LINE_END, gap)):
        before, mark, comment = part.partition("#")
        if mark:
            at = len(before) + (column if number == 0 else 1)
            alone = not before.strip() and (number > 0 or column == 1)
            yield line + number, at, comment.removeprefix(" ").rstrip() if alone else comment.strip(), alone


def _paths(data: SourceMap | SourceList, path: DataPath) -> list[tuple[DataPath, Place, bool]]:
    """Every key and item with the place in the source that it came from, and whether it holds others."""
    found: list[tuple[DataPath, Place, bool]] = []
    items: Any = data.items() if isinstance(data, SourceMap) else enumerate(data)
    for key, value in items:
        holds = isinstance(value, (SourceMap, SourceList))
        found.append(((*path, key), data.places[key], holds))
        if holds:
            found += _paths(value, (*path, key))
    return found
