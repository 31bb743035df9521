"""How the model's outputs become answers, and how those are scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.framework_names import predictor_name
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL
from mlmodelscope.plan.file import Pins, plan_optional_file
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedAnswer, PlannedGeneration, PlannedOutput
from mlmodelscope.plugins.steps import ANSWER_STEPS
from mlmodelscope.task.task import Task, task_named
from mlmodelscope_worker.parameters import ParameterError

_BY_FUNCTION = ("columns",)
"""What stands for the roles of a function's own outputs."""
_SCORES = ("logits", "probability", "classification")
_NO_USUAL_BOXES = ("caffe", "caffe2", "cntk", "mxnet", "ncnn", "pytorch")
"""Frameworks whose detectors do not give boxes as TensorFlow's do, each in a form of its own."""


def plan_outputs(model: ModelManifest, dataset: DatasetManifest) -> tuple[PlannedOutput, ...]:
    """Each output with its steps; of a manifest with a function for them, the first, as the framework gives it."""
    found = _outputs(model)
    if not dataset.labels.among or model.task != "classification":
        return found
    return (_among(found, model, dataset), *found[1:])


def _among(outputs: Sequence[PlannedOutput], model: ModelManifest, dataset: DatasetManifest) -> PlannedOutput:
    """Only the classes that the dataset has may be answers: before scores become probabilities of all classes."""
    if model.postprocess is not None or not outputs or outputs[0].role not in _SCORES:
        raise PlanError(
            f"only {len(dataset.labels.among)} classes compete on {dataset.name}, and the answers of {model.name} are "
            "not scores of classes",
            hint="a model whose first output has the `type` logits or probability can be measured on it",
        )
    offset = model.outputs[0].label_offset
    wanted = [number + offset for number in dataset.labels.among]
    step = Step(name="only_classes", parameters={"classes": wanted})
    steps = outputs[0].steps
    at = next((at for at, each in enumerate(steps) if each.name in ("softmax", "sigmoid")), len(steps))
    return outputs[0].model_copy(update={"steps": (*steps[:at], step, *steps[at:])})


def _outputs(model: ModelManifest) -> tuple[PlannedOutput, ...]:
    if model.task == LANGUAGE_MODEL:
        return ()
    if model.postprocess is not None or model.job_type == "training" or not model.outputs:
        first = model.outputs[0] if model.outputs else None
        steps = first.processing if first and model.postprocess is None else ()
        role, name = (first.type, first.layer_name) if first else ("general", None)
        return (PlannedOutput(role=role, layer_name=name, steps=steps),)
    return tuple(
        PlannedOutput(role=each.type, layer_name=each.layer_name, steps=each.processing) for each in model.outputs
    )


def plan_generation(model: ModelManifest) -> PlannedGeneration | None:
    """How a decoder is asked, where there is one."""
    asked = model.generate
    if asked is None:
        return None
    return PlannedGeneration(**asked.model_dump())


def plan_answer(model: ModelManifest, options: Options, pins: Pins) -> PlannedAnswer:
    task = task_named(model.task)
    roles: list[str] = ["tokens"] if model.generate is not None else [each.type for each in model.outputs]
    if model.task == LANGUAGE_MODEL:  # it answers in the words of its question
        return PlannedAnswer(top_k=options.top_k)
    if model.postprocess is None and model.job_type == "inference":
        _refuse_unknown(model, task, roles)
        _refuse_open_boxes(model, roles)
    first = model.outputs[0] if model.outputs else None
    steps = first.processing if first and model.postprocess is None else ()
    named = next((each for each in model.outputs if each.features_url is not None), first)
    offset = next((each.label_offset for each in model.outputs if each.label_offset), 0)
    return PlannedAnswer(
        steps=model.answer or _usual_steps(task, roles if model.postprocess is None else _BY_FUNCTION),
        probabilities=first is not None
        and (first.type == "probability" or any(step.name == "softmax" for step in steps)),
        top_k=options.top_k,
        label_offset=offset,
        names=plan_optional_file(named.features_url, named.features_checksum, pins) if named else None,
    )


def _usual_steps(task: Task, roles: Sequence[str]) -> tuple[Step, ...]:
    """What the task does where a manifest says nothing, spelled out."""
    found = []
    for each in task.steps(roles):
        ((name, parameters),) = each.items()
        found.append(Step(name=name, parameters=dict(ANSWER_STEPS[name].resolve(parameters))))
    return tuple(found)


def plan_measure(named: str, model: ModelManifest, dataset: DatasetManifest) -> dict[str, Any]:
    """How answers are scored, every option explicit: the model's word goes before the dataset's."""
    task = task_named(named)
    for manifest in (dataset, model):
        try:
            task.settle(manifest.measure)
        except ParameterError as error:
            known = f"\nknown: {', '.join(error.known)}" if error.known else ""
            raise PlanError(
                f"`measure` of {manifest.name}: `{error.parameter}`: {error.message}{known}",
                hint=error.hint or f"the options of {task.name} are in docs/reference/tasks.md",
            ) from None
    return task.settle({**dataset.measure, **model.measure})


def _refuse_unknown(model: ModelManifest, task: Task, roles: Sequence[str]) -> None:
    """Outputs that no answer can be made of without a function."""
    if any(set(needed) <= set(roles) for needed in task.roles) and (len(roles) == 1 or not task.is_single):
        return
    kinds = ", ".join(roles) or "no output"
    if not task.roles:
        raise PlanError(
            f"{model.name} is for {model.task} and gives {kinds}; outputs of that task do not become answers yet",
            hint="a `postprocess` function can make answers of anything",
        )
    wanted = " or ".join(", ".join(f"`{role}`" for role in needed) for needed in task.roles)
    raise PlanError(
        f"{model.name} is for {model.task} and gives {kinds}; answers are made of outputs of type {wanted}",
        hint=f"{_missing(task, roles)}, or write a `postprocess` function, which can make answers of anything",
    )


def _missing(task: Task, roles: Sequence[str]) -> str:
    """What to add, where some of an answer's outputs are there already."""
    lacking = [[role for role in needed if role not in roles] for needed in task.roles if set(needed) & set(roles)]
    if not lacking or not min(lacking, key=len):
        return "give each output its type"
    return f"name the missing output of type {' and '.join(f'`{role}`' for role in min(lacking, key=len))}"


def _refuse_open_boxes(model: ModelManifest, roles: Sequence[str]) -> None:
    """Nobody guesses what the numbers of a box are."""
    framework = model.framework.name if model.framework else ""
    if model.answer or "boxes" not in roles or predictor_name(framework) not in _NO_USUAL_BOXES:
        return
    raise PlanError(
        f"the key `answer` of {model.name} is missing: "
        f"what the four numbers of a box are has no usual form in {framework}",
        hint="write `answer: [boxes: {order: xyxy, unit: pixel}]`, or what they are: docs/tasks/detection.md",
    )
