"""How the model's output becomes answers."""

from __future__ import annotations

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.file import Pins, plan_optional_file
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedOutput


def plan_output(model: ModelManifest, options: Options, pins: Pins) -> PlannedOutput:
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
        names=plan_optional_file(first.features_url, first.features_checksum, pins) if first else None,
    )
