"""Table 1 of the first paper, for any model: what each pitfall does to top-1 and top-5."""

from __future__ import annotations

from typing import Any

from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.sensitivity import AS_IT_IS, measure
from mlmodelscope.study.paper import FACTS, FIRST, INCEPTION, TABLE1, TABLE1_SETTING, Scores
from mlmodelscope.study.pitfalls import (
    EFFECT_COLUMNS,
    chosen_variant,
    effect_row,
    effects_chart,
    notes_on,
    refuse_nothing,
)
from mlmodelscope.study.study import Column, Outcome, Request, Table, about, differs, study

_COLUMNS = {"color-layout": "colour layout", "cropping": "cropping", "type-conversion": "type conversion"}
_BESIDES = ("data-layout",)
"""The paper left it out of its table for its very low accuracy; here it is in the second one."""


@study("table1", "The pitfalls' effect on accuracy", (FIRST, "Table 1"))
def table1(request: Request) -> Outcome:
    record = request.evaluate()
    names = [name for name in (*_COLUMNS, *_BESIDES) if name in PITFALLS]
    found = measure(record, request.settings, names, watcher=request.watcher)
    refuse_nothing(record, found, names)
    top5 = found.top5.value if found.top5 else None
    own: dict[str, Any] = {"model": f"{record.plan.model.reference}, here", "measured": (found.top1.value, top5)}
    claims = {claim.metric: claim.value for claim in record.plan.claims}
    if "top1" in claims:
        own["reported"] = (float(claims["top1"]) / 100, float(claims["top5"]) / 100 if "top5" in claims else None)
    notes = []
    for name in _COLUMNS:
        effect = chosen_variant(name, found.effects)
        if effect is not None:
            row = effect_row(effect)
            own[name] = (row["top1"], row["top5"])
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
        (Column("pitfall", "pitfall"), *EFFECT_COLUMNS),
        tuple(effect_row(each) for each in found.effects),
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


def _both(shares: tuple[float, float | None]) -> str:
    top1, top5 = shares
    return f"{100 * top1:.2f} / " + (f"{100 * top5:.2f}" if top5 is not None else "–")
