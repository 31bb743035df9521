"""Manifests and options become a plan, or an exact reason why not. Nothing is fetched and nothing is run here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    Framework,
    HardwareManifest,
    Manifest,
    ModelManifest,
    SoftwareManifest,
    Step,
)
from mlmodelscope.manifest.schema.model import SERVERS
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.match import MachineFacts, unmet
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import (
    Plan,
    PlannedDataset,
    PlannedFile,
    PlannedFunction,
    PlannedInput,
    PlannedManifest,
    PlannedModel,
    PlannedOutput,
    PlannedPredictor,
    PlannedSource,
    PlannedStack,
    Scenario,
    StackRecipe,
    Subset,
)
from mlmodelscope.types import Checksum
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.parameters import ParameterError, Text
from mlmodelscope_worker.pipeline.library import PACKAGES
from mlmodelscope_worker.predictor import PREDICTORS

# What authors call a framework, without case, spaces and dashes → its predictor.
_MODEL = re.compile(r"""["']model["']""")  # as in ctx["model"]
_FRAMEWORKS = {
    "onnx": "onnxruntime",
    "ort": "onnxruntime",
    "torch": "pytorch",
    "torchscript": "pytorch",
    "tf": "tensorflow",
    "keras": "tensorflow",
    "tensorflowlite": "tflite",
    "litert": "tflite",
    "scikitlearn": "sklearn",
    "cv2": "opencv",
    "opencvdnn": "opencv",
    **dict.fromkeys(SERVERS, "remote"),
}


@dataclass(frozen=True)
class StackDescription:
    """What a stack has, as far as a plan must know."""

    name: str
    python: str
    packages: Mapping[str, str]
    recipe: StackRecipe | None = None
    """How it was built, for a stack that can be built again."""


Pins = Mapping[str, str]
"""sha256 of each reference whose manifest does not give it."""


def make_plan(
    model: ModelManifest,
    dataset: DatasetManifest,
    options: Options,
    stack: StackDescription,
    pins: Pins,
    *,
    software: SoftwareManifest | None = None,
    hardware: HardwareManifest | None = None,
    machine: MachineFacts | None = None,
) -> Plan:
    """Resolve every default and constraint."""
    if dataset.task not in (model.task, "general") and model.task != "general":
        raise PlanError(f"{model.name} is for {model.task}, {dataset.name} for {dataset.task}")
    framework = _framework(model, software)
    predictor = find_predictor(model, framework) if _needs_framework(model, framework) else None
    _refuse_machine(model, hardware, machine, is_elsewhere=predictor == "remote")
    first_input = _plan_input(model, dataset)
    functions = {**_plan_functions(model), **_plan_functions(dataset)}
    return Plan(
        task=model.task,
        job_type=model.job_type,
        model=_plan_model(model, pins),
        input=first_input,
        output=_plan_output(model, options, pins),
        dataset=plan_dataset(dataset, options, pins),
        predictor=_plan_predictor(model, predictor, options, _threads(options, hardware)),
        stack=_plan_stack(
            model, framework, predictor, first_input.steps if first_input else (), stack, software, bool(functions)
        ),
        scenario=_plan_scenario(options),
        seed=options.seed,
        functions=functions,
        context=_context(model) if functions else {},
        hyperparameters={**model.hyperparameters, **options.hyperparameters},
        setup=hardware.setup if hardware else None,
        settings=hardware.settings if hardware else None,
        claims=model.claims,
        manifests=_manifests(model=model, dataset=dataset, software=software, hardware=hardware),
    )


def _refuse_machine(
    model: ModelManifest, hardware: HardwareManifest | None, machine: MachineFacts | None, is_elsewhere: bool
) -> None:
    if machine is None:
        return
    reasons = unmet(hardware, machine) if hardware else []
    required = () if is_elsewhere else model.system_requirements  # what a server runs on cannot be seen from here
    if "gpu" in required and not machine.gpus:
        reasons.append(f"{model.name} has `system_requirements: [gpu]`, there is no GPU")
    for other in ("fpga", "tpu"):
        if other in required:
            reasons.append(f"{model.name} has `system_requirements: [{other}]`, which cannot be seen on this machine")
    if reasons:
        asked = hardware.reference if hardware else model.reference
        raise PlanError(f"this machine is not what {asked} asks for\n" + "\n".join(f"- {each}" for each in reasons))


def _framework(model: ModelManifest, software: SoftwareManifest | None) -> Framework | None:
    """What runs the model: the model's own word on it, and where it has none, the software manifest's."""
    ours, theirs = model.framework, software.framework if software else None
    if ours and theirs and _word(ours.name) != _word(theirs.name):
        assert software is not None
        raise PlanError(f"{model.name} is for {ours.name}, {software.name} brings {theirs.name}")
    return theirs if theirs and (not ours or ours.version == "*") else ours


def _needs_framework(model: ModelManifest, framework: Framework | None) -> bool:
    """A `run` function may do all by itself; where it asks for the model, it gets it loaded by a known framework."""
    if model.run is None:
        return True
    asks = any(_MODEL.search(each.code) for each in model.functions.values())
    return asks and model.source is not None and framework is not None and _word(framework.name) in PREDICTORS


def _plan_model(model: ModelManifest, pins: Pins) -> PlannedModel:
    source = model.source
    firmware = _file(model.firmware.url, model.firmware.checksum, pins) if model.firmware else None
    if source is None:
        return PlannedModel(name=model.name, version=model.version, firmware=firmware)
    return PlannedModel(
        name=model.name,
        version=model.version,
        graph=_file(source.graph_path, source.graph_checksum, pins),
        weights=_optional_file(source.weights_path, source.weights_checksum, pins),
        weights_key=source.weights_key,
        firmware=firmware,
    )


def _plan_input(model: ModelManifest, dataset: DatasetManifest) -> PlannedInput | None:
    """What steps make of a sample; nothing where functions take it as it is."""
    if model.preprocess is not None or model.job_type == "training" or (model.run is not None and not model.inputs):
        return None
    if dataset.format == "functions":
        raise PlanError(
            f"only the functions of {dataset.name} know its samples; the steps of {model.name} cannot prepare them",
            hint="a `preprocess` function can",
        )
    if len(model.inputs) != 1:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs; steps prepare one",
            hint="a `preprocess` function can prepare several",
        )
    (only,) = model.inputs
    if only.type != "image":
        raise PlanError(
            f"{model.name} takes {only.type}; so far steps prepare images only",
            hint="a `preprocess` function can prepare anything",
        )
    steps = end_in_element_type(only.processing, only.element_type)
    return PlannedInput(layer_name=only.layer_name, element_type=only.element_type, steps=steps)


def _plan_output(model: ModelManifest, options: Options, pins: Pins) -> PlannedOutput:
    if model.postprocess is None and model.job_type == "inference":
        scores = [output for output in model.outputs if output.type in ("probability", "logits")]
        if model.task != "classification" or len(model.outputs) != 1 or not scores:
            kinds = ", ".join(output.type for output in model.outputs) or "no output"
            raise PlanError(
                f"{model.name} is for {model.task} and gives {kinds}; so far the outputs of a classification "
                "(one output of type `probability` or `logits`) become answers by themselves",
                hint="a `postprocess` function can make answers of anything",
            )
    first = model.outputs[0] if model.outputs else None
    steps = first.processing if first and model.postprocess is None else ()
    return PlannedOutput(
        layer_name=first.layer_name if first else None,
        steps=steps,
        probabilities=first is not None
        and (first.type == "probability" or any(step.name == "softmax" for step in steps)),
        top_k=options.top_k,
        label_offset=first.label_offset if first else 0,
        names=_optional_file(first.features_url, first.features_checksum, pins) if first else None,
    )


def _plan_functions(manifest: ModelManifest | DatasetManifest) -> dict[str, PlannedFunction]:
    return {
        stage: PlannedFunction(
            code=each.code, function=each.function or stage, gets=each.gets, file=manifest.file, line=each.line
        )
        for stage, each in manifest.functions.items()
    }


def _context(model: ModelManifest) -> dict[str, Any]:
    """What `ctx` tells the functions of the manifest. Addresses are left out: the plan is the same wherever it lies."""
    kept = {"name", "version", "task", "job_type", "inputs", "outputs", "attributes"}
    addresses = {"outputs": {"__all__": {"features_url", "features_checksum"}}}
    return model.model_dump(mode="json", include=kept, exclude=addresses, exclude_none=True)


def _manifests(**manifests: Manifest | None) -> dict[str, PlannedManifest]:
    return {
        aspect: PlannedManifest(name=each.name, version=each.version, id=each.id, digest=each.digest)
        for aspect, each in manifests.items()
        if each is not None
    }


def find_predictor(model: ModelManifest, framework: Framework | None = None) -> str:
    """Which predictor runs this model's framework."""
    framework = framework or model.framework
    if framework is None:
        raise PlanError(
            f"neither {model.name} nor a software manifest says which framework runs it",
            hint="name a software manifest with --software, or write `framework:` into the model manifest",
        )
    name = _word(framework.name)
    if name not in PREDICTORS:
        raise PlanError(
            f"there is no predictor for the framework {framework.name} of {model.name}\n"
            f"known: {', '.join(sorted(PREDICTORS))}",
            hint=nearest(name, PREDICTORS),
        )
    return name


def _word(framework: str) -> str:
    word = framework.lower().replace(" ", "").replace("-", "").replace("_", "")
    return _FRAMEWORKS.get(word, word)


def end_in_element_type(steps: tuple[Step, ...], element_type: str) -> tuple[Step, ...]:
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


def plan_dataset(dataset: DatasetManifest, options: Options, pins: Pins) -> PlannedDataset:
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


def _threads(options: Options, hardware: HardwareManifest | None) -> int:
    """The hardware manifest's word where the command has none; two different words are one too many."""
    chosen = hardware.settings.threads if hardware and hardware.settings else None
    if chosen is None or (chosen.optional and options.threads != 1):
        return options.threads
    if options.threads not in (1, chosen.value):
        assert hardware is not None
        raise UsageError(
            f"{hardware.reference} sets {chosen.value} threads, the command {options.threads}",
            hint="leave one of them out, or write `threads: {value: …, optional: true}` into the manifest",
        )
    return chosen.value


def _plan_predictor(model: ModelManifest, predictor: str | None, options: Options, threads: int) -> PlannedPredictor:
    given = {"threads": threads, **_written_options(model, predictor), **options.predictor_options}
    if predictor is None:
        return PlannedPredictor(name=None, options=given)
    declaration = PREDICTORS[predictor]
    given = {name: _as_text(declaration.kinds.get(name), value) for name, value in given.items()}
    try:
        resolved = declaration.resolve(given)
    except ParameterError as error:
        known = f"\nknown: {', '.join(error.known)}" if error.known else ""
        where = f" `{error.parameter}`" if error.parameter else ""
        hint = f"--option {error.parameter}=…" if error.parameter and error.parameter not in given else None
        raise UsageError(f"option{where} of {predictor}: {error.message}{known}", hint=hint) from None
    return PlannedPredictor(
        name=predictor,
        options={name: value for name, value in resolved.items() if name not in declaration.where},
        where={name: value for name, value in resolved.items() if name in declaration.where},
    )


def _written_options(model: ModelManifest, predictor: str | None) -> dict[str, Any]:
    """What the manifest itself says of its server."""
    if predictor != "remote":
        return {}
    written: dict[str, Any] = {"model": model.name}
    if model.remote is not None:
        written |= model.remote.model_dump(exclude_none=True, exclude={"config"})
        if model.remote.config:
            written["config"] = json.dumps(model.remote.config, sort_keys=True, default=str)
    return written


def _as_text(kind: object, value: Any) -> Any:
    """The command line takes `model_version=3` for a number; the option is a text."""
    return str(value) if isinstance(kind, Text) and isinstance(value, int) and not isinstance(value, bool) else value


def _plan_stack(
    model: ModelManifest,
    framework: Framework | None,
    predictor: str | None,
    steps: tuple[Step, ...],
    stack: StackDescription,
    software: SoftwareManifest | None,
    carries_code: bool,
) -> PlannedStack:
    used = {"numpy": stack.packages.get("numpy", "")}
    if predictor is not None:
        assert framework is not None
        used |= _framework_version(model, framework, predictor, stack)
    for step in steps:
        library = step.parameters.get("library")
        if library is not None:
            used |= _library_version(library, stack)
    missing = sorted(name for name, version in used.items() if not version)
    if missing:
        raise PlanError(f"{_the(stack)} lacks {', '.join(missing)}", hint=f"pip install {' '.join(missing)}")
    if carries_code:  # code may import anything, so anything may change the answer
        used = dict(stack.packages)
    _refuse_stack(software, stack)
    environment = {**(software.env if software else {}), **model.envvars}
    return PlannedStack(
        name=stack.name, python=stack.python, packages=used, environment=environment, recipe=stack.recipe
    )


def _the(stack: StackDescription) -> str:
    return "this Python" if stack.recipe is None else f"the stack {stack.name}"


def _framework_version(
    model: ModelManifest, framework: Framework, predictor: str, stack: StackDescription
) -> dict[str, str]:
    alternatives = PREDICTORS[predictor].packages
    found = next((name for name in alternatives if normalise(name) in stack.packages), None)
    if found is None:
        if not alternatives:
            return {}
        raise PlanError(
            f"{model.name} needs {predictor}, which {_the(stack)} does not have",
            hint=f"pip install {alternatives[0]}, or name a stack that has it: mlmodelscope stacks lists them",
        )
    version = stack.packages[normalise(found)]
    constraint = Constraint(framework.version)
    if not constraint.matches(Version(version), allow_prerelease=True):
        raise PlanError(
            f"{model.name} needs {framework.name} {constraint}, {_the(stack)} has {found} {version}",
            hint=f"pip install '{found}' in a version that satisfies {constraint}, or name a stack that has one",
        )
    return {found: version}


def _refuse_stack(software: SoftwareManifest | None, stack: StackDescription) -> None:
    reasons = misfits(software, stack) if software is not None else []
    if reasons:
        assert software is not None
        raise PlanError(
            f"{stack.name} is not what {software.reference} describes\n" + "\n".join(f"- {each}" for each in reasons)
        )


def misfits(software: SoftwareManifest, stack: StackDescription) -> list[str]:
    """In what a stack is not what a software manifest describes."""
    if software.stack is None:
        return []
    root = stack.recipe.root if stack.recipe is not None else None
    if root != software.stack.root:
        return [f"a stack in {software.stack.root} is asked for"]
    if stack.recipe is not None and stack.recipe.requirements == software.stack.requirements:
        return []  # built from it; a wheel may call itself 2.7 where the index says 2.7.post2
    reasons = []
    if not Constraint(software.stack.python).matches(Version(stack.python), allow_prerelease=True):
        reasons.append(f"Python {software.stack.python} is asked for, this is {stack.python}")
    for requirement in software.stack.requirements:
        pinned = requirement.partition(";")[0].partition(" --")[0].strip()
        name, _, version = pinned.partition("==")
        have = stack.packages.get(normalise(name.strip().partition("[")[0]))
        if version and have != version.strip(" ="):
            reasons.append(f"{pinned} is asked for, there is {have or 'none'}")
    return reasons


def provides(model: ModelManifest, framework: Framework | None, stack: StackDescription) -> bool:
    """Whether a stack has the framework that a model needs, in a version that will do."""
    needed = framework or model.framework
    if needed is None or not _needs_framework(model, needed):
        return True
    predictor = _word(needed.name)
    if predictor not in PREDICTORS:
        return False
    found = [name for name in PREDICTORS[predictor].packages if normalise(name) in stack.packages]
    if not found:
        return not PREDICTORS[predictor].packages
    version = Version(stack.packages[normalise(found[0])])
    return Constraint(needed.version).matches(version, allow_prerelease=True)


def same_framework(one: Framework, other: Framework) -> bool:
    return framework_word(one) == framework_word(other)


def framework_word(framework: Framework) -> str:
    """The predictor's name for a framework, however an author spells it."""
    return _word(framework.name)


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
