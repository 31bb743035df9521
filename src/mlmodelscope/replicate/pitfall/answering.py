"""What edits of answer steps, of measures and of a dataset's labels are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.steps import ANSWER_STEPS
from mlmodelscope_worker.parameters import ParameterError


def answer_step(name: str, **parameters: object) -> Step:
    return Step(name=name, parameters=dict(ANSWER_STEPS[name].resolve(parameters)))


def found(plan: Plan, name: str) -> Iterator[tuple[int, Step]]:
    """(place, step) of the answer steps of this name."""
    return ((at, each) for at, each in enumerate(plan.answer.steps) if each.name == name)


def edited(plan: Plan, at: int, **parameters: object) -> Plan:
    """The plan with other parameters in one answer step."""
    old = plan.answer.steps[at]
    new = Step(name=old.name, parameters={**old.parameters, **parameters})
    return with_answers(plan, (*plan.answer.steps[:at], new, *plan.answer.steps[at + 1 :]))


def settled(plan: Plan, at: int, **parameters: object) -> Iterator[Plan]:
    """The same, where the parameters go together."""
    old = plan.answer.steps[at]
    given = {name: value for name, value in old.parameters.items() if value is not None}
    try:
        yield edited(plan, at, **ANSWER_STEPS[old.name].resolve({**given, **parameters}))
    except ParameterError:
        return


def without(plan: Plan, at: int) -> Plan:
    """The plan without one answer step."""
    return with_answers(plan, (*plan.answer.steps[:at], *plan.answer.steps[at + 1 :]))


def inserted(plan: Plan, at: int, step: Step) -> Plan:
    """The plan with one more answer step, which then has this place."""
    return with_answers(plan, (*plan.answer.steps[:at], step, *plan.answer.steps[at:]))


def with_answers(plan: Plan, steps: Iterable[Step]) -> Plan:
    return plan.with_answer(steps=tuple(steps))


def measured(plan: Plan, **options: object) -> Plan:
    """The plan with answers scored otherwise."""
    return plan.model_copy(update={"measure": {**plan.measure, **options}})


def labelled(plan: Plan, **changes: object) -> Plan:
    """The plan with the numbers in the dataset's masks read otherwise."""
    labels = plan.dataset.labels.model_copy(update=changes)
    return plan.model_copy(update={"dataset": plan.dataset.model_copy(update={"labels": labels})})
