"""What a model is asked about: a file, a text with a second one beside it, or a row of a table."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope_worker.pipeline.row import MOST_CHARACTERS as MOST_CELL_CHARACTERS
from mlmodelscope_worker.pipeline.row import MOST_COLUMNS
from mlmodelscope_worker.pipeline.text import MOST_CHARACTERS
from mlmodelscope_worker.pipeline.turns import MOST_TURNS, ROLES

Given = str | Path | bytes | tuple[str, str] | Mapping[str, Any]
"""A file or a URL, its bytes, a text, a text and its pair, or the cells of a row by column."""
Inputs = Sequence[Given] | Callable[[str], Sequence["ModelInput"]]
"""What a model is asked about; or a function that has it, once it is known which part of a sample the model takes."""

TEXT, COLUMNS, FILE, DOCUMENT = "text", "columns", "image", "document"
_TAKES = {
    "image": "takes pictures: files or URLs",
    "audio": "takes sound files or URLs",
    "array": "takes arrays: files or URLs",
    TEXT: "takes texts",
    DOCUMENT: "takes texts and conversations",
    COLUMNS: "takes rows of a table, such as `age=31,city=Rome`",
}
_MISSING = ("nan", "null")
"""Words for a cell without content, as datasets have them."""
_NAME = 80


@dataclass(frozen=True)
class ModelInput:
    """One thing that a model is asked about."""

    name: str
    """What the answer calls it: a long text is cut."""
    content: str | Path | bytes | Mapping[str, Mapping[str, Any]]
    """A file or URL, the bytes of a file, or the parts of a sample."""

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]] | None:
        return self.content if isinstance(self.content, Mapping) else None


def read_inputs(inputs: Inputs, part: str) -> list[ModelInput]:
    """Each as a model takes it whose first input takes this part of a sample."""
    if callable(inputs):
        return list(inputs(part))
    return [_read(given, number, part) for number, given in enumerate(inputs)]


def _read(given: Given, number: int, part: str) -> ModelInput:
    if part == TEXT and isinstance(given, str):
        return text_input(given)
    if part == DOCUMENT and isinstance(given, str):
        return turns_input([{"role": "user", "content": given}])
    if part == TEXT and isinstance(given, tuple):
        return text_input(*given)
    if part == COLUMNS and isinstance(given, str | Mapping):
        return row_input(given)
    if part not in (TEXT, COLUMNS, DOCUMENT) and isinstance(given, str | Path):
        return ModelInput(str(given), given)
    if part not in (TEXT, COLUMNS, DOCUMENT) and isinstance(given, bytes):
        return ModelInput(f"input {number}", given)
    raise UsageError(f"input {number} is {_called(given)}, and the model {takes(part)}")


def takes(part: str) -> str:
    """What a model whose first input takes this part is asked about, in words that follow its name."""
    return _TAKES.get(part, _TAKES[FILE])


def _called(given: Given) -> str:
    kinds = {Path: "a file", bytes: "bytes", tuple: "two texts", str: "a text"}
    return next((name for kind, name in kinds.items() if isinstance(given, kind)), "a row")


def text_input(text: str, pair: str | None = None) -> ModelInput:
    """A text, with a second one where the model takes two."""
    parts = {"text": text} if pair is None else {"text": text, "text_pair": pair}
    for each in parts.values():
        _refuse_text(each, "a text", MOST_CHARACTERS)
    name = _cut(text) if pair is None else f"{_cut(text, _NAME // 2)} | {_cut(pair, _NAME // 2)}"
    return ModelInput(name, {part: {"text": each} for part, each in parts.items()})


def turns_input(turns: Sequence[Mapping[str, str]]) -> ModelInput:
    """A conversation, the last turn of which is what a user asks; a text alone is one turn."""
    if not 1 <= len(turns) <= MOST_TURNS:
        raise UsageError(f"a conversation has {len(turns)} turns; it needs one at least, and at most {MOST_TURNS}")
    for each in turns:
        if each["role"] not in ROLES:
            raise UsageError(f"a turn is by {', '.join(ROLES)}, not by {_cut(each['role'])}")
        _refuse_text(each["content"], "a turn", MOST_CHARACTERS)
    if turns[-1]["role"] != "user":
        raise UsageError("the last turn of a conversation is what the user asks")
    document = {"turns": [{"role": each["role"], "content": each["content"]} for each in turns]}
    return ModelInput(_cut(turns[-1]["content"]), {DOCUMENT: {DOCUMENT: document, "ordinal": 0}})


def row_input(given: str | Mapping[str, Any]) -> ModelInput:
    """A row: its cells by column, as JSON has them or as `name=value,…`."""
    cells = _checked(_cells(given) if isinstance(given, str) else given)
    words = ",".join(f"{name}={'' if value is None else value}" for name, value in cells.items())
    return ModelInput(_cut(words), {"columns": {"cells": cells}})


def cell_of(word: str) -> int | float | str | None:
    """A cell as somebody wrote it: a number where it is one, missing where it is empty, else a text."""
    plain = word.strip()
    if not plain or plain.lower() in _MISSING:
        return None
    for kind in (int, float):
        try:
            number = kind(plain)
        except ValueError:
            continue
        if math.isfinite(number) and "_" not in plain:
            return number
    return plain


def _cells(text: str) -> Mapping[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"a row is not JSON: {error}: {_cut(text)}") from None
        assert isinstance(found, dict)
        return found
    try:
        words = next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise UsageError(f"a row cannot be read: {error}: {_cut(text)}") from None
    pairs = [word.partition("=") for word in words]
    odd = next((name for name, equals, _ in pairs if not equals or not name.strip()), None)
    if odd is not None or not pairs:
        hint = "a row is `name=value,…` or a JSON object; - reads JSON Lines or CSV from standard input"
        raise UsageError(f"a row has `{_cut(odd or '')}` where name=value is due: {_cut(text)}", hint=hint)
    names = [name.strip() for name, _, _ in pairs]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise UsageError(f"a row has the column `{_cut(double)}` twice: {_cut(text)}")
    return {name.strip(): cell_of(word) for name, _, word in pairs}


def _checked(cells: Mapping[str, Any]) -> dict[str, Any]:
    if not cells or len(cells) > MOST_COLUMNS:
        raise UsageError(f"a row has {len(cells)} columns; it needs one at least, and at most {MOST_COLUMNS}")
    for name, value in cells.items():
        if not isinstance(name, str) or not (value is None or isinstance(value, str | int | float)):
            raise UsageError(f"column `{_cut(str(name))}` of a row is neither a number nor a text nor null")
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"column `{_cut(name)}` of a row is {value}, which is not a finite number")
        _refuse_text(name, "the name of a column", MOST_CELL_CHARACTERS)
        if isinstance(value, str):
            _refuse_text(value, f"column `{_cut(name)}` of a row", MOST_CELL_CHARACTERS)
    return dict(cells)


def _refuse_text(text: str, what: str, most: int) -> None:
    if len(text) > most:
        raise UsageError(f"{what} has {len(text):,} characters; at most {most:,}")
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise UsageError(f"{what} is not UTF-8: {_cut(text)}")


def _cut(text: str, most: int = _NAME) -> str:
    """On one line that can be printed, and no longer than a name may be."""
    line = " ".join(text[: 4 * most].split())
    plain = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    return f"{plain[: most - 1].rstrip()}…" if len(plain) > most or len(text) > 4 * most else plain
