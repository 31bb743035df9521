"""A task: how many bright squares are in a picture? The truth is `{"count": 3}`, an answer is a number."""

import json
from functools import partial

from mlmodelscope.task.measure import MEASURES, NUMBER
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import TextShape
from mlmodelscope.task.task import Column, Task, add_task
from mlmodelscope_worker.registry import add

NAME = "toy_counting"


def values(target, answer, score):
    """What a row of the table of samples holds."""
    due = json.dumps(target) if target is not None else None
    found = answer.arrays["count"].tolist()[0] if answer is not None else None
    return {"target": due, "found": found, "score": score}


def shapes(row, target, named):
    """What people see of a row: both counts, as texts."""
    due = json.loads(row["target"])["count"] if row["target"] is not None else None
    counts = [("truth", due), ("answer", row["found"])]
    return [TextShape(side, f"{count:g} squares") for side, count in counts if count is not None]


add_task(
    Task(
        NAME,
        "Counting squares",
        partial(RuledTally, NAME),
        headline=("toy-count-error", "toy-count-exact"),
        is_ruled=True,
        roles=(("count",),),
        is_single=True,
        columns=(Column("target", "string"), Column("found", "float64"), Column("score", "binary")),
        values=values,
        plain=lambda row: None if row["found"] is None else {"count": row["found"]},
        shapes=shapes,
        quality="1 for the right count, less for every square that it is off",
        sentence=lambda samples, numbers: f"off by {numbers['toy-count-error'].value:.3f} squares on {samples} samples",
    )
)

for measure in (
    RuledMeasure(
        "toy-count-error",
        "mean count error",
        (NAME,),
        better="lower",
        unit=NUMBER,
        bounds=(0.0, float("inf")),
        aliases=("toy-mae",),
        about="How many squares an answer is off, on average.",
    ),
    RuledMeasure("toy-count-exact", "exact counts", (NAME,), about="Share of samples whose count is right."),
):
    add(MEASURES.things, measure.name, measure, MEASURES.code)
