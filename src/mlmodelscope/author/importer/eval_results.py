"""Hugging Face: `.eval_results/*.yaml`, numbers beside the weights, each of one benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.config_file import RESULTS
from mlmodelscope.author.draft import Draft
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.published import Published, add_claims
from mlmodelscope.author.importer.registry import Context, importer

_METRIC = "score"
"""The file does not name the metric: the benchmark has one."""


def _recognise(data: Mapping[str, Any]) -> bool:
    return set(data) == {RESULTS}


@importer("eval_results", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's .eval_results/*.yaml"""
    draft, found = Draft(), []
    for number, entry in enumerate(Fields(data, context.file).each(RESULTS)):
        dataset = entry.fields("dataset") or Fields({}, context.file)
        source = entry.fields("source") or Fields({}, context.file)
        task = dataset.text("task_id")
        said = [f"task {task}"] if task else []
        places = {"revision": dataset, "date": entry, "name": source, "user": source, "org": source}
        for key, fields in places.items():
            text = fields.text(key)
            said += [text if key == "name" else f"{key} {text}"] if text else []
        notes = entry.text("notes")
        said += [notes] if notes else []
        where = f"{RESULTS}[{number}]"
        entry.ignore("verifyToken", "value")
        for key, value in entry.rest().items():
            draft.keep(RESULTS, f"{where}.{key}", value)
        name = "-".join((dataset.text("id") or "unknown").split())
        if task and task not in ("default", name.rpartition("/")[2]):
            name = f"{name}/{'-'.join(task.split())}"
        conditions = tuple(each for each in said if each != f"task {task}" or task == "default")
        address = source.text("url")
        found.append(Published(_METRIC, entry.any("value"), name, "", None, address, conditions, f"{where}.value"))
    add_claims(draft, RESULTS, found)
    if found:
        draft.notes.append(f"{context.file} names no metrics: write each claim's own in place of `{_METRIC}`")
    return draft
