"""What a request would need trust for, before anything is fetched: code in its manifests, its image, its options."""

from __future__ import annotations

from mlmodelscope.manifest.aspects import Aspects
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.manifest.trust import Carried, code_in_options
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.options import Options
from mlmodelscope.plugins.predictors import PREDICTORS


def options_that_run_code(model: ModelManifest, software: SoftwareManifest | None, options: Options) -> list[Carried]:
    """Options by which a predictor is told to run what is in a model's file."""
    if not options.predictor_options:
        return []
    frameworks = (model.framework, software.framework if software is not None else None)
    declared = [PREDICTORS.get(framework_word(each)) for each in frameworks if each is not None]
    names = {name for each in declared if each is not None for name in each.options_that_need_trust()}
    return code_in_options(options.predictor_options, names)


def needs_trust(aspects: Aspects, options: Options) -> bool:
    return aspects.carries_code or bool(options_that_run_code(aspects.model, aspects.software, options))
