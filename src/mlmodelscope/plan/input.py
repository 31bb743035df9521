"""What steps make of a sample before the model gets it: a tensor for each of its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.dialect.v1_input import MEAN_IMAGE
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.manifest.schema.model import RECORDED, Input
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL
from mlmodelscope.plan.language import plan_question
from mlmodelscope.plan.plan import PlannedInput
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope_worker.pipeline.step import StepDeclaration

_PARTS = {
    "image": "image",
    "text": "text",
    "audio": "audio",
    "columns": "columns",
    "table": "columns",
    "tensor": "array",
    "prompt": "document",
}
"""The part of a sample that an input of each type takes."""
_KINDS = {
    "image": "image",
    "text": "text",
    "audio": "encoded sound",
    "columns": "row",
    "table": "row",
    "tensor": "image",
    "prompt": "prompt",
}
"""What steps get of it at first."""


def notes_on_inputs(model: ModelManifest) -> tuple[str, ...]:
    """What an old manifest asks for and no step does."""
    return tuple(
        f"{model.name} asks for the mean image {each.attributes[MEAN_IMAGE]}, which no step subtracts"
        for each in model.inputs
        if isinstance(each.attributes.get(MEAN_IMAGE), str)
    )


_NUMBERS_BY = {
    "text": "`tokenize` cuts a text into tokens",
    "row": "`columns` chooses which cells of a row are fed, in which order",
    "encoded sound": "`decode_audio` reads a sound file",
}


def plan_inputs(model: ModelManifest, dataset: DatasetManifest) -> tuple[PlannedInput, ...]:
    """What steps make of a sample; nothing where functions take it as it is."""
    if model.preprocess is not None or (model.does_it_all and not model.inputs):
        return ()
    if model.training is not None:
        return tuple(planned for each in model.inputs for planned in _plan_input(each))
    if model.job_type == "training":
        return ()
    if dataset.format == "functions":
        raise PlanError(
            f"only the functions of {dataset.name} know its samples; the steps of {model.name} cannot prepare them",
            hint="a `preprocess` function can",
        )
    if model.framework is not None and model.framework.name.lower() == RECORDED:
        column = model.inputs[0].layer_name if model.inputs else 0
        return (PlannedInput(part="id", layer_name=column, element_type="string", steps=()),)
    if not model.inputs:
        raise PlanError(
            f"{model.name} has no `inputs`",
            hint="describe what it takes under `inputs`, with the steps that prepare it",
        )
    _refuse_what_steps_cannot(model)
    if model.task == LANGUAGE_MODEL:
        return (plan_question(model, dataset),)
    return tuple(planned for each in model.inputs for planned in _plan_input(each))


def part_taken(model: ModelManifest) -> str:
    """The part of a sample that the model's first input takes."""
    if not model.inputs:
        return "image"
    kind = model.inputs[0].type
    return part_for_functions(kind) if model.preprocess is not None else _PARTS.get(kind, "image")


def part_for_functions(kind: str) -> str:
    """The part that functions are given for an input of this type; pictures and sounds are files to them."""
    part = _PARTS.get(kind, "image")
    return part if part in ("text", "columns") else "image"


def _plan_input(given: Input) -> Iterator[PlannedInput]:
    """One input; or one for each layer that a text feeds, which begin with the same steps."""
    if not given.layers:
        yield _planned(given, given.layer_name, given.processing)
    for layer, tensor in given.layers.items():
        yield _planned(given, layer, (*given.processing, Step(name="take", parameters={"tensor": tensor})))


def _planned(given: Input, layer: str | int | None, steps: tuple[Step, ...]) -> PlannedInput:
    return PlannedInput(
        part=_PARTS[given.type],
        layer_name=layer,
        element_type=given.element_type,
        steps=end_in_element_type(steps, given.element_type),
    )


def _refuse_what_steps_cannot(model: ModelManifest) -> None:
    for number, each in enumerate(model.inputs):
        if each.type not in _PARTS:
            raise PlanError(
                f"{model.name} takes {each.type}, which no steps prepare",
                hint=f"they prepare {', '.join(_PARTS)}; a `preprocess` function can prepare anything",
            )
        if each.layers and each.layer_name is not None:
            raise PlanError(f"inputs[{number}] of {model.name} has `layer_name` and `layers`; one of them is enough")
        _refuse_kinds(model, number, each)
    if len(model.inputs) == 1:
        return
    if model.run is not None or model.postprocess is not None:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs and functions; where there are functions, steps prepare one",
            hint="a `preprocess` function can prepare several",
        )
    nameless = next(
        (number for number, each in enumerate(model.inputs) if each.layer_name is None and not each.layers), None
    )
    if nameless is not None:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs, and inputs[{nameless}] has no `layer_name`",
            hint="give each its `layer_name`: the name or the number of the model's input",
        )


def _refuse_kinds(model: ModelManifest, number: int, given: Input) -> None:
    """Each step must be for what the one before it makes: nobody resizes a text."""
    kind, before = _KINDS[given.type], f"an input of type {given.type}"
    if kind == "prompt" and given.processing and given.processing[0].name == kind:
        kind = "document"  # it makes the prompt itself
    for step in given.processing:
        declaration = STEPS[step.name]
        if not isinstance(declaration, StepDeclaration):
            continue
        after = declaration.after(kind)
        if after is None:
            takes = " or ".join(declaration.takes)
            raise PlanError(
                f"inputs[{number}] of {model.name}: the step `{step.name}` is for {takes}, and {before} is {kind}",
                hint="docs/reference/steps.md says what each step takes and makes",
            )
        kind, before = after, f"what `{step.name}` makes"
    if kind in ("text", "row", "encoded sound"):
        raise PlanError(
            f"inputs[{number}] of {model.name}: no step makes numbers of {before}",
            hint=_NUMBERS_BY[kind],
        )


def steps_fit(given: PlannedInput) -> bool:
    """Whether each step is for what the one before it makes."""
    types = {part: kind for kind, part in _PARTS.items()}
    kind: str | None = _KINDS[types[given.part]] if given.part in types else None
    if given.part == "document":  # a plan has the dataset's `prompt` in front of the manifest's steps
        kind = "document"
    for step in given.steps:
        declaration = STEPS[step.name]
        if kind is not None and isinstance(declaration, StepDeclaration):
            kind = declaration.after(kind)
            if kind is None:
                return False
    return True


def end_in_element_type(steps: tuple[Step, ...], element_type: str) -> tuple[Step, ...]:
    """The tensor has the input's element type in the end; the plan says so in words."""
    if steps and steps[-1].name in ("cast", "quantize"):
        return steps
    return (*steps, Step(name="cast", parameters={"element_type": element_type, "mode": "value"}))
