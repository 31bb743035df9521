"""What an edit does to a manifest, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.report import words

MINUS, PLUS = "\N{MINUS SIGN}", "+"
Entry = tuple[str, tuple[tuple[str, str], ...]]
"""(name, parameters) of a step, or of another part of a plan."""


def edits_of(plan: Plan, variant: Variant) -> Iterator[tuple[str, str]]:
    """(sign, line) of what the edit does to the plan; of a step that stays, only the parameters that change."""
    old, new = (_entries(each) for each in (plan, variant.plan))
    for kind, *(first, last, start, end) in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        removed, added = old[first:last], new[start:end]
        if [name for name, _ in removed] == [name for name, _ in added]:
            for (name, was), (_, now) in zip(removed, added, strict=True):
                kept = {key for key, value in was if (key, value) in now}
                yield MINUS, _spell(name, was, kept)
                yield PLUS, _spell(name, now, kept)
            continue
        yield from ((MINUS, _spell(*entry)) for entry in removed)
        yield from ((PLUS, _spell(*entry)) for entry in added)


def _entries(plan: Plan) -> list[Entry]:
    """All of a plan that an edit may change, in order."""

    def entry(name: str, given: Mapping[str, Any]) -> Entry:
        return name, tuple((key, words.value(value)) for key, value in given.items() if value is not None)

    steps = plan.input.steps if plan.input is not None else ()
    answer = plan.answer.model_dump(mode="json", exclude={"names", "steps"})
    return [
        *(entry(each.name, each.parameters) for each in steps),
        *(
            entry(f"input {given.layer_name} {each.name}", each.parameters)
            for given in plan.inputs[1:]
            for each in given.steps
            if each.name == "take"
        ),
        entry("predictor", plan.predictor.options),
        entry("scenario", {"batch_size": plan.scenario.batch_size}),
        *(entry(f"output {each.name}", each.parameters) for layer in plan.outputs for each in layer.steps),
        *(entry(f"answer {each.name}", each.parameters) for each in plan.answer.steps),
        entry("answer", answer),
        entry("measure", plan.measure),
        entry("packages", plan.stack.packages),
    ]


def _spell(name: str, given: Iterable[tuple[str, str]], left_out: Container[str] = ()) -> str:
    shown = ", ".join(f"{key}: {value}" for key, value in given if key not in left_out)
    return f"{name}: {{{shown}}}"
