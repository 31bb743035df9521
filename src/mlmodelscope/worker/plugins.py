"""Modules of other packages that a worker imports: found here, and the very ones that the plan was made with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mlmodelscope.errors import PlanError
from mlmodelscope.plan.plan import Plan, PlannedPlugin
from mlmodelscope.plugins.files import files_of
from mlmodelscope.plugins.installed import PREFIX, plugins_in
from mlmodelscope.plugins.load import Fault

_INSIDE = ("predictors", "steps", "output_steps", "answer_steps", "readers")
"""Kinds that run inside the stack; datasets are read and answers are scored here."""


def inside_the_stack(plan: Plan) -> tuple[PlannedPlugin, ...]:
    """What the worker imports for a plan."""
    return tuple(each for each in plan.plugins if each.kind in _INSIDE)


def module_paths(plan: Plan) -> dict[str, Path]:
    """What must lie on the worker's path, by its place there; what runs here is compared with the plan as well."""
    found = {each: _place(each) for each in plan.plugins}
    return dict(found[each] for each in inside_the_stack(plan))


def refuse_other_plugins(plan: Plan) -> None:
    """PlanError where a package that the plan uses is missing here or has other files."""
    for each in plan.plugins:
        _place(each)


def of_all(plans: Iterable[Plan]) -> tuple[PlannedPlugin, ...]:
    """What several plans use together."""
    return tuple(dict.fromkeys(each for plan in plans for each in plan.plugins))


def _place(planned: PlannedPlugin) -> tuple[str, Path]:
    words = f"the plan uses {planned.package} {planned.version}, which adds `{planned.name}`"
    for plugin in plugins_in(PREFIX + planned.kind):
        if plugin.module == planned.module and plugin.package == planned.package:
            break
    else:
        raise PlanError(f"{words} and is not installed here", hint=f"pip install {planned.package}=={planned.version}")
    try:
        files = files_of(plugin)
        digest = files.sha256
    except (Fault, OSError) as error:
        raise PlanError(f"{words} and cannot be used here: {error}") from None
    if digest != planned.sha256:
        raise PlanError(
            f"{words}; what is installed here, {plugin.version}, has other files",
            hint="make the plan anew, or install the package as it was then",
        )
    return files.name, files.path
