"""What steps make of a sample before the model gets it."""

from __future__ import annotations

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
from mlmodelscope.plan.plan import PlannedInput


def plan_input(model: ModelManifest, dataset: DatasetManifest) -> PlannedInput | None:
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


def end_in_element_type(steps: tuple[Step, ...], element_type: str) -> tuple[Step, ...]:
    """The tensor has the input's element type in the end; the plan says so in words."""
    if steps and steps[-1].name in ("cast", "quantize"):
        return steps
    return (*steps, Step(name="cast", parameters={"element_type": element_type, "mode": "value"}))
