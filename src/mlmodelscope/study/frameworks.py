"""Figure 8 of the first paper: one model in several stacks, as a whole and layer by layer."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.analysis.answer_distance import precision_of
from mlmodelscope.analysis.stack_comparison import Row, compare_stacks
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.layer.kind import plain_kind
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.provision.stack.fitting import fitting_stacks, model_for_stack
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.study.bench import Bench, Tensor
from mlmodelscope.study.callers import open_python
from mlmodelscope.study.paper import FACTS, FIRST, SECOND
from mlmodelscope.study.pitfalls import percent
from mlmodelscope.study.plot import Bar, bars
from mlmodelscope.study.study import Column, Outcome, Request, Table, about, differs, now, remembered, study

_KINDS = 8
"""Kinds of layers that are shown; JSON has all."""
_COLUMNS = (
    Column("stack", "stack"),
    Column("framework", "framework"),
    Column("accuracy", "accuracy", percent),
    Column("same_classes", "same answer"),
    Column("same_scores", "same bits"),
    Column("largest_difference", "largest difference", lambda number: f"{number:.1e}"),
    Column("verdict", "verdict"),
    Column("samples", "samples"),
    Column("latency_s", "median latency", words.duration),
    Column("load_s", "load", words.duration),
)


@study(
    "frameworks",
    "One model in several stacks",
    (FIRST, "Figure 8"),
    (SECOND, "Figures 11 and 12"),
    options=("stacks",),
)
def frameworks(request: Request) -> Outcome:
    notes: list[str] = []
    started = now()
    by_name = _evaluate_in_each(request, notes)
    records = list(by_name.values())
    if len(records) == 1:
        notes.append(
            "One stack is nothing to compare with: mlmodelscope stacks build NAME makes another, --stacks names some."
        )
    store = Store(request.settings)
    try:
        found, changes = compare_stacks(records, store, precision_of([each.plan for each in records], request.settings))
    finally:
        store.close()
    rows = [_row(name, record, row) for row, (name, record) in zip(found, by_name.items(), strict=True)]
    layers = list(_layers(request, by_name, notes))
    tables = [Table("stacks", "stacks", _COLUMNS, tuple(rows))]
    tables += _layer_tables(layers)
    notes += [f"{change.sentence}." for change in changes]
    if layers:
        notes.append("Layer times are of one call with the framework's own profiler on, which takes time itself.")
    chart = bars(
        "Latency of one call",
        about(records[0]),
        [Bar(f"{row['stack']} ({row['framework']})", 1000 * float(row["latency_s"] or 0)) for row in rows],
        "milliseconds, median",
    )
    theirs = "AlexNet in Caffe2 and TensorRT on a Volta GPU (Figure 8)"
    return Outcome(
        about(records[0]),
        tuple(tables),
        FACTS["frameworks"],
        (*notes, *remembered(records, started), differs(records[0], theirs)),
        chart,
        tuple(record.id for record in records),
    )


def _evaluate_in_each(request: Request, notes: list[str]) -> dict[str, Record]:
    """A record for each stack that is another one than those before; `notes` says what became of the others."""
    model = find_model(request.model)
    found: dict[str, Record] = {}
    failures: list[MLModelScopeError] = []
    for name in request.stacks or tuple(fitting_stacks(model, request.settings)):
        try:
            record = request.evaluate(model=model_for_stack(model, name), software=name)
        except MLModelScopeError as error:
            failures.append(error)
            notes.append(f"{name}: {error.message.splitlines()[0]}.")
            continue
        twin = next((other for other, each in found.items() if _is_same(each, record)), None)
        if twin is None:
            found[name] = record
        else:
            notes.append(f"{name} is {twin} here: the same packages.")
    if not found:
        raise failures[0] if failures else UsageError(f"no stack that can run {model.reference} is here")
    return found


def _row(name: str, record: Record, compared: Row) -> dict[str, Any]:
    return {
        "stack": name,
        "framework": _framework(record),
        "accuracy": compared.accuracy.value if compared.accuracy is not None else None,
        "same_classes": compared.same_classes,
        "same_scores": compared.same_scores,
        "largest_difference": _largest(compared),
        "verdict": compared.distance.judgment if compared.distance is not None else None,
        "samples": compared.samples,
        "latency_s": compared.p50_s,
        "load_s": record.load_s,
        "record": record.id,
    }


def _largest(compared: Row) -> float | None:
    distance = compared.distance
    return distance.largest if distance is not None and math.isfinite(distance.largest) else None


def _is_same(one: Record, other: Record) -> bool:
    """Whether two names came to one stack: the running Python serves for every manifest that it satisfies."""
    return (one.plan.stack.packages, one.plan.stack.recipe, one.plan.predictor.name) == (
        other.plan.stack.packages,
        other.plan.stack.recipe,
        other.plan.predictor.name,
    )


def _framework(record: Record) -> str:
    """The package that runs the model, with its version."""
    plan = record.plan
    declaration = PREDICTORS.get(plan.predictor.name or "")
    packages = declaration.packages if declaration else ()
    found = next((name for name in packages if name in plan.stack.packages), None)
    return f"{found} {plan.stack.packages[found]}" if found else plan.predictor.name or "its own code"


def _layers(
    request: Request, records: Mapping[str, Record], notes: list[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(stack, layers) where the framework tells what its layers take."""
    artifacts = ArtifactStore(request.settings, request.watcher.downloading)
    for name, record in records.items():
        plan = record.plan
        if plan.input is None or plan.functions:
            notes.append(f"{name}: the model is run by code of its own, whose layers nobody knows.")
            continue
        bench = Bench(plan, provision(plan, artifacts), open_dataset(plan.dataset, artifacts))
        try:
            tensor = bench.first_tensor()
            with tempfile.TemporaryDirectory(prefix="mlmodelscope-study-") as place:
                layers = _profile(bench, tensor, Path(place))
            yield name, layers
        except MLModelScopeError as error:
            notes.append(f"{name}: no layers ({error.message.splitlines()[0]}).")


def _profile(bench: Bench, tensor: Tensor, folder: Path) -> list[dict[str, Any]]:
    with open_python(bench, folder) as process:
        process.take(tensor, bench.plan.scenario.batch_size, folder)
        layers: list[dict[str, Any]] = process.ask(do="profile")["layers"]
        return layers


def _layer_tables(found: Sequence[tuple[str, list[dict[str, Any]]]]) -> list[Table]:
    if not found:
        return []
    spent: dict[str, dict[str, tuple[int, int]]] = {}
    for stack, layers in found:
        for layer in layers:
            kind = plain_kind(layer["kind"])  # Conv, Conv2 and Convolution are one kind
            number, time_ns = spent.setdefault(kind, {}).get(stack, (0, 0))
            spent[kind][stack] = (number + 1, time_ns + layer["duration_ns"])
    most = sorted(spent, key=lambda kind: -max(time_ns for _, time_ns in spent[kind].values()))
    rows: list[dict[str, Any]] = [
        {
            "kind": "all layers",
            **{stack: (len(layers), sum(each["duration_ns"] for each in layers)) for stack, layers in found},
        }
    ]
    rows += [{"kind": kind, **spent[kind]} for kind in most[:_KINDS]]
    columns = [Column(stack, stack, _counted) for stack, _ in found]
    kinds = Table("kinds", "layers by kind: how many, and their time", (Column("kind", "kind"), *columns), tuple(rows))
    longest = Table(
        "longest",
        "the three longest layers of each stack",
        (
            Column("stack", "stack"),
            Column("name", "layer", lambda name: words.shorten(name, 60)),
            Column("kind", "kind"),
            Column("duration_ns", "time", lambda spent_ns: words.duration(spent_ns / 1e9)),
        ),
        tuple(
            {"stack": stack, **{key: layer[key] for key in ("name", "kind", "duration_ns")}}
            for stack, layers in found
            for layer in sorted(layers, key=lambda layer: -layer["duration_ns"])[:3]
        ),
    )
    return [kinds, longest]


def _counted(cell: tuple[int, int]) -> str:
    return f"{cell[0]}: {words.duration(cell[1] / 1e9)}" if cell[1] else f"{cell[0]}"
