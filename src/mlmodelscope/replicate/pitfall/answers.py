"""What the model's answers mean."""

from __future__ import annotations

from typing import Literal

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall
from mlmodelscope.replicate.relabel import ORDERS
from mlmodelscope.task.task import task_named

_SCORES = ("logits", "probability", "scores")
"""Outputs whose numbers may be probabilities."""


@pitfall("label-offset", "Label offset")
def label_offset(plan: Plan) -> Edits:
    """Some models count from a class `background`, so that every class has a number more than in the labels."""
    if not task_named(plan.task).has_classes:
        return
    now = plan.answer.label_offset
    for offset in (-1, 0, 1):
        if offset != now:
            yield f"label offset {offset}", plan.with_answer(label_offset=offset)


@pitfall("label-order", "Order of the labels", weight=0.3)
def label_order(plan: Plan) -> Edits:
    """The list of class names is in another order than the model's outputs.

    Classes sorted as text (1, 10, 100, 2 …), by the alphabet, or as the model's own list of names has them.
    """
    if task_named(plan.task).is_ruled:  # orders are read off the classes that are answered
        return
    for order in ("", *ORDERS):
        if order != plan.answer.label_order:
            words = f"labels in the order of {order}" if order else "labels as they are"
            yield words, plan.with_answer(label_order=order)


@pitfall("softmax", "Softmax", weight=0.5)
def softmax(plan: Plan) -> Edits:
    """Scores are taken for probabilities though they are logits, or made into probabilities twice.

    The best class stays the best; every number that is made of the scores changes.
    """
    task = task_named(plan.task)
    if not plan.outputs or not task.has_classes or (task.is_ruled and plan.outputs[0].role not in _SCORES):
        return
    first, *others = plan.outputs
    steps = first.steps
    if any(step.name == "softmax" for step in steps):
        words, edited = "without softmax", tuple(step for step in steps if step.name != "softmax")
    else:
        words, edited = "with softmax", (*steps, Step(name="softmax", parameters={}))
    yield words, plan.model_copy(update={"outputs": (first.model_copy(update={"steps": edited}), *others)})


@pitfall("tie-breaking", "Order of equal scores", is_about_stack=True, weight=0.1)
def tie_breaking(plan: Plan) -> Edits:
    """Several classes have exactly the same score, and which of them comes first is a convention."""
    if task_named(plan.task).is_ruled:
        return
    other: Literal["lowest", "highest"] = "highest" if plan.answer.tie_breaking == "lowest" else "lowest"
    yield f"of equal scores the {other} class number first", plan.with_answer(tie_breaking=other)
