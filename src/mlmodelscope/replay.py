"""A reference log carried out again, and compared with what came out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from mlmodelscope.errors import UsageError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    Manifest,
    ModelManifest,
    ReferenceLog,
    SoftwareManifest,
)
from mlmodelscope.manifest.schema.log import ManifestReference
from mlmodelscope.preparation import DatasetSource, HardwareSource, ModelSource, SoftwareSource
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.log import expected_rows, options_of, read_outputs
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report.differences import Differences, compare_with_log
from mlmodelscope.settings import Settings
from mlmodelscope.training import train
from mlmodelscope.watcher import Watcher

Sought = TypeVar("Sought", bound=Manifest)


def replay(
    log: str | Path | ReferenceLog,
    *,
    model: ModelSource | None = None,
    dataset: DatasetSource | None = None,
    software: SoftwareSource | None = None,
    hardware: HardwareSource | None = None,
    again: bool = False,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
    do: Callable[..., Record] | None = None,
) -> tuple[Record, Differences]:
    """Do what a reference log describes, with any of its four manifests replaced.

    `do` does it elsewhere, such as on a server: it gets `train` or `evaluate` and leaves the record where the settings
    say.
    """
    settings = settings or Settings.from_environment()
    wanted = find_manifest(ReferenceLog, log)
    named = wanted.manifests
    find = _find if do is None else _name
    chosen = {
        "model": model if model is not None else find(ModelManifest, named.model, wanted),
        "dataset": dataset if dataset is not None else find(DatasetManifest, named.dataset, wanted),
        "software": software if software is not None else find(SoftwareManifest, named.software, wanted),
        "hardware": hardware if hardware is not None else find(HardwareManifest, named.hardware, wanted),
    }
    kind = "train" if wanted.job_type == "training" else "evaluate"
    run = partial(do, kind) if do is not None else train if kind == "train" else evaluate
    record = run(
        **chosen,  # type: ignore[arg-type]
        options=options_of(wanted),
        again=again,
        trust=trust,
        settings=settings,
        watcher=watcher,
    )
    store = Store(settings)
    try:
        table = None
        if wanted.outputs is not None and wanted.outputs.url is not None:
            table = ArtifactStore(settings).fetch(wanted.outputs.url, wanted.outputs.checksum).path
        expected = read_outputs(wanted, table)
        found = {row.sample: row for row in expected_rows(record, store)} if expected else {}
        return record, compare_with_log(wanted, record, expected, found)
    finally:
        store.close()


def _name(sought: type[Manifest], reference: ManifestReference | None, log: ReferenceLog) -> str | None:
    """Whoever does it elsewhere finds it there."""
    return reference.reference if reference is not None else None


def _split_of(manifest: Sought, split: str | None) -> Sought:
    if not isinstance(manifest, DatasetManifest) or split is None:
        return manifest
    try:
        return cast(Sought, manifest.for_split(split))
    except ValueError as error:
        raise UsageError(str(error)) from None


def _find(sought: type[Sought], reference: ManifestReference | None, log: ReferenceLog) -> Sought | None:
    """By name and version: the manifest may have moved or been improved since; that its content differs is reported."""
    if reference is None:
        return None
    try:
        found = find_manifest(sought, f"{reference.name}@{reference.version}")
        return _split_of(found, reference.split)
    except UsageError as error:
        aspect = sought.__name__.removesuffix("Manifest").lower()
        raise UsageError(
            f"{log.reference} was made with the {aspect} {reference.name}@{reference.version}, which is not here: "
            f"{error.message}",
            hint=f"name its manifest with --{aspect} FILE, or its folder in MLMODELSCOPE_MANIFESTS",
        ) from None
