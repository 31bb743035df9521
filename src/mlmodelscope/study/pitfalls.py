"""Figures 3 to 7 of the first paper: what one wrong detail of the pipeline does to the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.sensitivity import AS_IT_IS, Effect, Sensitivity, measure_in
from mlmodelscope.report import words
from mlmodelscope.study.paper import FACTS, FIGURES_SETTING, FIRST, INCEPTION, SECOND, TABLE1_SETTING, Scores
from mlmodelscope.study.pictures import Seen, decode_only, look, pictures_of
from mlmodelscope.study.plot import Bar, Picture, bars
from mlmodelscope.study.study import Column, Outcome, Request, Table, about, differs, study
from mlmodelscope.task.task import task_named
from mlmodelscope.types import Interval

_BESIDE = 3
"""Variants whose best five stand beside those of the manifest: more do not fit on a screen."""
_PICTURES = 16
_DECODED = "decoded pixels (0 to 255)"


@study("color-layout", "Colour layout: RGB or BGR", (FIRST, "Figure 3, Table 1"), (SECOND, "Figure 4"))
def color_layout(request: Request) -> Outcome:
    return _pitfall(request, "color-layout", ("color-layout",))


@study("data-layout", "Data layout: the order of the axes", (FIRST, "Figure 4"), (SECOND, "Figure 5"))
def data_layout(request: Request) -> Outcome:
    return _pitfall(request, "data-layout", ("data-layout",))


@study("decoding", "Image decoding and colour conversion", (FIRST, "Figure 5"), (SECOND, "Figures 6 and 7"))
def decoding(request: Request) -> Outcome:
    return _pitfall(request, "decoding", ("decoding",), pixels=_DECODED)


@study("cropping", "Cropping", (FIRST, "Figure 6, Table 1"))
def cropping(request: Request) -> Outcome:
    return _pitfall(request, "cropping", ("cropping", "crop-order"))


@study(
    "type-conversion",
    "Type conversion and normalisation",
    (FIRST, "Figure 7, Table 1"),
    (SECOND, "Figures 8 and 9"),
)
def type_conversion(request: Request) -> Outcome:
    return _pitfall(
        request, "type-conversion", ("type-conversion", "normalization-order"), pixels="what the model gets"
    )


def _pitfall(request: Request, name: str, pitfalls: Sequence[str], pixels: str | None = None) -> Outcome:
    record = request.evaluate()
    refuse_other_tasks(record)
    known = [each for each in pitfalls if each in PITFALLS]
    with open_trials(record, request.settings, request.watcher, known) as trials:
        found = measure_in(trials)
        refuse_nothing(record, found, known)
        at = _telling(found)
        plans = {AS_IT_IS: record.plan, **{each.variant.words: each.variant.plan for each in found.effects}}
        if pixels == _DECODED:
            plans = {words_of: decode_only(plan) for words_of, plan in plans.items()}
        seen, unseen = look(trials, found.samples[at], plans)
    theirs = INCEPTION.pitfalls.get(name)
    tables = [_accuracy(name, found, theirs), _side_by_side(record, found, at)]
    if pixels is not None and seen:
        tables.append(_pixels(seen, f"{pixels} of that input"))
    marks = {name: _change(theirs)} if theirs is not None else None
    notes = [*notes_on(found), *([f"No pictures: {unseen}."] if unseen else [])]
    chosen = chosen_variant(name, found.effects)
    if theirs is not None and chosen is not None and len(found.effects) > 1:
        notes.append(f"The paper's number stands beside the variant that comes nearest to it: {chosen.variant.words}.")
    return Outcome(
        about(record),
        tuple(tables),
        FACTS[name],
        (*notes, differs(record, TABLE1_SETTING if theirs else FIGURES_SETTING)),
        effects_chart(
            f"{PITFALLS[name].title}: change of top-1",
            about(record),
            found.effects,
            marks,
            pictures_of(seen)[:_PICTURES],
        ),
        (record.id,),
    )


def refuse_other_tasks(record: Record) -> None:
    """An error where answers are not lists of classes: the papers' tables have nothing else."""
    plan = record.plan
    if task_named(plan.task).is_ruled:
        raise PlanError(
            f"the papers' pitfalls are those of classifiers, and {plan.model.reference} does {plan.task}",
            hint=f"mlmodelscope sensitivity {plan.model.name} {plan.dataset.name} measures what pitfalls cost it",
        )


def refuse_nothing(record: Record, found: Sensitivity, pitfalls: Sequence[str]) -> None:
    """An error where the model has nothing that these pitfalls concern."""
    if not found.effects:
        why = "; ".join(found.impossible)
        raise PlanError(
            f"no variant of {record.plan.model.reference} can be tried for {', '.join(pitfalls)}"
            + (f" ({why})" if why else ": it has no such step"),
            hint=f"mlmodelscope plan {record.plan.model.name} {record.plan.dataset.name} shows its steps",
        )


def chosen_variant(name: str, effects: Sequence[Effect]) -> Effect | None:
    """The variant that comes nearest to the paper's: no crop at all; arithmetic in another type, the mildest.

    Table 1 has type conversion change accuracy by 0.02 points at most. Only fractions can have been lost there:
    bytes that wrap around, or a division of whole numbers, cost far more with any model.
    """
    own = [each for each in effects if each.variant.pitfalls[0] == name]
    if name == "type-conversion":
        own.sort(key=lambda each: (" computed in " not in each.variant.words, abs(each.difference.value)))
    return next((each for each in own if each.variant.words.startswith("no crop")), own[0] if own else None)


def _change(theirs: Scores) -> float:
    return 100 * (theirs.shares[0] - INCEPTION.measured.shares[0])


def notes_on(found: Sensitivity) -> list[str]:
    notes = [f"Not tried here: {'; '.join(variants)} ({reason})." for reason, variants in found.impossible.items()]
    notes += [
        f"{each.variant.words}: {words.plural(each.failed, 'sample')} failed"
        + (f" ({each.reason})" if each.reason else "")
        + ", the row is of the others."
        for each in found.effects
        if each.failed
    ]
    if all(each.is_idle for each in found.effects):
        notes.append("No variant that could be tried changes any answer.")
    return notes


def effects_chart(
    title: str,
    line: str,
    effects: Sequence[Effect],
    paper: dict[str, float] | None = None,
    pictures: Sequence[Picture] = (),
) -> str:
    marks = {id(chosen_variant(name, effects)): value for name, value in (paper or {}).items()}
    return bars(
        title,
        line,
        [
            Bar(
                f"{each.variant.pitfalls[0]}: {each.variant.words}",
                100 * each.difference.value,
                100 * each.difference.low,
                100 * each.difference.high,
                marks.get(id(each)),
            )
            for each in effects
        ],
        "percentage points of top-1",
        pictures=pictures,
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def points(change: Interval, factor: float = 100.0) -> str:
    digits = 1 if factor == 100 else 3
    value, low, high = (f"{factor * each:+.{digits}f}" for each in (change.value, change.low, change.high))
    return f"{value} ({low} to {high})"


def p_value(chance: float) -> str:
    # Below that it is 0 by rounding: no chance is none.
    return f"{chance:.2f}" if chance >= 0.01 else f"{chance:.1e}" if chance >= 1e-99 else "<1e-15"


def effect_columns(found: Sensitivity) -> tuple[Column, ...]:
    """With a column for each number that was looked at."""
    first = found.measures[0].title
    return (
        Column("variant", "variant"),
        *(Column(each.name, each.title, percent) for each in found.measures),
        Column("difference", f"difference of {first} (95 %)", lambda each: points(Interval(**each))),
        Column("flips", "answers that flip"),
        Column("p_value", "McNemar p", p_value),
        Column("same_as", "same answers as"),
    )


def effect_row(each: Effect, found: Sensitivity) -> dict[str, Any]:
    change = each.difference
    return {
        "pitfall": each.variant.pitfalls[0],
        "variant": each.variant.words,
        found.measures[0].name: each.after,
        **each.others,
        "difference": {"value": change.value, "low": change.low, "high": change.high},
        "flips": each.flips,
        "p_value": each.p_value,
        "samples": each.samples,
        "failed": each.failed,
        "same_as": each.same_as,
    }


def _accuracy(name: str, found: Sensitivity, theirs: Scores | None) -> Table:
    own: dict[str, Any] = {"pitfall": "", "variant": AS_IT_IS}
    own |= {measure: number.value for measure, number in found.numbers.items()}
    columns = effect_columns(found)
    rows = [own, *(effect_row(each, found) for each in found.effects)]
    if theirs is not None:
        names = [f"paper_{each.name}" for each in found.measures]
        own |= dict(zip(names, INCEPTION.measured.shares, strict=False))
        chosen = chosen_variant(name, found.effects)
        for row, each in zip(rows[1:], found.effects, strict=True):
            if each is chosen:
                row |= dict(zip(names, theirs.shares, strict=False))
        at = 1 + len(found.measures)
        published = (
            Column(name, f"paper's {each.title}", lambda share: f"{100 * share:.2f} %")
            for name, each in zip(names, found.measures, strict=True)
        )
        columns = (*columns[:at], *published, *columns[at:])
    title = f"accuracy (the paper's is of {INCEPTION.model}, Table 1)" if theirs is not None else "accuracy"
    return Table("accuracy", title, columns, tuple(rows))


def _telling(found: Sensitivity) -> int:
    """The input to show: the first that is right as it is and wrong in a variant, or one that all have an answer to."""
    answered = (at for at in range(len(found.own)) if all(each.answers[at] for each in found.effects))
    return next(
        (
            at
            for each in found.effects
            for at, (mine, other) in enumerate(zip(found.own, each.answers, strict=True))
            if mine
            and other
            and mine.classes[:1] == (found.samples[at].label,)
            and mine.classes[:1] != other.classes[:1]
        ),
        next(answered, 0),
    )


def _side_by_side(record: Record, found: Sensitivity, at: int) -> Table:
    """The best five of one input."""
    distinct = [each for each in found.effects if each.same_as is None] or list(found.effects)
    shown = [(AS_IT_IS, found.own[at]), *((each.variant.words, each.answers[at]) for each in distinct[:_BESIDE])]
    rows = []
    for rank in range(5):
        row: dict[str, Any] = {"rank": rank + 1}
        for key, answer in shown:
            if answer is not None and rank < len(answer.classes):
                row[key] = {"class": _name(record, answer.classes[rank]), "score": answer.scores[rank]}
        rows.append(row)
    sample = found.samples[at]
    label = _name(record, sample.label) if sample.label is not None else "unlabelled"
    columns = [Column(key, key, lambda cell: f"{cell['score']:.3f} {cell['class']}") for key, _ in shown]
    return Table("best", f"the best five for {sample.id} ({label})", (Column("rank", "#"), *columns), tuple(rows))


def _name(record: Record, number: int) -> str:
    return words.shorten(words.class_name(record, number).partition(",")[0], 28)


def _pixels(seen: Sequence[Seen], what: str) -> Table:
    """How far the numbers themselves are apart."""
    rows = [
        {
            "variant": each.words,
            "differing": each.apart.share if each.apart else None,
            "mean": each.apart.mean if each.apart else None,
            "largest": each.apart.largest if each.apart else None,
            "reason": each.reason or (None if each.apart else "another shape"),
        }
        for each in seen[1:]
    ]
    columns = (
        Column("variant", "variant"),
        Column("differing", "values that differ", percent),
        Column("mean", "mean difference", lambda number: f"{number:.3g}"),
        Column("largest", "largest", lambda number: f"{number:.3g}"),
        Column("reason", ""),
    )
    return Table("pixels", f"{what}, against {AS_IT_IS}", columns, tuple(rows))
