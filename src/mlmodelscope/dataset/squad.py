"""SQuAD's questions about paragraphs, of version 1.1 and 2.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.lines import refuse_folder
from mlmodelscope.dataset.parts import name_of, sample_of, text_part
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.targets import answers
from mlmodelscope.dataset.text import read_json, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

_LARGEST = 512 << 20


@dataset_format("squad", packed=True, has_targets=True)
def read_squad(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """SQuAD's JSON, 1.1 and 2.0: questions (`text`) about paragraphs (`text_pair`), and their answers."""
    refuse_folder(source)
    if source.path.stat().st_size > _LARGEST:
        raise DatasetError(f"{source.name} is larger than {_LARGEST >> 20} MiB")
    data = read_json(read_text(source), source)
    found, seen = [], set()
    for where, context, question in _questions(data, source):
        name = name_of(question.get("id"), where)
        if name in seen:
            raise DatasetError(f"{where} has the id `{name}`, which an earlier question has")
        seen.add(name)
        parts = {"text": text_part(question.get("question"), where), "text_pair": text_part(context, where)}
        found.append(sample_of(name, parts, None, _answers(question, where)))
    return found


def _answers(question: dict[str, Any], where: str) -> dict[str, Any]:
    impossible = question.get("is_impossible", False)
    listed = [_object(each, f"an answer of {where}").get("text") for each in _list(question, "answers", where)]
    target: dict[str, Any] = answers([listed], where)[1]
    if not isinstance(impossible, bool) or (target["impossible"] and not impossible):
        raise DatasetError(f"{where} has no answer, and `is_impossible` is not true")
    return {"texts": [], "impossible": True} if impossible else target


def _questions(data: Any, file: NamedFile) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """(how errors call it, the paragraph, the question)."""
    for at, article in enumerate(_list(_object(data, file.name), "data", file.name)):
        place = f"article {at} of {file.name}"
        for number, paragraph in enumerate(_list(_object(article, place), "paragraphs", place)):
            inner = f"paragraph {number} of {place}"
            context = _object(paragraph, inner).get("context")
            for which, question in enumerate(_list(paragraph, "qas", inner)):
                where = f"question {which} of {inner}"
                yield where, context, _object(question, where)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DatasetError(f"{where} is not an object as SQuAD has it: {str(value)[:80]}")
    return value


def _list(value: dict[str, Any], key: str, where: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list):
        raise DatasetError(f"{where} has no list `{key}`, as SQuAD has it")
    return found
