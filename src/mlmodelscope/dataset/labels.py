"""Label files and class files: text, CSV, JSON and JSON Lines, recognised by content where names do not tell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import Labels

Word = str | int


def read_classes(path: Path) -> list[str]:
    """Class names by number: one a line, a JSON list, or a JSON mapping from number to name."""
    text = _read(path)
    if text.lstrip()[:1] in ("[", "{"):
        data = _json(text, path)
        if isinstance(data, dict):
            try:
                data = [data[key] for key in sorted(data, key=int)]
            except ValueError:
                raise DatasetError(f"{path.name} maps names, not class numbers") from None
        return [" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in data]
    return [line.strip() for line in text.splitlines() if line.strip()]


def class_words(classes: list[str]) -> dict[str, int]:
    """Every word by which a class may be called: the whole line, or its first word (`n01440764 tench`)."""
    words: dict[str, int] = {}
    ambiguous = set()
    for number, name in enumerate(classes):
        first = name.split()[0].rstrip(",") if name.split() else ""
        if words.get(first, number) != number:
            ambiguous.add(first)
        words[first] = number
    for word in ambiguous:
        del words[word]
    return words | {name: number for number, name in enumerate(classes)}


def read_labels(path: Path, rule: Labels, files: list[str]) -> Mapping[str, Word]:
    """Label of each file, by its id or its bare name."""
    text = _read(path)
    if path.suffix == ".csv" or ("," in text.split("\n", 1)[0] and text.lstrip()[:1] not in ("[", "{")):
        return _by_columns(csv.DictReader(io.StringIO(text)), rule, path)
    if text.lstrip()[:1] == "{" and path.suffix != ".json" and "\n{" in text.strip():
        return _by_columns((_json(line, path) for line in text.splitlines() if line.strip()), rule, path)
    if text.lstrip()[:1] in ("[", "{"):
        data = _json(text, path)
        return data if isinstance(data, dict) else _by_position(data, files, path)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if all(len(line) == 1 for line in lines):
        return _by_position([line[0] for line in lines], files, path)
    return {line[0]: line[-1] for line in lines}


def _by_columns(rows: Iterable[Any], rule: Labels, path: Path) -> dict[str, Word]:
    labels: dict[str, Word] = {}
    for row in rows:
        try:
            labels[str(row[rule.file_column])] = row[rule.label_column]
        except (KeyError, TypeError):
            known = ", ".join(map(str, row)) if isinstance(row, dict) else ""
            raise DatasetError(
                f"{path.name} has no columns `{rule.file_column}` and `{rule.label_column}`; it has {known}",
                hint="name them in the dataset's `labels`: file_column, label_column",
            ) from None
    return labels


def _by_position(words: list[Word], files: list[str], path: Path) -> dict[str, Word]:
    if len(words) != len(files):
        raise DatasetError(f"{path.name} has {len(words)} labels for {len(files)} samples")
    return dict(zip(files, words, strict=True))


def to_number(word: Word | None, words: Mapping[str, int], offset: int, sample: str) -> int:
    """The class number that a label means; the sample is named when there is none."""
    if word is None:
        raise DatasetError(f"the sample `{sample}` has no label")
    if isinstance(word, str) and word in words:
        return words[word]
    try:
        number = int(word) - offset
    except ValueError:
        raise DatasetError(
            f"the label `{word}` of the sample `{sample}` is neither a number nor a known class",
            hint="give the dataset a `classes_url` that lists it",
        ) from None
    if number < 0:
        raise DatasetError(f"the label {word} of the sample `{sample}` lies below the offset {offset}")
    return number


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DatasetError(f"{path.name} is not text") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from None


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DatasetError(f"{path.name} is not valid JSON: {error}") from None
