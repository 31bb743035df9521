"""What edits of sounds are made of: each changes every input that takes the sound alike, so that lengths and masks fit.

Inputs may end otherwise, one in features and another in their length, so that steps are found by name in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import step
from mlmodelscope_worker.parameters import ParameterError

AUDIO = ("audio",)
Steps = tuple[Step, ...]


def everywhere(plan: Plan, change: Callable[[Steps], Steps]) -> Plan:
    """The plan with the steps of every input that takes the sound changed."""
    inputs = tuple(
        each.model_copy(update={"steps": change(each.steps)}) if each.part in AUDIO else each for each in plan.inputs
    )
    return plan.model_copy(update={"inputs": inputs})


def found(plan: Plan, name: str) -> Step | None:
    """The first step of this name, in whichever input has it."""
    steps = (each for given in plan.inputs if given.part in AUDIO for each in given.steps)
    return next((each for each in steps if each.name == name), None)


def exchanged(plan: Plan, name: str, *new: Step) -> Plan:
    """The plan with the first step of this name exchanged for others, or dropped."""

    def change(steps: Steps) -> Steps:
        at = next((at for at, each in enumerate(steps) if each.name == name), None)
        return steps if at is None else (*steps[:at], *new, *steps[at + 1 :])

    return everywhere(plan, change)


def without(plan: Plan, name: str) -> Plan:
    return exchanged(plan, name)


def retuned(plan: Plan, name: str, **parameters: object) -> Iterator[Plan]:
    """The plan with other parameters in its step of this name, where it can have them; None leaves one out."""
    now = found(plan, name)
    if now is None:
        return
    given = {key: value for key, value in {**now.parameters, **parameters}.items() if value is not None}
    try:
        yield exchanged(plan, name, step(name, **given))
    except ParameterError:
        return


def added_after(plan: Plan, new: Step, *names: str) -> Plan:
    """The plan with a step behind the last one of these names; inputs that have none of them stay as they are."""

    def change(steps: Steps) -> Steps:
        at = max((at for at, each in enumerate(steps) if each.name in names), default=None)
        return steps if at is None else (*steps[: at + 1], new, *steps[at + 1 :])

    return everywhere(plan, change)


def added_before(plan: Plan, new: Step, name: str) -> Plan:
    """The plan with a step in front of the first one of this name."""

    def change(steps: Steps) -> Steps:
        at = next((at for at, each in enumerate(steps) if each.name == name), None)
        return steps if at is None else (*steps[:at], new, *steps[at:])

    return everywhere(plan, change)
