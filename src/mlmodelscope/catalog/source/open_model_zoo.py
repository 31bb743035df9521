"""Open Model Zoo: `model.yml` and `accuracy-check.yml` of each model's folder in the wheel of openvino-dev."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.author.config_file import ConfigFile, parse_config
from mlmodelscope.author.draft import Draft
from mlmodelscope.author.importer import import_configs
from mlmodelscope.author.lay_out import checked_text, lay_out
from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.draft_outputs import with_outputs
from mlmodelscope.catalog.entry import ClaimFact, Entry
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.words import metric_word
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.schema.task import task_names
from mlmodelscope.model_file.limit import clean

_ABOUT = "*model.yml"
_CHECK = "accuracy-check.yml"


def _recognize(files: Files) -> bool:
    return bool(files.matching(f"*{_CHECK}")) and bool(files.matching(_ABOUT))


@source_form("open_model_zoo", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """the Open Model Zoo."""
    names = set(reading.files.names)
    for about in reading.files.matching(_ABOUT):
        folder = about.rpartition("/")[0]
        if about.rpartition("/")[2] != "model.yml":
            continue
        found = [name for name in (about, f"{folder}/{_CHECK}" if folder else _CHECK) if name in names]
        try:
            draft = _draft(reading, found)
            entry = _entry(draft, folder.rpartition("/")[2], about)
        except MLModelScopeError as error:
            reading.leave_out(_reason(error), about)
            continue
        yield entry


def _reason(error: MLModelScopeError) -> str:
    """The kind of a failure: one line for many models."""
    return f"a model that cannot be written as a manifest: {type(error).__name__}"


def _draft(reading: Reading, names: list[str]) -> Draft:
    configs = [ConfigFile(Path(name), parse_config(reading.files.read(name), name)) for name in names]
    return import_configs(configs, None)


def _entry(draft: Draft, folder: str, place: str) -> Entry:
    name = name_from(folder) or str(draft.get("name", "model"))
    draft.facts.pop("name", None)
    draft.learn("name", name, "")
    draft.learn("version", "1.0.0", "of this manifest, not of the model", guess=True)
    draft.learn("task", "general", "nothing says what the model does", guess=True)
    if draft.get("task") not in task_names():
        draft.facts.pop("task")
        draft.learn("task", "general", "")
    if "source.graph_path" not in draft.facts:
        address = f"https://github.com/openvinotoolkit/open_model_zoo/raw/2022.3.1/{_repository_path(place)}"
        draft.learn("source.graph_path", address, "the zoo publishes no file of it: this is its description")
    with_outputs(draft)
    page = lay_out(draft)
    text = checked_text(page, place)
    return Entry(
        name,
        str(draft.get("task")),
        architecture=name,
        framework=str(draft.get("framework.name", "")),
        description=clean(" ".join(str(draft.get("description", "")).split()))[:200],
        code_license="Apache-2.0",
        weights_license=str(draft.get("license", ""))[:100],
        claims=tuple(_claim(claim, place) for claim in draft.claims),
        references=tuple(draft.references[:5]),
        place=place,
        manifest=text,
    )


def _repository_path(place: str) -> str:
    """`models/public/NAME/model.yml` in the repository, wherever the wheel has it."""
    return "models/" + place.partition("models/")[2] if "models/" in place else place


def _claim(claim: dict[str, Any], place: str) -> ClaimFact:
    word = metric_word(str(claim["metric"]))
    return ClaimFact(
        str(claim["metric"]),
        str(claim["value"]),
        claim.get("unit") or ("percent" if word.unit in ("percent", "") else "dB" if word.unit == "dB" else "number"),
        "references of the accuracy checker are shares, and the importer writes them in percent",
        place,
        str(claim.get("dataset") or ""),
        is_measurable=word.is_known,
    )
