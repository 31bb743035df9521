"""What steps make of a sample before the model gets it: a tensor for each of its inputs."""

from __future__ import annotations

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.plan.plan import PlannedInput


def plan_inputs(model: ModelManifest, dataset: DatasetManifest) -> tuple[PlannedInput, ...]:
    """What steps make of a sample; nothing where functions take it as it is."""
    if model.preprocess is not None or model.job_type == "training" or (model.run is not None and not model.inputs):
        return ()
    if dataset.format == "functions":
        raise PlanError(
            f"only the functions of {dataset.name} know its samples; the steps of {model.name} cannot prepare them",
            hint="a `preprocess` function can",
        )
    if not model.inputs:
        raise PlanError(
            f"{model.name} has no `inputs`",
            hint="describe what it takes under `inputs`, with the steps that prepare it",
        )
    _refuse_what_steps_cannot(model)
    return tuple(
        PlannedInput(
            layer_name=each.layer_name,
            element_type=each.element_type,
            steps=end_in_element_type(each.processing, each.element_type),
        )
        for each in model.inputs
    )


def _refuse_what_steps_cannot(model: ModelManifest) -> None:
    other = next((each.type for each in model.inputs if each.type != "image"), None)
    if other is not None:
        raise PlanError(
            f"{model.name} takes {other}; so far steps prepare images only",
            hint="a `preprocess` function can prepare anything",
        )
    if len(model.inputs) == 1:
        return
    if model.run is not None or model.postprocess is not None:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs and functions; where there are functions, steps prepare one",
            hint="a `preprocess` function can prepare several",
        )
    nameless = next((number for number, each in enumerate(model.inputs) if each.layer_name is None), None)
    if nameless is not None:
        raise PlanError(
            f"{model.name} has {len(model.inputs)} inputs, and inputs[{nameless}] has no `layer_name`",
            hint="give each its `layer_name`: the name or the number of the model's input",
        )


def end_in_element_type(steps: tuple[Step, ...], element_type: str) -> tuple[Step, ...]:
    """The tensor has the input's element type in the end; the plan says so in words."""
    if steps and steps[-1].name in ("cast", "quantize"):
        return steps
    return (*steps, Step(name="cast", parameters={"element_type": element_type, "mode": "value"}))
