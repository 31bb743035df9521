"""A configuration file as data: JSON, YAML, or what Python prints. Told by content; nothing of it is run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.author.literal import LiteralError, parse_literal
from mlmodelscope.errors import ManifestError, Problem, UsageError
from mlmodelscope.manifest.source import MAX_BYTES, SourceFloat, SourceInt, decode_source, parse_source, read_bytes

MAX_FILES = 64
MAX_DEPTH = 64
TEMPLATE = "jinja"
"""The name that a file which is nothing but a template gets."""
RESULTS = "eval_results"
"""The name that a list of results gets."""
_OPENING = re.compile(r"\s*---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"(?:\r\n|\r|\n)---[ \t]*(?:\r|\n|$)")
_LIST = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*- ")
_MOST_RESULTS = 32

# What is read when a folder is named, in this order; each is optional.
IN_A_FOLDER = (
    "preprocessor_config.json",
    "config.json",
    "chat_template.jinja",
    "tokenizer_config.json",
    "generation_config.json",
    "README.md",
    "accuracy-check.yml",
    "accuracy-check.yaml",
    "model.yml",
    "weights.json",
)


@dataclass(frozen=True)
class ConfigFile:
    path: Path
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.name


def read_configs(paths: tuple[Path, ...]) -> list[ConfigFile]:
    """Every file named, and of a folder those that are known by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = [path / name for name in IN_A_FOLDER if _is_there(path / name)]
            found += sorted((path / f".{RESULTS}").glob("*.yaml"))[:_MOST_RESULTS]
            if not found:
                raise UsageError(
                    f"there is no configuration in the folder {path}", hint=f"known names: {', '.join(IN_A_FOLDER)}"
                )
            files += found
        else:
            files.append(path)
    if len(files) > MAX_FILES:
        raise UsageError(f"{len(files)} configuration files are more than one model has (at most {MAX_FILES})")
    return [read_config(path) for path in files]


def _is_there(path: Path) -> bool:
    """A page without a header is a page, and no configuration."""
    if path.suffix != ".md":
        return path.is_file()
    return path.is_file() and header_of(read_bytes(path)[:MAX_BYTES].decode(errors="replace")) is not None


def read_config(path: Path) -> ConfigFile:
    return ConfigFile(path, parse_config(read_bytes(path), str(path)))


def parse_config(raw: bytes, file: str) -> Mapping[str, Any]:
    text = decode_source(raw, file)
    if file.endswith(".jinja"):
        return {TEMPLATE: text}
    header = header_of(text)
    if header is not None:
        return parse_source(header, file)
    if _LIST.match(text):
        return _results(text, file)
    if text.lstrip()[:1] in ("{", "["):
        data = _json_or_literal(text, file)
        if not isinstance(data, Mapping):
            raise ManifestError(Problem("a configuration is a mapping of names to values", file=file))
        return data
    return parse_source(text, file)


def header_of(text: str) -> str | None:
    """The YAML in front of a page of Markdown, at its own lines; None where there is none."""
    if not _OPENING.match(text):
        return None
    start = _OPENING.match(text)
    assert start is not None
    end = _CLOSING.search(text, start.end() - 1)
    return "\n" * start[0].count("\n") + text[start.end() : end.start()] if end is not None else None


def _results(text: str, file: str) -> Mapping[str, Any]:
    """A list of results, as the hub keeps them beside the weights; it gets a name."""
    named = parse_source(f"{RESULTS}: #\n{text}", file)
    listed = named[RESULTS]
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) and "dataset" in each for each in listed):
        raise ManifestError(Problem("a configuration is a mapping of names to values", file=file))
    return named


def _json_or_literal(text: str, file: str) -> Any:
    try:
        data = json.loads(text, parse_float=_spelled_float, parse_int=_spelled_int, parse_constant=_no_number)
    except RecursionError:
        raise ManifestError(Problem("nested too deeply", file=file)) from None
    except json.JSONDecodeError as error:
        try:
            return parse_literal(text)
        except LiteralError:
            raise ManifestError(
                Problem(f"not valid JSON: {error.msg}", file=file, line=error.lineno, column=error.colno)
            ) from None
    except ValueError as error:
        raise ManifestError(Problem(f"not valid JSON: {str(error)[:100]}", file=file)) from None
    _refuse_depth(data, file)
    return data


def _spelled_float(text: str) -> float:
    value = SourceFloat(text)
    value.text = text
    return value


def _spelled_int(text: str) -> int:
    value = SourceInt(text)
    value.text = text
    return value


def _no_number(word: str) -> Any:
    return None  # NaN and Infinity: what is no number is not known


def _refuse_depth(data: Any, file: str) -> None:
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for value in level
            if isinstance(value, (dict, list))
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise ManifestError(Problem(f"nested deeper than {MAX_DEPTH} levels", file=file))
