"""Documents: rows as their authors wrote them, which templates make prompts of, and what is true of each."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.lines import refuse_folder
from mlmodelscope.dataset.parts import digest_of, name_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.table_rows import Row, rows_of
from mlmodelscope.dataset.text import read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.extras import install_extra
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope_worker.pipeline.document import fill_answer, with_numbers
from mlmodelscope_worker.pipeline.value import SampleError

_AT_ONCE = 500
_LIMITS = Limits(cpu_s=10.0)
"""For so many answers; an ordinary template takes a hundredth of it."""
_WHOLE = (".tokens", ".raw")
"""How WikiText and others call files of plain text."""
_LARGEST_TEXT = 64 << 20
_LARGEST = 1 << 22
"""Characters of a document."""


@dataset_format("documents", packed=True, has_targets=True)
def read_documents(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Rows with named fields: CSV, TSV, JSON Lines, a JSON list or Parquet; the dataset's `prompt` reads them."""
    if source.name.endswith(_WHOLE):
        return [_whole_text(source, dataset)]
    # `labels_url` has a line for each row: the field `label`.
    rows = list(rows_of(source, dataset))
    documents = [_fields(row) for row in rows]
    if not isinstance(rows[0].cells, Mapping):
        documents = with_numbers(documents)
    if labels is not None:
        _add_labels(documents, labels)
    names = [_name(row, number, dataset) for number, row in enumerate(rows)]
    found = []
    for number, (name, document, answer) in enumerate(zip(names, documents, _answers(documents, dataset), strict=True)):
        content = {"parts": {"document": {"document": document, "ordinal": number}}}
        found.append(Unlabelled(name, content, None, digest_of(document), answer))
    return found


def _whole_text(source: NamedFile, dataset: PlannedDataset) -> Unlabelled:
    """A file of plain text is one document, whose field is `text`."""
    refuse_folder(source)
    if source.path.stat().st_size > _LARGEST_TEXT:
        raise DatasetError(f"{source.name} is larger than {_LARGEST_TEXT >> 20} MiB, the most that one document can be")
    document = {"text": read_text(source)}
    (answer,) = _answers([document], dataset)
    content = {"parts": {"document": {"document": document, "ordinal": 0}}}
    return Unlabelled("00000", content, None, digest_of(document), answer)


def _name(row: Row, number: int, dataset: PlannedDataset) -> str:
    column = dataset.columns.id if dataset.columns is not None else None
    return f"{number:05d}" if column is None else name_of(row.get(column), row.where)


def _fields(row: Row) -> dict[str, Any]:
    if not all(isinstance(each, str) for each in row.columns):
        raise DatasetError(f"{row.where} has columns without names, and templates call fields by their names")
    return {str(name): row.get(name) for name in row.columns}


def _add_labels(documents: list[dict[str, Any]], labels: NamedFile) -> None:
    try:
        lines = labels.path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{labels.name} is not UTF-8: {error}") from None
    lines = lines[:-1] if lines and not lines[-1] else lines
    if len(lines) != len(documents):
        raise DatasetError(f"{labels.name} has {len(lines)} lines, and there are {len(documents)} documents")
    for document, line in zip(documents, lines, strict=True):
        document["label"] = int(line) if line.strip().isdigit() else line


def _answers(documents: list[dict[str, Any]], dataset: PlannedDataset) -> list[Any]:
    """What is true of each document, in the form `{"answers": […]}`; nothing where nobody says."""
    template, has_choices = dataset.answer, dataset.task == "multiple_choice"
    if template is None:
        return [None] * len(documents)
    if "{" not in template or all(template in each for each in documents):
        filled = [_filled(template, each, number, has_choices) for number, each in enumerate(documents)]
        return [target_of(each, dataset.task) for each in filled]
    if importlib.util.find_spec("jinja2") is None:
        raise DatasetError(
            f"the answers of {dataset.name} are a template, which needs jinja2", hint=install_extra("language")
        )
    found: list[Any] = []
    with Confined(_LIMITS, processes=1) as confined:
        for start in range(0, len(documents), _AT_ONCE):
            found += confined.call(
                fill_all,
                template=template,
                documents=documents[start : start + _AT_ONCE],
                first=start,
                has_choices=has_choices,
            )
    return [target_of(each, dataset.task) for each in found]


def fill_all(template: str, documents: Sequence[dict[str, Any]], first: int, has_choices: bool) -> list[Any]:
    """In a process of its own: what a stranger's template does may take for ever."""
    return [_filled(template, each, first + number, has_choices) for number, each in enumerate(documents)]


def _filled(template: str, document: dict[str, Any], number: int, has_choices: bool) -> Any:
    try:
        return fill_answer(template, document, has_choices=has_choices)
    except SampleError as error:
        raise DatasetError(f"the answer to document {number} (they count from 0): {error}") from None


def target_of(answer: Any, task: str) -> dict[str, Any]:
    """One right answer or several: numbers of choices, or texts; of a translation its references."""
    listed = answer if isinstance(answer, list | tuple) else [answer]
    kept = [each if isinstance(each, str | int) and not isinstance(each, bool) else str(each) for each in listed]
    return {"texts": [str(each) for each in kept]} if task == "translation" else {"answers": kept}
