"""The framework that runs a model, however its author spells it, and the predictor for it."""

from __future__ import annotations

import re

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.framework_names import predictor_name
from mlmodelscope.manifest.schema import Framework, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.plugins.predictors import PREDICTORS

_MODEL = re.compile(r"""["']model["']""")  # as in ctx["model"]


def framework_word(framework: Framework) -> str:
    """The predictor's name for a framework, however an author spells it."""
    return predictor_name(framework.name)


def same_framework(one: Framework, other: Framework) -> bool:
    return framework_word(one) == framework_word(other)


def choose_framework(model: ModelManifest, software: SoftwareManifest | None) -> Framework | None:
    """What runs the model: the model's own word on it, and where it has none, the software manifest's."""
    ours, theirs = model.framework, software.framework if software else None
    if ours and theirs and framework_word(ours) != framework_word(theirs):
        assert software is not None
        raise PlanError(
            f"{model.name} is for {ours.name}, {software.name} brings {theirs.name}",
            hint=f"name a stack of {ours.name}: mlmodelscope stacks lists them",
        )
    return theirs if theirs and (not ours or ours.version == "*") else ours


def needs_framework(model: ModelManifest, framework: Framework | None) -> bool:
    """A `run` function may do all by itself; where it asks for the model, it gets it loaded by a known framework."""
    if not model.does_it_all:
        return True
    asks = any(_MODEL.search(each.code) for each in model.functions.values())
    return asks and model.source is not None and framework is not None and framework_word(framework) in PREDICTORS


def find_predictor(model: ModelManifest, framework: Framework | None = None) -> str:
    """Which predictor runs this model's framework."""
    framework = framework or model.framework
    if framework is None:
        raise PlanError(
            f"neither {model.name} nor a software manifest says which framework runs it",
            hint="name a software manifest with --software, or write `framework:` into the model manifest",
        )
    name = framework_word(framework)
    if name not in PREDICTORS:
        raise PlanError(
            f"there is no predictor for the framework {framework.name} of {model.name}\n"
            f"known: {', '.join(sorted(PREDICTORS))}",
            hint=nearest(name, PREDICTORS),
        )
    return name
