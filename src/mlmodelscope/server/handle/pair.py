"""Two records: the ratio of their latencies, how far their answers lie apart, and which layers make the difference."""

from __future__ import annotations

from typing import Any

from mlmodelscope.analysis.comparison_page import answers_analysis
from mlmodelscope.analysis.divergence import Divergence, compare_answers
from mlmodelscope.analysis.paired_accuracy import paired_accuracy
from mlmodelscope.analysis.side_by_side import compare_layers, layer_spans
from mlmodelscope.bench.compare import compare
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.layer.kind import plain_kind
from mlmodelscope.record.latencies import load_latencies
from mlmodelscope.record.record import Record
from mlmodelscope.server import confined_records
from mlmodelscope.server.desk import Desk
from mlmodelscope.task.task import task_named
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.store import NAME, load_trace

_MOST_SAMPLES = 200
_MOST_LAYERS = 2000
_TOLD = (
    *("samples", "only_one", "other_bytes", "kept", "exact", "agree", "same_set", "overlap", "infinite"),
    *("both_right", "first_right", "second_right", "both_wrong", "means", "most"),
)


def compare_two(desk: Desk, first: Record, second: Record) -> dict[str, Any]:
    """What can be said of both, and of the rest why it cannot."""
    notes: list[str] = []
    answer: dict[str, Any] = dict.fromkeys(("latency", "accuracy", "answers", "qualities", "layers"))
    answer["notes"] = notes
    profiles = [record.profile is not None for record in (first, second)]
    if profiles[0] != profiles[1]:
        notes.append("a profile can be compared with another profile only: it is of layers, and of a few runs")
        return answer
    is_graded = any(task_named(record.plan.task).is_ruled for record in (first, second))
    of_answers = ("qualities", "answers", _qualities) if is_graded else ("answers", "answers", _answers)
    for name, words, compared in (("latency", "latencies", _latency), of_answers, ("layers", "layers", _layers)):
        if (name == "layers") == all(profiles):
            try:
                answer[name] = compared(desk, first, second)
            except MLModelScopeError as error:
                notes.append(f"the {words} are not compared: {error.message}")
    if answer["answers"] is not None:
        answer["accuracy"] = answer["answers"].pop("accuracy")
    return answer


def _latency(desk: Desk, first: Record, second: Record) -> dict[str, Any]:
    runs = [
        load_latencies(desk.store.folder(record.id))
        if record.bench is not None and record.bench.measured is not None
        else []
        for record in (first, second)
    ]
    found = compare(first, second, *runs)
    ratio = found.ratio
    return {
        "ratio": {"value": ratio.value, "low": ratio.low, "high": ratio.high} if ratio else None,
        "noise": found.noise,
        "verdict": found.verdict,
        "sentence": found.sentence,
        "doubts": list(dict.fromkeys(found.doubts)),
    }


def _answers(desk: Desk, first: Record, second: Record) -> dict[str, Any]:
    found = compare_answers(first, second, desk.store)
    told = found.to_json(0)
    rows = answers_analysis(found, first).table.to_json()["rows"][:_MOST_SAMPLES]
    apart = [{**row, **{name: _finite(row[name]) for name in ("kl", "kl_back", "js", "hellinger")}} for row in rows]
    facts = {name: told[name] for name in _TOLD}
    return {**facts, "accuracy": _accuracy(found), "notes": list(found.notes), "apart": apart}


def _qualities(desk: Desk, first: Record, second: Record) -> dict[str, Any]:
    """Of answers that are more or less good: which samples changed, and how much."""
    records = (first, second)
    found: dict[str, Any] = desk.confined.call(
        confined_records.compared_qualities,
        records=[each.model_dump_json() for each in records],
        folders=[str(desk.store.samples_file(each).parent) for each in records],
        most=_MOST_SAMPLES,
    )
    return {**found, "about": task_named(first.plan.task).quality}


def _accuracy(found: Divergence) -> dict[str, Any] | None:
    accuracy = paired_accuracy(found)
    if accuracy is None:
        return None
    sides = {name: getattr(accuracy, name) for name in ("first", "second")}
    return {
        **{name: {"value": each.value, "low": each.low, "high": each.high} for name, each in sides.items()},
        **{name: getattr(accuracy, name) for name in ("samples", "only_first", "only_second", "p_value")},
        "verdict": accuracy.verdict,
        "sentence": accuracy.sentence,
    }


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity: how many there are is told beside."""
    return value if value is not None and value != float("inf") else None


def _layers(desk: Desk, first: Record, second: Record) -> dict[str, Any]:
    for record in (first, second):
        if not (desk.store.folder(record.id) / NAME).exists():
            raise MLModelScopeError(f"there is no trace of record {record.id} any more")
    traces = [load_trace(desk.store.folder(record.id)) for record in (first, second)]
    found = compare_layers(*traces)
    told = found.to_json()
    return {
        "first_ns": found.first_ns,
        "second_ns": found.second_ns,
        "ratio": found.second_ns / found.first_ns if found.first_ns else None,
        "paired_by": found.by,
        "kinds": told["kinds"],
        "layers": told["layers"][:_MOST_LAYERS],
        "total": len(found.pairs),
        "runs": [{"trace": trace.id, "layers": _run(trace)} for trace in traces],
    }


def _run(trace: Trace) -> list[dict[str, Any]]:
    """The layers of one run, one behind the other as if nothing were between them."""
    found, at = [], 0
    for span in layer_spans(trace)[:_MOST_LAYERS]:
        kind = plain_kind(str(span.attributes.get("kind", "?")))
        found.append({"name": span.name, "kind": kind, "start_ns": at, "end_ns": at + span.measured_ns})
        at += span.measured_ns
    return found
