"""A model manifest's files and functions, as planned."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.schema.builder import plain_options
from mlmodelscope.manifest.schema.model import Source
from mlmodelscope.manifest.shown_address import conceal
from mlmodelscope.plan.file import Pins, plan_file, plan_optional_file
from mlmodelscope.plan.plan import PlannedBuilder, PlannedFunction, PlannedModel


def plan_model(model: ModelManifest, pins: Pins) -> PlannedModel:
    source = model.source
    firmware = plan_file(model.firmware.url, model.firmware.checksum, pins) if model.firmware else None
    files = {name: plan_file(each.url, each.checksum, pins) for name, each in sorted(model.files.items())}
    if source is None:
        return PlannedModel(name=model.name, version=model.version, firmware=firmware, files=files)
    return PlannedModel(
        name=model.name,
        version=model.version,
        graph=plan_optional_file(source.graph_path, source.graph_checksum, pins),
        weights=plan_optional_file(source.weights_path, source.weights_checksum, pins),
        weights_key=source.weights_key,
        builder=_plan_builder(source),
        firmware=firmware,
        files=files,
    )


def _plan_builder(source: Source) -> PlannedBuilder | None:
    if source.builder is None or source.architecture is None:
        return None
    return PlannedBuilder(name=source.builder, architecture=source.architecture, options=plain_options(source.options))


def plan_functions(manifest: ModelManifest | DatasetManifest) -> dict[str, PlannedFunction]:
    return {
        stage: PlannedFunction(
            code=each.code, function=each.function or stage, gets=each.gets, file=_file(manifest, stage), line=each.line
        )
        for stage, each in manifest.functions.items()
    }


def _file(manifest: ModelManifest | DatasetManifest, stage: str) -> str:
    """The file that tracebacks name: the manifest, or the one beside it that a training's code is in."""
    if stage == "training" and isinstance(manifest, ModelManifest) and manifest.training is not None:
        return manifest.training.code if "\n" not in manifest.training.code else manifest.file
    return manifest.file


def context_of(model: ModelManifest) -> dict[str, Any]:
    """What `ctx` tells the functions of the manifest. Addresses are left out: the plan is the same wherever it lies."""
    kept = {"name", "version", "task", "job_type", "inputs", "outputs", "attributes"}
    addresses = {"outputs": {"__all__": {"features_url", "features_checksum"}}}
    found: dict[str, Any] = conceal(model.model_dump(mode="json", include=kept, exclude=addresses, exclude_none=True))
    return found
