"""What is done to a row of a table: the order of its columns, missing cells, scales and codes of categories."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope_worker.pipeline.row import spelled

_MOST_PAIRS = 28
"""Of up to eight columns any two may be swapped; of more, neighbors."""
_MOST_COLUMNS = 32
"""Of more columns than these none are swapped, and no column's categories are tried alone."""
_MISSING = ["", "NA", "N/A", "?", "nan", "null", "None", "-"]


def _is_table(plan: Plan) -> bool:
    return plan.input is not None and plan.input.part == "columns"


def _found(plan: Plan, name: str) -> Iterator[tuple[int, Step]]:
    yield from ((at, each) for at, each in enumerate(steps_of(plan)) if each.name == name and _is_table(plan))


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    every = itertools.combinations(range(count), 2)
    yield from every if math.comb(count, 2) <= _MOST_PAIRS else ((at, at + 1) for at in range(count - 1))


def _swapped(items: Sequence[Any], one: int, other: int) -> list[Any]:
    made = list(items)
    made[one], made[other] = made[other], made[one]
    return made


@pitfall("feature-order", "Order of the columns", is_ranked=True)
def feature_order(plan: Plan) -> Edits:
    """The model takes the same columns in another order: a tensor has no names, so nothing complains."""
    for at, each in _found(plan, "columns"):
        names, order = each.parameters["names"], each.parameters["order"]
        if order == "table":
            yield "columns as they are listed", _columns(plan, at, names)
        else:
            yield "columns in the order of the table", _columns(plan, at, names, "table")
        yield "columns by the alphabet", _columns(plan, at, sorted(names))
        yield "columns the other way round", _columns(plan, at, list(reversed(names)))
        for one, other in _pairs(len(names)) if len(names) <= _MOST_COLUMNS else ():
            yield f"`{names[one]}` and `{names[other]}` swapped", _columns(plan, at, _swapped(names, one, other))


def _columns(plan: Plan, at: int, names: Sequence[str], order: str = "listed") -> Plan:
    steps = list(steps_of(plan))
    steps[at] = step("columns", names=list(names), order=order)
    return with_steps(plan, steps)


@pitfall("missing-values", "Missing cells", is_ranked=True)
def missing_values(plan: Plan) -> Edits:
    """Something else stood for missing cells in training: 0, the mean, NaN; or before scaling and not after it."""
    if not _is_table(plan):
        return
    steps, scale = steps_of(plan), find(plan, "scale_columns")
    means = steps[scale].parameters["mean"] if scale is not None else None
    known = list(_found(plan, "fill_missing"))
    for at, each in known:
        yield from _other_fills(plan, at, each, means)
        if scale is not None and scale != at:
            rest = [other for place, other in enumerate(steps) if place != at]
            behind = at < scale
            where = scale if behind else scale + 1
            # Behind the scale 0 is the mean; the same number in front of it is something else.
            place = where if behind else where - 1
            words = "missing cells filled after scaling" if behind else "missing cells filled before scaling"
            yield words, with_steps(plan, [*rest[:place], each, *rest[place:]])
            if behind and (zero := changed(each, values=0, columns=_names(each))) is not None:
                yield "0 for missing cells, after scaling", with_steps(plan, [*rest[:place], zero, *rest[place:]])
    if not known:
        yield "0 for missing cells", with_steps(plan, (step("fill_missing", values=0), *steps))
        if isinstance(means, Mapping):
            yield (
                "the mean for missing cells",
                with_steps(plan, (step("fill_missing", values=dict(means)), *steps)),
            )
        yield "NaN for missing cells", with_steps(plan, (step("fill_missing", method="nan"), *steps))


def _other_fills(plan: Plan, at: int, each: Step, means: Any) -> Edits:
    names = _names(each)
    rest = {key: each.parameters[key] for key in ("missing", "indicator") if each.parameters[key] is not None}
    for value in (0, -1, -999):
        if each.parameters["values"] != value:
            new = step("fill_missing", values=value, **({"columns": names} if names else {}), **rest)
            for edited in replaced(plan, at, new):
                yield f"{value} for missing cells", edited
    if isinstance(means, Mapping) and each.parameters["values"] != means:
        chosen = {name: value for name, value in means.items() if names is None or name in names}
        if chosen:
            for edited in replaced(plan, at, step("fill_missing", values=chosen, **rest)):
                yield "the mean for missing cells", edited
    if each.parameters["method"] != "nan":
        for edited in replaced(plan, at, step("fill_missing", method="nan", **rest)):
            yield "NaN for missing cells", edited
    texts = None if each.parameters["missing"] else _MISSING
    same = {key: value for key, value in each.parameters.items() if value is not None and key != "missing"}
    for edited in replaced(plan, at, step("fill_missing", **same, **({"missing": texts} if texts else {}))):
        yield ("texts such as NA count as missing" if texts else "no text counts as missing"), edited


def _names(each: Step) -> list[str] | None:
    """The columns that a step fills; None where it fills all of them, or a file says which."""
    values, columns = each.parameters["values"], each.parameters["columns"]
    return list(values) if isinstance(values, Mapping) else columns


@pitfall("feature-scaling", "Scale of the columns", is_ranked=True)
def feature_scaling(plan: Plan) -> Edits:
    """Columns are scaled twice, or not at all, or by another rule than in training."""
    steps = steps_of(plan)
    for at, each in _found(plan, "scale_columns"):
        yield "columns as they are, not scaled", with_steps(plan, (*steps[:at], *steps[at + 1 :]))
        yield "columns scaled twice", with_steps(plan, (*steps[: at + 1], each, *steps[at + 1 :]))
        for words, new in _other_scales(each, plan.dataset.size):
            for edited in replaced(plan, at, new):
                yield words, edited


def _other_scales(each: Step, rows: int | None) -> Iterator[tuple[str, Step | None]]:
    given = each.parameters
    if given["file"] is not None:
        for method in ("standard", "min_max", "robust"):
            if method != given["method"]:
                yield f"scaled by `{method}`", step("scale_columns", method=method, file=given["file"])
    if given["method"] == "min_max":
        yield "a range from -1 to 1", changed(each, range=[-1, 1])
        yield "a range from 0 to 1", changed(each, range=[0, 1])
        yield "clipped to the range" if not given["clip"] else "not clipped", changed(each, clip=not given["clip"])
        return
    shift, divisor = ("mean", "std") if given["method"] == "standard" else ("center", "scale")
    if given[divisor] is None:
        return
    if given[shift] is not None:
        yield "only divided, not centered", step("scale_columns", method=given["method"], **{divisor: given[divisor]})
        yield "only centered, not divided", step("scale_columns", method=given["method"], **{shift: given[shift]})
    yield "divided by the variance", changed(each, **{divisor: _each(given[divisor], lambda value: value * value)})
    yield "divided by the root of the scale", changed(each, **{divisor: _each(given[divisor], _root)})
    if rows is not None and rows > 1 and given["method"] == "standard":
        factor = math.sqrt(rows / (rows - 1))
        for words, times in (("sample", factor), ("population", 1 / factor)):
            other = _each(given["std"], lambda value, times=times: value * times)
            yield f"the deviation of a {words} of {rows} rows", changed(each, std=other)


def _root(value: float) -> float:
    return math.copysign(math.sqrt(abs(value)), value)


def _each(values: Any, change: Any) -> Any:
    return {name: change(value) for name, value in values.items()} if isinstance(values, Mapping) else change(values)


@pitfall("category-order", "Codes of categories", is_ranked=True)
def category_order(plan: Plan) -> Edits:
    """Categories have other codes than in training: by the alphabet, as they came, from 1."""
    for at, each in _found(plan, "encode"):
        categories = each.parameters["categories"]
        if categories is None:
            continue
        for words, order in (("by the alphabet", _by_alphabet), ("the other way round", _reversed)):
            new = {name: order(some) for name, some in categories.items()}
            for edited in replaced(plan, at, changed(each, categories=new)):
                yield f"categories {words}", edited
        if each.parameters["method"] == "ordinal":
            for edited in replaced(plan, at, _from_one(each)):
                yield "codes from 1", edited
        for name, some in categories.items() if len(categories) <= _MOST_COLUMNS else ():
            for words, other in _orders(some):
                for edited in replaced(plan, at, changed(each, categories={**categories, name: other})):
                    yield f"`{name}`: {words}", edited


def _orders(some: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    yield "categories by the alphabet", _by_alphabet(some)
    yield "categories the other way round", _reversed(some)
    if math.comb(len(some), 2) <= _MOST_PAIRS:
        for one, other in _pairs(len(some)):
            yield f"{some[one]} and {some[other]} swapped", _swapped(some, one, other)


def _by_alphabet(some: Sequence[Any]) -> list[Any]:
    return sorted(some, key=lambda each: (each is None, str(each)))


def _reversed(some: Sequence[Any]) -> list[Any]:
    return list(reversed(some))


def _from_one(each: Step) -> Step | None:
    """Codes of an encoder that counts from 1, as a table of numbers: an order cannot say it."""
    categories = each.parameters["categories"]
    if any(None in some for some in categories.values()):
        return None
    table = {name: {spelled(one): place + 1 for place, one in enumerate(some)} for name, some in categories.items()}
    kept = {key: each.parameters[key] for key in ("unknown", "unknown_code", "keep_missing")}
    return step(
        "encode", method="target", table=table, **{key: value for key, value in kept.items() if value is not None}
    )
