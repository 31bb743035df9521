"""Names of classes out of a text: JSON, Python's way of writing a list or dictionary, or one on each line.

Python's own reader of such texts is not used: its documentation says that a hostile one can crash the interpreter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from mlmodelscope.model_file.limit import MAX_LABELS, clean

# Under which words models carry the names: ultralytics, Hugging Face, PaddlePaddle, OpenVINO and people by hand.
_KEYS = ("names", "labels", "classes", "class_names", "class_labels", "id2label", "label_names", "categories")

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ITEM = re.compile(rf"\s*(?:(?P<key>\d{{1,9}}|{_QUOTED})\s*:\s*)?(?P<value>\d{{1,9}}|{_QUOTED})\s*(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def labels_of(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The first entry with a telling key that holds names."""
    lower = {key.lower().rpartition(".")[2]: value for key, value in metadata.items()}
    return next((labels for key in _KEYS if key in lower and (labels := labels_from_text(lower[key]))), ())


def labels_from_text(text: str) -> tuple[str, ...]:
    """Empty where the text is no list of names."""
    text = text.strip()
    if text[:1] in ("[", "{", "("):
        return _checked(_read_json(text) or _read_python(text))
    if "\n" in text:
        return labels_from_lines(text)
    return _checked([part.strip() for part in text.split(",")]) if "," in text else ()


def labels_from_lines(text: str) -> tuple[str, ...]:
    """One on each line. Empty lines at the end are nobody's; others keep their place, for the index is the class."""
    return _checked([line.strip() for line in text.rstrip().splitlines()])


def _checked(names: list[str] | None) -> tuple[str, ...]:
    if not names or len(names) > MAX_LABELS or not any(names):
        return ()
    return tuple(clean(name) for name in names)


def _read_json(text: str) -> list[str] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(content, list):
        return content if all(isinstance(name, str) for name in content) else None
    return _by_index(list(content.items())) if isinstance(content, dict) else None


def _read_python(text: str) -> list[str] | None:
    inner, position = text[1:-1].rstrip(), 0
    pairs: list[tuple[object, object]] = []
    while position < len(inner):
        item = _ITEM.match(inner, position)
        if item is None or len(pairs) > MAX_LABELS:
            return None
        pairs.append((_unquoted(item["key"]), _unquoted(item["value"])))
        position = item.end()
    if all(key is None for key, _ in pairs):
        return [name for _, name in pairs if isinstance(name, str)]
    return _by_index(pairs)


def _unquoted(text: str | None) -> str | int | None:
    if text is None or text.isdigit():
        return None if text is None else int(text)
    return _ESCAPE.sub(r"\1", text[1:-1])


def _by_index(pairs: list[tuple[object, object]]) -> list[str] | None:
    """{0: "cat"}, {"0": "cat"} or {"cat": 0}; the indices must be 0, 1, 2, … for the list to mean anything."""
    names: dict[int, str] = {}
    for key, value in pairs:
        if isinstance(value, int) and isinstance(key, str):
            key, value = value, key
        if isinstance(key, str) and key.isdecimal() and len(key) < 10:
            key = int(key)
        if not isinstance(key, int) or not isinstance(value, str):
            return None
        names[key] = value
    return [names[index] for index in range(len(names))] if set(names) == set(range(len(names))) else None
