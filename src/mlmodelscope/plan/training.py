"""The loop of a training, planned: the manifest's settings, and above them those of the command."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.schema.training import Training
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan, PlannedInput, PlannedTraining

ADJUSTABLE = ("epochs", "steps", "batch_size", "evaluate_every", "checkpoint_every", "checkpoint_every_s", "target")
"""What a command may set; all else is the manifest's."""


def plan_training(
    model: ModelManifest, options: Options, inputs: tuple[PlannedInput, ...], threads: int
) -> PlannedTraining | None:
    if model.training is None:
        if options.training:
            raise UsageError(
                f"{model.name} has no `training`, and so no {', '.join(sorted(options.training))}",
                hint="`--set KEY=VALUE` sets a hyper-parameter of a training that is a function of its own",
            )
        return None
    chosen = _adjusted(model.training, options)
    steps = chosen.processing
    if steps is None:
        steps = inputs[0].steps if inputs else ()
    kept = chosen.model_dump(exclude={"code", "functions", "processing", "evaluation_batch_size", "augmentation"})
    return PlannedTraining(
        **kept,
        functions=chosen.functions.model_dump(),
        processing=steps,
        augmentation=chosen.augmentation,
        evaluation_batch_size=chosen.evaluation_batch_size or chosen.batch_size,
        threads=threads,
    )


def adjusted(plan: Plan) -> dict[str, Any]:
    """What a command would set to run this plan's loop."""
    if plan.training is None:
        return {}
    found = {name: getattr(plan.training, name) for name in ADJUSTABLE}
    return {name: value for name, value in found.items() if value not in (None, {})}


def _adjusted(training: Training, options: Options) -> Training:
    odd = sorted(set(options.training) - set(ADJUSTABLE))
    if odd:
        raise UsageError(f"`{odd[0]}` of a training cannot be set\nknown: {', '.join(ADJUSTABLE)}")
    given = dict(options.training)
    if "steps" in given:
        given.setdefault("epochs", None)
    if given.get("epochs") is not None:
        given.setdefault("steps", None)
    written = training.model_dump(exclude={"functions", "processing", "augmentation"})
    parts = {name: getattr(training, name) for name in ("functions", "processing", "augmentation")}
    try:
        return Training(**{**written, **parts, **given})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "training"
        raise UsageError(f"`{where}`: {first['msg']}") from None
