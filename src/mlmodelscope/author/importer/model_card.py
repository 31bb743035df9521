"""Hugging Face: the header of a model card (README.md), whose `model-index` has published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import Draft
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.published import Published, add_claims, text_of, words_of
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.request import name_from
from mlmodelscope.model_file.limit import clean

_SECTION = "model_card"
_ONLY_HERE = ("model-index", "pipeline_tag", "library_name", "base_model")
_USUAL = (
    *("language", "license", "tags", "datasets", "metrics", "thumbnail", "widget", "inference", "new_version"),
    *("license_name", "license_link", "language_details", "arxiv", "extra_gated_prompt", "extra_gated_fields"),
)
_ABOUT = ("language", "tags", "datasets", "base_model", "base_model_relation", "pipeline_tag", "library_name")
_PAGE_ONLY = ("thumbnail", "widget", "inference", "metrics", "extra_gated_prompt", "extra_gated_fields")


def _recognise(data: Mapping[str, Any]) -> bool:
    return any(key in data for key in _ONLY_HERE) or (bool(data) and set(data) <= {*_USUAL, *_ONLY_HERE})


@importer("model_card", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """the header of a model card, with `model-index`"""
    fields, draft = Fields(data, context.file), Draft()
    license = fields.any("license")
    name = text_of(fields.any("license_name"))
    text = name if license == "other" and name else ", ".join(map(str, license)) if _is_list(license) else license
    draft.learn("license", text_of(text), context.file)
    link = text_of(fields.any("license_link"))
    if link:
        draft.references.append(link)
    about = {key: fields.any(key) for key in _ABOUT if key in fields}
    if about:
        draft.attributes.setdefault(_SECTION, {}).update(about)
    fields.ignore(*_PAGE_ONLY)
    found: list[Published] = []
    entries = fields.each("model-index")
    for number, entry in enumerate(entries):
        title = entry.text("name")
        draft.learn("name", name_from((title or "").rsplit("/", 1)[-1]), "model-index", guess=True)
        of = [f"of {title}"] if title and len(entries) > 1 else []
        for place, result in enumerate(entry.each("results")):
            found += _numbers(result, f"model-index[{number}].results[{place}]", of, draft)
    add_claims(draft, _SECTION, found)
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _numbers(result: Fields, where: str, of: list[str], draft: Draft) -> list[Published]:
    """Every metric of one result: one task on one dataset."""
    empty = Fields({}, result.file, where)
    task, dataset = result.fields("task") or empty, result.fields("dataset") or empty
    source = result.fields("source") or empty
    kind = dataset.text("type")
    title = dataset.text("name")
    config = dataset.text("config")
    shown = _dataset_name(kind or title or "", config)
    said = list(of)
    if title and title != kind:
        said.append(title)
    for key in ("revision",):
        text = dataset.text(key)
        said += [f"{key} {text}"] if text else []
    said += words_of("args", dataset.any("args"))
    address = source.text("url") or source.text("name")
    found = []
    for place, metric in enumerate(result.each("metrics")):
        at = f"{where}.metrics[{place}]"
        name = metric.text("type") or metric.text("name") or ""
        title, more = metric.text("name"), list(said)
        if title and title.lower() != name.lower():
            more.append(f"called {title}")
        more += words_of("args", metric.any("args")) + words_of("config", metric.any("config"))
        if metric.flag("verified"):
            more.append("verified by the hub")
        metric.ignore("verifyToken")
        for key, value in metric.rest().items():
            if key != "value":
                draft.keep(_SECTION, f"{at}.{key}", value)
        found.append(
            Published(
                name,
                metric.any("value"),
                shown,
                task.word("type") or "",
                dataset.text("split"),
                address,
                tuple(more),
                f"{at}.value",
            )
        )
    return found


def _dataset_name(kind: str, config: str | None) -> str:
    """`wikitext/wikitext-2-raw-v1`: a configuration of the hub's is a dataset of its own."""
    name = "-".join(clean(kind).split()) or "unknown"
    return f"{name}/{'-'.join(config.split())}" if config and config not in ("default", kind) else name
