"""Table 1 of the first paper, for any model: what each pitfall does to top-1 and top-5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.plan.claim import claim_of, is_measurable
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.sensitivity import AS_IT_IS, measure
from mlmodelscope.study.paper import FACTS, FIRST, INCEPTION, TABLE1, TABLE1_SETTING, Scores
from mlmodelscope.study.pitfalls import (
    chosen_variant,
    effect_columns,
    effect_row,
    effects_chart,
    notes_on,
    refuse_nothing,
    refuse_other_tasks,
)
from mlmodelscope.study.study import Column, Outcome, Request, Table, about, differs, study
from mlmodelscope.task.task import Number

_COLUMNS = {"color-layout": "colour layout", "cropping": "cropping", "type-conversion": "type conversion"}
_BESIDES = ("data-layout",)
"""The paper left it out of its table for its very low accuracy; here it is in the second one."""


@study("table1", "The pitfalls' effect on accuracy", (FIRST, "Table 1"))
def table1(request: Request) -> Outcome:
    record = request.evaluate()
    refuse_other_tasks(record)
    names = [name for name in (*_COLUMNS, *_BESIDES) if name in PITFALLS]
    found = measure(record, request.settings, names, watcher=request.watcher)
    refuse_nothing(record, found, names)
    numbers = [each.name for each in found.measures]
    own: dict[str, Any] = {"model": f"{record.plan.model.reference}, here", "measured": _pair(found.numbers, numbers)}
    claims = {claim.metric: claim for claim in map(claim_of, filter(is_measurable, record.plan.claims))}
    if numbers[0] in claims:
        own["reported"] = _pair(claims, numbers)
    notes = []
    for name in _COLUMNS:
        effect = chosen_variant(name, found.effects)
        if effect is not None:
            row = effect_row(effect, found)
            own[name] = (row[numbers[0]], row.get(numbers[1]) if len(numbers) > 1 else None)
            notes.append(f"{_COLUMNS[name]} here: {effect.variant.words}.")
    rows = [own]
    for line in TABLE1:
        theirs: dict[str, Scores] = {"reported": line.reported, "measured": line.measured, **line.pitfalls}
        rows.append({"model": f"{line.model}, paper", **{key: scores.shares for key, scores in theirs.items()}})
    columns = (
        Column("model", "model (top-1 / top-5)"),
        Column("reported", "reported", _both),
        Column("measured", "measured", _both),
        *(Column(name, heading, _both) for name, heading in _COLUMNS.items()),
    )
    single = Table(
        "variants",
        f"every variant, against {AS_IT_IS}",
        (Column("pitfall", "pitfall"), *effect_columns(found)),
        tuple(effect_row(each, found) for each in found.effects),
    )
    paper = {
        name: 100 * (scores.shares[0] - INCEPTION.measured.shares[0]) for name, scores in INCEPTION.pitfalls.items()
    }
    return Outcome(
        about(record),
        (Table("table1", "Table 1, this model first", columns, tuple(rows)), single),
        FACTS["table1"],
        (*notes, *notes_on(found), differs(record, TABLE1_SETTING)),
        effects_chart(
            "What each pitfall costs (rings: Inception-v3 in the paper)", about(record), found.effects, paper
        ),
        (record.id,),
    )


def _pair(known: Mapping[str, Number], names: Sequence[str]) -> tuple[float, float | None]:
    """The first two numbers of those that are known."""
    second = known.get(names[1]) if len(names) > 1 else None
    return known[names[0]].value, second.value if second is not None else None


def _both(shares: tuple[float, float | None]) -> str:
    first, second = shares
    return f"{100 * first:.2f} / " + (f"{100 * second:.2f}" if second is not None else "–")
