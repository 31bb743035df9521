"""Classes: their names by number, and the number that a label means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.sample import NamedFile, Word
from mlmodelscope.dataset.text import read_json, read_lines, read_text
from mlmodelscope.errors import DatasetError

_MAX_CLASSES = 1 << 31


def read_classes(path: Path, name: str = "") -> list[str]:
    """Class names by number: one a line, a JSON list, or a JSON mapping between numbers and names."""
    file = NamedFile(path, name or path.name)
    text = read_text(file)
    if text.lstrip()[:1] not in ("[", "{"):
        return read_lines(text)
    data = read_json(text, file)
    names = _by_number(data, file) if isinstance(data, dict) else data
    return [_name(item, file) for item in names]


def _by_number(data: dict[str, Any], file: NamedFile) -> list[Any]:
    """From `{"0": "cat"}` or `{"cat": 0}`. A gap would shift the classes after it, so there may be none."""
    numbered = {_whole(key): value for key, value in data.items()}
    if None in numbered:
        numbered = {value if type(value) is int else None: key for key, value in data.items()}
    if None in numbered:
        raise DatasetError(f"{file.name} maps neither class numbers to names nor names to class numbers")
    if sorted(number for number in numbered if number is not None) != list(range(len(data))):
        raise DatasetError(f"{file.name} does not number its {len(data)} classes from 0 to {len(data) - 1}")
    return [numbered[number] for number in range(len(data))]


def _name(item: Any, file: NamedFile) -> str:
    words = item if isinstance(item, list) else [item]
    if not words or not all(isinstance(word, (str, int, float)) for word in words):
        raise DatasetError(f"{file.name} holds {str(item)[:80]} where a class name should be")
    return " ".join(map(str, words))


def class_words(classes: list[str]) -> dict[str, int | None]:
    """Every word by which a class may be called: the whole line, or its first word (`n01440764 tench`).

    None stands for several classes of one name: which of them is meant must not be guessed.
    """
    firsts = [name.split()[0].rstrip(",") if name.split() else "" for name in classes]
    return _numbers(firsts) | _numbers(classes)


def _numbers(words: list[str]) -> dict[str, int | None]:
    numbers: dict[str, int | None] = {}
    for number, word in enumerate(words):
        if word:
            numbers[word] = None if word in numbers else number
    return numbers


def to_number(word: Word | None, words: Mapping[str, int | None], offset: int, sample: str, classes: int = 0) -> int:
    """The class number that a label means; the sample is named when there is none. `classes`: how many there are."""
    if word is None or word == "":
        raise DatasetError(f"the sample `{sample}` has no label")
    if isinstance(word, str) and word.strip() in words:
        known = words[word.strip()]
        if known is None:
            raise DatasetError(f"the label `{word}` of the sample `{sample}` is the name of several classes")
        return known
    given = _whole(word)
    if given is None:
        raise DatasetError(
            f"the label `{str(word)[:80]}` of the sample `{sample}` is neither a whole number nor a known class",
            hint="give the dataset a `classes_url` that lists it",
        )
    number = given - offset
    if number < 0:
        raise DatasetError(f"the label {word} of the sample `{sample}` lies below the offset {offset}")
    if number >= (classes or _MAX_CLASSES):
        known_classes = f"the last of {classes} classes" if classes else "any number of classes"
        raise DatasetError(
            f"the label {given} of the sample `{sample}` lies beyond {known_classes}",
            hint="do the labels count from 1? then say `offset: 1` in the dataset's `labels`" if classes else None,
        )
    return number


def to_numbers(
    word: Any, words: Mapping[str, int | None], offset: int, sample: str, classes: int, separator: str
) -> list[int]:
    """The classes that several labels mean: a list of them, or a text with something in between; perhaps none."""
    if word is None:
        raise DatasetError(f"the sample `{sample}` has no label")
    parts = word if isinstance(word, list) else [each.strip() for each in str(word).split(separator) if each.strip()]
    return sorted({to_number(each, words, offset, sample, classes) for each in parts})


def _whole(word: Any) -> int | None:
    """`3`, `"3"`, `3.0` and `"3.0"` are 3, since tables often turn labels into decimals; 3.5 and true are not."""
    if isinstance(word, float):
        return int(word) if word.is_integer() else None
    if isinstance(word, str):
        match = re.fullmatch(r"\s*([+-]?[0-9]{1,18})(\.0*)?\s*", word)
        return int(match[1]) if match else None
    return word if type(word) is int else None
