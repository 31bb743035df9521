"""What a language model is asked: a dataset's prompt, the model's own words for it, and what is to be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.manifest.schema.task import ASKED, LANGUAGE_MODEL
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.plan.plan import PlannedInput
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope_worker.parameters import File, ParameterError


def is_language_pair(model: ModelManifest, dataset: DatasetManifest) -> bool:
    """Whether both are of language models; PlanError where only the model is."""
    if model.task != LANGUAGE_MODEL:
        return False
    if dataset.task not in ASKED:
        raise PlanError(
            f"{model.name} is a language model, and {dataset.name} is for {dataset.task}",
            hint=f"a dataset for it has one of the tasks {', '.join(ASKED)}, and a `prompt`: docs/language-models.md",
        )
    return True


def planned_task(model: ModelManifest, dataset: DatasetManifest) -> str:
    """What is measured: the model's task, or, where it has many, the one that the dataset asks for."""
    return dataset.task if model.task == LANGUAGE_MODEL else model.task


def plan_question(model: ModelManifest, dataset: DatasetManifest) -> PlannedInput:
    """The dataset's prompt, what the model's manifest does with it, and what is asked."""
    if len(model.inputs) != 1 or model.inputs[0].type != "prompt":
        raise PlanError(
            f"{model.name} is a language model: it has one input, of type `prompt`", hint="docs/language-models.md"
        )
    if dataset.format != "documents":
        raise PlanError(
            f"{dataset.name} has the format {dataset.format}; what a language model is asked about are `documents`",
            hint="write `format: documents` and a `prompt`: docs/language-models.md",
        )
    own = model.inputs[0].processing
    named = {each.name for each in own}
    first = () if "prompt" in named else (_step("prompt", dataset.prompt, dataset, "prompt"),)
    asked = ASKED[dataset.task]
    wanted = {**model.ask, **dataset.ask} if asked == "write" else dataset.ask
    last = () if asked in named else (_step(asked, wanted, dataset, "ask"),)
    steps = (*first, *own, *last)
    _refuse_unknown_files(steps, model, dataset)
    return PlannedInput(part="document", layer_name=None, element_type="string", steps=steps)


def _step(name: str, given: Mapping[str, Any], dataset: DatasetManifest, key: str) -> Step:
    try:
        return Step(name=name, parameters=dict(STEPS[name].resolve(given)))
    except ParameterError as error:
        known = f"\nknown: {', '.join(error.known)}" if error.known else ""
        where = f": `{error.parameter}`" if error.parameter else ""
        raise PlanError(
            f"`{key}` of {dataset.name}{where}: {error.message}{known}",
            hint=error.hint or f"docs/reference/steps.md#{name} has what it takes",
        ) from None


def _refuse_unknown_files(steps: tuple[Step, ...], model: ModelManifest, dataset: DatasetManifest) -> None:
    twins = sorted(model.files.keys() & dataset.files.keys())
    if twins:
        raise PlanError(f"{model.name} and {dataset.name} both have a file `{twins[0]}`: one needs another name")
    known = (*model.files, *dataset.files)
    for step in steps:
        for parameter, kind in STEPS[step.name].kinds.items():
            name = step.parameters.get(parameter)
            if isinstance(kind, File) and name is not None and name not in known:
                raise PlanError(
                    f"step `{step.name}`: `{parameter}` is `{name}`, which is none of the manifests' `files`",
                    hint=nearest(name, known) or f"add it: `files: {{{name}: {{url: …}}}}`",
                )
