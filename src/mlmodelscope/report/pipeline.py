"""The pipeline as blocks in order: input steps, the model, output steps, answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.plugins.steps import ANSWER_STEPS, OUTPUT_STEPS, STEPS
from mlmodelscope.report import words
from mlmodelscope.task.task import task_named
from mlmodelscope_worker.parameters import Declaration, ParameterError

# The library changes the answer more often than anything else: it is named even where it is the default.
_ALWAYS_SHOWN = {"library"}


@dataclass(frozen=True)
class Parameter:
    name: str
    value: str
    meaning: str
    shown: bool
    """Whether it differs from its default, so that a reader must see it."""


@dataclass(frozen=True)
class Block:
    name: str
    kind: str
    """`input`, `model`, `output` or `answers`."""
    meaning: str
    parameters: tuple[Parameter, ...]

    @property
    def shown(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.shown)


def pipeline_blocks(plan: Plan) -> list[Block]:
    return [
        *(
            _function(plan, stage, "input")
            for stage in ("setup", "init", "load", "preprocess")
            if stage in plan.functions
        ),
        *(_step(step, "input", STEPS) for each in plan.inputs for step in each.steps),
        _model(plan),
        *(_function(plan, stage, "output") for stage in ("postprocess", "unload") if stage in plan.functions),
        *(_step(step, "output", OUTPUT_STEPS) for each in plan.outputs for step in each.steps),
        *(_step(step, "answers", ANSWER_STEPS) for step in plan.answer.steps),
        *(() if task_named(plan.task).is_ruled else (_answers(plan),)),
    ]


def _step(step: Step, kind: str, known: Registry[Declaration]) -> Block:
    declaration = known.get(step.name)
    return Block(step.name, kind, declaration.meaning if declaration else "", _describe(step.parameters, declaration))


def _function(plan: Plan, stage: str, kind: str) -> Block:
    function = plan.functions[stage]
    lines = Parameter("lines", str(len(function.code.splitlines())), "Length of the code.", True)
    return Block(f"{stage} (Python)", kind, f"The manifest's own function `{function.function}`.", (lines,))


def _model(plan: Plan) -> Block:
    declaration = PREDICTORS.get(plan.predictor.name or "")
    runs = plan.predictor.name or "Python"
    layers = [
        *(
            Parameter("output", words.value(each.layer_name), f"Layer that the {each.role} come from.", True)
            for each in plan.outputs
        ),
        Parameter("predictor", runs, "Framework that runs the model.", True),
    ]
    for each in reversed(plan.inputs):
        layers[:0] = [
            Parameter("input", words.value(each.layer_name), "Layer that takes the tensor.", True),
            Parameter("element_type", each.element_type, "Element type of that tensor.", True),
        ]
    if "run" in plan.functions:
        layers.append(Parameter("run", "Python", "The manifest's own function calls the framework.", True))
    layers = [layer for layer in layers if layer.value != "none"]
    meaning = declaration.meaning if declaration else ""
    return Block(plan.model.name, "model", meaning, (*layers, *_describe(plan.predictor.options, declaration)))


def _answers(plan: Plan) -> Block:
    answer = plan.answer
    return Block(
        "answers",
        "answers",
        "The best classes of each sample, best first.",
        (
            Parameter("top_k", str(answer.top_k), "How many are kept.", True),
            Parameter(
                "label_offset",
                str(answer.label_offset),
                "Output number of the dataset's class 0.",
                answer.label_offset != 0,
            ),
        ),
    )


def _describe(given: dict[str, Any], declaration: Declaration | None) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            name,
            words.value(value),
            declaration.kinds[name].meaning if declaration and name in declaration.kinds else "",
            name in _ALWAYS_SHOWN or not _is_default(name, given, declaration),
        )
        for name, value in given.items()
    )


def _is_default(name: str, given: dict[str, Any], declaration: Declaration | None) -> bool:
    """Whether leaving the parameter out would come to the same; some defaults depend on the other parameters."""
    if declaration is None:
        return False
    try:
        without = declaration.resolve({key: value for key, value in given.items() if key != name})
    except ParameterError:
        return False
    return bool(without.get(name) == given[name])
