"""From what a user names to a plan: manifests found, their code trusted, their files pinned, every default resolved."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypedDict, Unpack

from mlmodelscope.connection.resolve import with_folder
from mlmodelscope.dataset.class_names import known_classes
from mlmodelscope.manifest.aspects import Aspects, find_aspects
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.shown_address import holds_secret
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.plan.file import Pins
from mlmodelscope.plan.make import make_plan, refuse_early
from mlmodelscope.plan.match import MachineFacts
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.readers import model_read_by
from mlmodelscope.plan.trust import options_that_run_code
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import describe_facts
from mlmodelscope.provision.stack import Progress, build_image, choose_stack
from mlmodelscope.provision.stack.choose import check_stack
from mlmodelscope.provision.trust import refuse_options, require_trust
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum
from mlmodelscope.watcher import Watcher

ModelSource = str | Path | ModelManifest
DatasetSource = str | Path | DatasetManifest
SoftwareSource = str | Path | SoftwareManifest
HardwareSource = str | Path | HardwareManifest


class Conditions(TypedDict, total=False):
    """What every verb takes beside the model, the dataset and the options."""

    software: SoftwareSource | None
    """The stack: a software manifest, `current` or `image:NAME`; by default what the model manifest names."""
    hardware: HardwareSource | None
    """What the machine must have and how it is set; by default what the model manifest names."""
    trust: bool
    """Allow code in the manifests to run, for this run only."""
    settings: Settings | None
    """Where things are kept; by default what the environment says."""
    watcher: Watcher | None
    """Who is told what happens."""
    tolerant: bool
    """Count samples whose label no output stands for as wrong, instead of refusing the dataset."""


@dataclass(frozen=True)
class Asked:
    """One request: the manifests it is about, and the conditions under which it is carried out."""

    aspects: Aspects
    options: Options
    trust: bool
    settings: Settings
    watcher: Watcher
    artifacts: ArtifactStore
    tolerant: bool = False

    @property
    def model(self) -> ModelManifest:
        return self.aspects.model

    def plan(self, options: Options | None = None) -> Plan:
        """What will happen; `options` replace those that were asked for."""
        return plan_aspects(
            self.aspects,
            options or self.options,
            self.artifacts,
            self.settings,
            trust=self.trust,
            progress=self.watcher.building,
        )


def refuse_unknown(conditions: Iterable[str], *own: str) -> None:
    """A keyword that is misspelled must not be left out without a word; `own` are those of a verb itself."""
    known, chosen = sorted((*own, *Conditions.__annotations__)), {each.name for each in fields(Options)}
    for name in conditions:
        if name in known:
            continue
        if name in chosen:
            hint = f"it is one of the options: Options({name}=…)"
        else:
            hint = nearest(name, (*known, *sorted(chosen))) or f"the options are {', '.join(sorted(chosen))}"
        raise TypeError(f"unknown keyword argument `{name}`; known: {', '.join(known)}; {hint}")


def ask(
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    **conditions: Unpack[Conditions],
) -> Asked:
    """Find the manifests and settle the conditions. Nothing is fetched or run yet."""
    refuse_unknown(conditions)
    settings = conditions.get("settings") or Settings.from_environment()
    watcher = conditions.get("watcher") or Watcher()
    return Asked(
        find_aspects(model, dataset, conditions.get("software"), conditions.get("hardware")),
        options or Options(),
        conditions.get("trust", False),
        settings,
        watcher,
        ArtifactStore(settings, watcher.downloading),
        conditions.get("tolerant", False),
    )


def plan_aspects(
    aspects: Aspects,
    options: Options,
    artifacts: ArtifactStore,
    settings: Settings,
    *,
    trust: bool = False,
    progress: Progress = lambda line: None,
) -> Plan:
    """A plan that may be carried out: code is trusted before anything is fetched for it."""
    aspects = replace(aspects, dataset=with_folder(aspects.dataset, settings))
    require_trust(aspects.manifests, settings, trust=trust)
    aspects, note = check_aspects(aspects, options, trust=trust)
    gpu = options.predictor_options.get("device", "cpu") != "cpu"
    if aspects.image is not None:
        software, stack = None, build_image(aspects.image, settings, progress).description
    else:
        software, stack = choose_stack(
            aspects.model,
            aspects.software,
            settings,
            progress,
            gpu=gpu,
            trust=trust,
            relax=options.relax_framework,
        )
    for each in (aspects.model, aspects.dataset):
        if os.path.isfile(each.file):  # of this machine's catalogue, even where a stranger asks for it
            artifacts.allow(url for url, _ in references(each))
    pins = {**pin(aspects.model, artifacts), **pin(aspects.dataset, artifacts)}
    _learn_addresses((aspects.model, aspects.dataset), pins, artifacts)
    _remember_manifests((aspects.model, aspects.dataset, software, aspects.hardware), settings.home)
    plan = make_plan(
        aspects.model,
        aspects.dataset,
        options,
        stack,
        pins,
        software=software,
        hardware=aspects.hardware,
        classes=known_classes(aspects.model, aspects.dataset, artifacts),
        machine=_facts(aspects),
    )
    if note is not None:
        plan = plan.model_copy(update={"warnings": (*plan.warnings, note)})
    for warning in plan.warnings:
        progress(f"warning: {warning}")
    if plan.predictor.where.get("url") and "url" not in options.predictor_options:
        progress(f"samples go to {plan.predictor.where['url']}, which the manifest of {plan.model.name} names")
    return plan


def check_aspects(aspects: Aspects, options: Options, *, trust: bool = False) -> tuple[Aspects, str | None]:
    """Refuse what cannot run, as far as the manifests tell: nothing is built, fetched or started to find out.

    The model is returned as the stack's framework runs it, with a note where that is another one than its own.
    """
    model, note = model_read_by(aspects.model, aspects.software)
    aspects = replace(aspects, model=model)
    refuse_options(options_that_run_code(model, aspects.software, options), trust=trust)
    refuse_early(
        model,
        aspects.dataset,
        options,
        software=aspects.software,
        hardware=aspects.hardware,
        machine=_facts(aspects),
    )
    if aspects.software is not None and aspects.image is None:
        gpu = options.predictor_options.get("device", "cpu") != "cpu"
        check_stack(model, aspects.software, gpu=gpu, trust=trust, relax=options.relax_framework)
    return aspects, note


def _facts(aspects: Aspects) -> MachineFacts | None:
    return describe_facts() if aspects.hardware or aspects.model.system_requirements else None


def remembered_manifest(home: Path, digest: str) -> Path:
    """Where a manifest that a plan was made from is kept as it was written; records know its digest only."""
    return home / "manifests" / f"{digest}.yml"


def _remember_manifests(manifests: Iterable[Manifest | None], home: Path) -> None:
    for manifest in manifests:
        if manifest is None or not os.path.isfile(manifest.file):
            continue
        place = remembered_manifest(home, manifest.digest)
        if not place.exists() and not holds_secret(Path(manifest.file).read_text(encoding="utf-8", errors="replace")):
            with contextlib.suppress(OSError):  # only needed when the record is shared later
                place.parent.mkdir(parents=True, exist_ok=True)
                draft = place.with_name(f"{place.name}.{os.getpid()}.draft")
                shutil.copyfile(manifest.file, draft)
                draft.replace(place)


def _learn_addresses(
    manifests: Iterable[ModelManifest | DatasetManifest], pins: Pins, artifacts: ArtifactStore
) -> None:
    """Plans have addresses without their secrets; the store that fetches for them has the rest, in memory."""
    for manifest in manifests:
        for url, checksum in references(manifest):
            parsed = Checksum.parse(checksum) if checksum else None
            artifacts.learn(url, parsed.hex if parsed and parsed.algorithm == "sha256" else pins[url])


def pin(manifest: ModelManifest | DatasetManifest, artifacts: ArtifactStore) -> Pins:
    """sha256 of the files whose manifests give none or another checksum: they must be fetched to be known."""
    return {
        url: artifacts.fetch(url, checksum).sha256
        for url, checksum in references(manifest)
        if checksum is None or Checksum.parse(checksum).algorithm != "sha256"
    }


def references(manifest: ModelManifest | DatasetManifest) -> list[tuple[str, str | None]]:
    """Every file that a manifest names, with its checksum."""
    pairs: list[tuple[str | None, str | None]] = []
    if isinstance(manifest, ModelManifest):
        source = manifest.source
        if source is not None:
            pairs += [(source.graph_path, source.graph_checksum), (source.weights_path, source.weights_checksum)]
        if manifest.firmware is not None:
            pairs.append((manifest.firmware.url, manifest.firmware.checksum))
        pairs += [(output.features_url, output.features_checksum) for output in manifest.outputs]
        pairs += [(file.url, file.checksum) for file in manifest.files.values()]
    else:
        pairs += [(manifest.classes_url, manifest.classes_checksum)]
        pairs += [(file.url, file.checksum) for file in manifest.files.values()]
        for place in (*manifest.sources, *(each for split in manifest.splits.values() for each in split.sources)):
            pairs += [(place.url, place.checksum), (place.labels_url, place.labels_checksum)]
            pairs.append((place.names_url, place.names_checksum))
    return [(url, checksum) for url, checksum in pairs if url]
