"""Manifests and options become a plan, or an exact reason why not. Nothing is fetched and nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import (
    Plan,
    PlannedDataset,
    PlannedFile,
    PlannedInput,
    PlannedModel,
    PlannedOutput,
    PlannedPredictor,
    PlannedSource,
    PlannedStack,
    Scenario,
    Subset,
)
from mlmodelscope.types import Checksum
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline.library import PACKAGES
from mlmodelscope_worker.predictor import PREDICTORS

# What authors call a framework, without case, spaces and dashes → its predictor.
_FRAMEWORKS = {"onnx": "onnxruntime", "ort": "onnxruntime"}


@dataclass(frozen=True)
class StackDescription:
    """What a stack has, as far as a plan must know."""

    name: str
    python: str
    packages: Mapping[str, str]


Pins = Mapping[str, str]
"""sha256 of each reference whose manifest does not give it."""


def make_plan(
    model: ModelManifest, dataset: DatasetManifest, options: Options, stack: StackDescription, pins: Pins
) -> Plan:
    """Resolve every default and constraint."""
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs and {len(model.outputs)} outputs; "
            "classification takes one of each"
        )
    if model.task != dataset.task:
        raise PlanError(f"{model.name} is for {model.task}, {dataset.name} for {dataset.task}")
    predictor = find_predictor(model)
    first_input, output = model.inputs[0], model.outputs[0]
    steps = _end_in_element_type(first_input.processing, first_input.element_type)
    return Plan(
        task=model.task,
        model=PlannedModel(
            name=model.name,
            version=model.version,
            graph=_file(model.source.graph_path, model.source.graph_checksum, pins),
            weights=_optional_file(model.source.weights_path, model.source.weights_checksum, pins),
            weights_key=model.source.weights_key,
        ),
        input=PlannedInput(layer_name=first_input.layer_name, element_type=first_input.element_type, steps=steps),
        output=PlannedOutput(
            layer_name=output.layer_name,
            steps=output.processing,
            probabilities=output.type == "probability" or any(step.name == "softmax" for step in output.processing),
            top_k=options.top_k,
            label_offset=output.label_offset,
            names=_optional_file(output.features_url, output.features_checksum, pins),
        ),
        dataset=_plan_dataset(dataset, options, pins),
        predictor=PlannedPredictor(name=predictor, options=_predictor_options(predictor, options)),
        stack=_plan_stack(model, predictor, steps, stack),
        scenario=_plan_scenario(options),
        seed=options.seed,
        claims=model.claims,
    )


def find_predictor(model: ModelManifest) -> str:
    """Which predictor runs this model's framework."""
    word = model.framework.name.lower().replace(" ", "").replace("-", "").replace("_", "")
    name = _FRAMEWORKS.get(word, word)
    if name not in PREDICTORS:
        raise PlanError(
            f"there is no predictor for the framework {model.framework.name} of {model.name}\n"
            f"known: {', '.join(sorted(PREDICTORS))}",
            hint=nearest(name, PREDICTORS),
        )
    return name


def _end_in_element_type(steps: tuple[Step, ...], element_type: str) -> tuple[Step, ...]:
    """The tensor has the input's element type in the end; the plan says so in words."""
    if steps and steps[-1].name in ("cast", "quantize"):
        return steps
    return (*steps, Step(name="cast", parameters={"element_type": element_type, "mode": "value"}))


def _file(url: str, checksum: str | None, pins: Pins) -> PlannedFile:
    parsed = Checksum.parse(checksum) if checksum else None
    digest = parsed.hex if parsed and parsed.algorithm == "sha256" else pins.get(url)
    if digest is None:
        raise PlanError(f"the digest of {url} is not known: fetch it first, or write its sha256 into the manifest")
    return PlannedFile(sha256=digest, url=url)


def _optional_file(url: str | None, checksum: str | None, pins: Pins) -> PlannedFile | None:
    return _file(url, checksum, pins) if url else None


def _plan_dataset(dataset: DatasetManifest, options: Options, pins: Pins) -> PlannedDataset:
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"a limit of {options.limit} leaves nothing to evaluate")
    return PlannedDataset(
        name=dataset.name,
        version=dataset.version,
        format=dataset.format,
        sources=tuple(
            PlannedSource(
                name=source.name,
                files=_file(source.url, source.checksum, pins),
                labels=_optional_file(source.labels_url, source.labels_checksum, pins),
            )
            for source in dataset.sources
        ),
        include=dataset.include,
        labels=dataset.labels,
        classes=_optional_file(dataset.classes_url, dataset.classes_checksum, pins),
        shape=dataset.shape,
        size=dataset.size,
        subset=Subset(count=options.limit, stratified=options.stratified, seed=options.seed),
    )


def _predictor_options(predictor: str, options: Options) -> dict[str, object]:
    try:
        given = {"threads": options.threads, **options.predictor_options}
        return dict(PREDICTORS[predictor].resolve(given))
    except ParameterError as error:
        known = f"\nknown: {', '.join(error.known)}" if error.known else ""
        where = f" `{error.parameter}`" if error.parameter else ""
        raise UsageError(f"option{where} of {predictor}: {error.message}{known}") from None


def _plan_stack(model: ModelManifest, predictor: str, steps: tuple[Step, ...], stack: StackDescription) -> PlannedStack:
    used = {"numpy": stack.packages.get("numpy", "")}
    alternatives = PREDICTORS[predictor].packages
    found = next((name for name in alternatives if normalise(name) in stack.packages), None)
    if alternatives and found is None:
        raise PlanError(
            f"{model.name} needs {predictor}, which this Python does not have",
            hint=f"pip install 'mlmodelscope[{predictor}]'",
        )
    if found is not None:
        version = used[found] = stack.packages[normalise(found)]
        constraint = Constraint(model.framework.version)
        if not constraint.matches(Version(version), allow_prerelease=True):
            raise PlanError(
                f"{model.name} needs {model.framework.name} {constraint}, this Python has {found} {version}",
                hint=f"pip install '{found}' in a version that satisfies {constraint}",
            )
    for step in steps:
        library = step.parameters.get("library")
        if library is not None:
            used |= _library_version(library, stack)
    missing = sorted(name for name, version in used.items() if not version)
    if missing:
        raise PlanError(f"this Python lacks {', '.join(missing)}", hint=f"pip install {' '.join(missing)}")
    return PlannedStack(name=stack.name, python=stack.python, packages=used, environment=dict(model.envvars))


def _library_version(library: str, stack: StackDescription) -> dict[str, str]:
    """The distribution that brings a library here, with its version; no version where there is none."""
    for name in PACKAGES[library]:
        version = stack.packages.get(normalise(name))
        if version:
            return {name: version}
    return {PACKAGES[library][0]: ""}


def _plan_scenario(options: Options) -> Scenario:
    if options.batch_size < 1:
        raise UsageError(f"a batch of {options.batch_size} samples makes no sense")
    return Scenario(
        name="offline",
        batch_size=options.batch_size,
        warm_up_runs=options.warm_up_runs,
        timed_runs=options.timed_runs,
        timed_budget_s=options.timed_budget_s,
    )
