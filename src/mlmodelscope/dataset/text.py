"""Reading the small text files of a dataset, with errors that name them."""

from __future__ import annotations

import json
from typing import Any

from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import DatasetError


def read_text(file: NamedFile) -> str:
    """UTF-8, with or without a byte-order mark; every line ends with `\\n`."""
    try:
        return file.path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DatasetError(f"{file.name} is not UTF-8 text", hint="save it in this encoding") from None
    except OSError as error:
        raise DatasetError(f"cannot read {file.path}: {error.strerror or error}") from None


def read_lines(text: str) -> list[str]:
    """Lines without the white space around them. Empty ones count, except at the end: they would shift the others."""
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []


def read_json(text: str, file: NamedFile) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except RecursionError:
        raise DatasetError(f"{file.name} is nested too deeply") from None
    except ValueError as error:
        raise DatasetError(f"{file.name} is not valid JSON: {error}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"`{key}` appears twice")
        found[key] = value
    return found
