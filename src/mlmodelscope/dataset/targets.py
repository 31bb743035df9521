"""What cells of a table say is true of a sample, in the form that its task has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlmodelscope.dataset.boxes import is_finite
from mlmodelscope.dataset.lines import refuse_half_characters
from mlmodelscope.dataset.sample import Word
from mlmodelscope.errors import DatasetError

Cells = Sequence[Any]
Found = tuple[Word | None, Any]
"""(the word for its class, what else is true of it): one of the two."""

_MOST_VALUES = 1_000_000
_ANOMALY = {"1": 1, "1.0": 1, "true": 1, "anomaly": 1, "anomalous": 1, "abnormal": 1}
_NORMAL = {"0": 0, "0.0": 0, "false": 0, "normal": 0}


def class_word(cells: Cells, where: str) -> Found:
    """The number or the name of a class; a list where a sample may have several."""
    (cell,) = cells if len(cells) == 1 else (None,)
    if isinstance(cell, bool):
        return int(cell), None
    if isinstance(cell, str):
        cell = cell.strip()
        cell = int(cell.partition(".")[0]) if re.fullmatch(r"[0-9]{1,18}\.0+", cell) else cell
    if cell is None or cell == "" or (isinstance(cell, float) and not is_finite(cell)) or isinstance(cell, dict):
        raise DatasetError(f"{where} has no class: {_shown(cells)}")
    return cell, None


def values(cells: Cells, where: str) -> Found:
    """Numbers, each in a column, or in a JSON list."""
    return None, {"values": numbers(cells, where)}


def numbers(cells: Cells, where: str) -> list[float]:
    found = []
    for cell in cells:
        for each in _listed(cell, where):
            number = _number(each)
            if number is None:
                raise DatasetError(f"{where} has a value that is not a finite number: {str(each)[:80]!r}")
            found.append(number)
    if not found or len(found) > _MOST_VALUES:
        raise DatasetError(f"{where} has {len(found)} values")
    return found


def texts(cells: Cells, where: str) -> Found:
    """Reference texts, each in a column, or in a JSON list; those that are missing beside others are left out."""
    return None, {"texts": _texts(cells, where, least=1)}


def answers(cells: Cells, where: str) -> Found:
    """Answers to a question; none where it has no answer."""
    found = [each for each in _texts(cells, where, least=0) if each]
    return None, {"texts": found, "impossible": not found}


def _texts(cells: Cells, where: str, least: int) -> list[str]:
    found = []
    for cell in cells:
        some = cell if isinstance(cell, list) else [cell]
        for each in some:
            if each is None or (each == "" and len(cells) > 1):
                continue
            if not isinstance(each, str):
                raise DatasetError(f"{where} has {str(each)[:80]} in place of a text")
            refuse_half_characters(each, where)
            found.append(each)
    if len(found) < least:
        raise DatasetError(f"{where} has no reference text")
    return found


def anomaly(cells: Cells, where: str) -> Found:
    """1 or 0, `anomaly` or `normal`, true or false."""
    word = str(cells[0]).strip().lower() if len(cells) == 1 else ""
    found = {**_ANOMALY, **_NORMAL}.get(word)
    if found is None:
        raise DatasetError(f"{where} says neither 1 nor 0, `anomaly` nor `normal`: {_shown(cells)}")
    return None, {"anomaly": found, "group": ""}


def relevant(cells: Cells, where: str) -> Found:
    """Gains by the id of a document or the place of a candidate: {"d1": 2}, ["d1", "d2"] or `d1:2 d2`."""
    gains: dict[str, float] = {}
    for cell in cells:
        for name, gain in _pairs(cell, where):
            number = _number(gain)
            if number is None or number < 0 or not str(name):
                raise DatasetError(f"{where} has a gain that is not a number from 0: {str(gain)[:80]!r}")
            gains[str(name)] = number
    return None, {"relevant": gains}


def _pairs(cell: Any, where: str) -> list[tuple[Any, Any]]:
    if isinstance(cell, str) and cell.lstrip()[:1] not in ("[", "{"):
        split = [each.rpartition(":") for each in cell.split()]
        return [(name, gain) if colon else (gain, 1) for name, colon, gain in split]
    if isinstance(cell, str):
        cell = _parsed(cell, where)
    if isinstance(cell, Mapping):
        return list(cell.items())
    if isinstance(cell, int) and not isinstance(cell, bool):
        return [(cell, 1)]
    if isinstance(cell, list) and all(isinstance(each, (str, int)) for each in cell):
        return [(each, 1) for each in cell]
    if cell is None:
        return []
    raise DatasetError(f"{where} does not say what is relevant: {str(cell)[:80]}")


def _listed(cell: Any, where: str) -> list[Any]:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        cell = _parsed(cell, where)
    return cell if isinstance(cell, list) else [cell]


def _parsed(cell: str, where: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise DatasetError(f"{where} has a cell that is not valid JSON: {cell[:80]}") from None


def _number(value: Any) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9.]{1,400}([eE][+-]?[0-9]{1,9})?\s*", value):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if is_finite(value) else None


def _shown(cells: Cells) -> str:
    return ", ".join(str(each)[:40] for each in cells) or "there is nothing"


BY_TASK: dict[str, Callable[[Cells, str], Found]] = {
    "classification": class_word,
    "multilabel_classification": class_word,
    "text_classification": class_word,
    "audio_classification": class_word,
    "tabular_classification": class_word,
    "regression": values,
    "tabular_regression": values,
    "time_series_forecasting": values,
    "text_similarity": values,
    "anomaly_detection": anomaly,
    "embedding": relevant,
    "recommendation": relevant,
    "question_answering": answers,
    "translation": texts,
    "summarization": texts,
    "text_generation": texts,
    "speech_recognition": texts,
}
"""What each task makes of the cells; of another task, a cell is the word for a class."""
