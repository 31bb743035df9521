"""Which installed packages a plan uses, in which version and with which source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.formats import BUILT_IN, GROUP
from mlmodelscope.plan.plan import Plan, PlannedPlugin
from mlmodelscope.plugins.files import files_of
from mlmodelscope.plugins.installed import PREFIX, Plugin, plugins_in
from mlmodelscope.plugins.load import Fault
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.plugins.readers import READERS
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.plugins.steps import ANSWER_STEPS, AUGMENTATIONS, OUTPUT_STEPS, STEPS
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.rules import RULES
from mlmodelscope.task.task import TASKS, task_named


def with_plugins(plan: Plan) -> Plan:
    """The plan with what it uses of other packages, so that its identity covers their code."""
    used = {(each.group, name): _planned(each, name) for each, name in _used(plan)}
    planned = tuple(used[key] for key in sorted(used))
    return plan if planned == plan.plugins else plan.model_copy(update={"plugins": planned})


def _used(plan: Plan) -> Iterator[tuple[Plugin, str]]:
    names: list[tuple[Registry[Any], str]] = [(STEPS, step.name) for each in plan.inputs for step in each.steps]
    names += [(OUTPUT_STEPS, step.name) for each in plan.outputs for step in each.steps]
    if plan.training is not None:
        names += [(STEPS, step.name) for step in plan.training.processing]
        names += [(AUGMENTATIONS, step.name) for step in plan.training.augmentation]
    names += [(ANSWER_STEPS, step.name) for step in plan.answer.steps]
    # What a task's reader answers, what its rule scores and what its measures make of that are the record's numbers.
    names += [(READERS, plan.task), (TASKS, plan.task), (RULES, plan.task)]
    names += [(MEASURES, name) for name in task_named(plan.task).headline]
    for registry, name in names:
        if (plugin := registry.origin(name)) is not None:
            yield plugin, name
    predictor = plan.predictor.name or ""
    if (plugin := PREDICTORS.origin(predictor)) is not None:
        yield plugin, predictor
    if plan.dataset.format not in BUILT_IN:  # how it is read is known further on; whose it is, here
        for plugin in plugins_in(PREFIX + GROUP):
            if plugin.name == plan.dataset.format:
                yield plugin, plugin.name


def _planned(plugin: Plugin, name: str) -> PlannedPlugin:
    try:
        digest = files_of(plugin).sha256
    except (Fault, OSError) as error:
        raise PlanError(f"the files of {plugin.owner}, which adds `{name}`, cannot be used: {error}") from None
    return PlannedPlugin(
        kind=plugin.group.removeprefix(PREFIX),
        name=name,
        package=plugin.package,
        version=plugin.version,
        module=plugin.module,
        sha256=digest,
    )
