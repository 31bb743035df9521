"""`compare`: two records side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.terminal import AsJson, console, print_json, settings, verb
from mlmodelscope.errors import MLModelScopeError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.analysis.table import Analysis
    from mlmodelscope.record.latencies import RawRun
    from mlmodelscope.record.record import Record
    from mlmodelscope.record.store import Store

_LISTED = 10


@dataclass
class Found:
    """What a comparison came to, for every way to show it."""

    sentence: str
    rows: list[tuple[str, str, str]]
    """Name, first, second."""
    content: dict[str, Any]
    analysis: Analysis | None = None
    verdicts: list[str] = field(default_factory=list)
    """What else is judged, after the sentence."""
    lines: list[str] = field(default_factory=list)
    """What else to print."""
    notes: list[str] = field(default_factory=list)
    listed: tuple[list[str], list[list[str]]] | None = None
    """Head and rows of a second table: what makes the difference."""


@verb
def compare(
    first: Annotated[str, typer.Argument(help="A record's id, or the beginning of it.", metavar="RECORD")],
    second: Annotated[str, typer.Argument(help="The record to compare it with.", metavar="RECORD")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the samples or layers to FILE.csv, or all with plots to FILE.html."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two records: latencies, answers sample by sample, the layers of two profiles, or two trainings.

    Latencies are compared as a ratio with its interval, or reported as no difference. Two evaluations of the same
    samples also show which is more accurate and how far their answers lie apart, and two profiles which layers make the
    difference. Of two trainings, all seeds of each are taken: curves with bands, and final metrics with a verdict.
    """
    from mlmodelscope.cli.server_choice import open_store

    if output is not None and output.suffix not in (".html", ".csv"):
        raise UsageError(f"{output} does not end in .html or .csv")
    store = open_store(settings(True))
    one, other = store.get(first), store.get(second)
    if any(each.plan.job_type == "training" and each.profile is None for each in (one, other)):
        found = _trainings(one, other, store)
    elif one.profile is not None and other.profile is not None:
        found = _layers(one, other, store)
    elif one.profile is not None or other.profile is not None:
        raise UsageError("a profile can be compared with another profile only: it is of layers, and of a few runs")
    else:
        found = _latencies(one, other, store, must_have_answers=output is not None)
    if output is not None:
        _write(found, one, other, output)
    if as_json:
        print_json({"first": one.id, "second": other.id, **found.content})
        return
    _show(found, one, other)
    if output is not None:
        console().print(f"wrote {output}", soft_wrap=True)


def _trainings(one: Record, other: Record, store: Store) -> Found:
    """All seeds of both, and which is better."""
    from mlmodelscope.analysis.training_comparison import (
        compare_trainings,
        curves_analysis,
        final_rows,
        to_json,
        verdicts,
    )

    compared = compare_trainings(one, other, store)
    found = Found(compared.sentence, final_rows(compared), {"trainings": to_json(compared)})
    names = [f"{each.plan.model.reference}, {word}" for each, word in ((one, "first"), (other, "second"))]
    found.analysis = curves_analysis(compared, names)
    found.verdicts = verdicts(compared)
    found.notes += compared.notes
    return found


def _latencies(one: Record, other: Record, store: Store, must_have_answers: bool) -> Found:
    """The latencies, and the answers where both records have some to the same samples."""
    from mlmodelscope.analysis.paired_accuracy import accuracy_row, paired_accuracy
    from mlmodelscope.bench.compare import compare as run

    evaluations = all(record.bench is None and record.training is None for record in (one, other))
    found = Found("", [], {})
    if not evaluations or (one.latency is not None and other.latency is not None):
        latency = run(one, other, _runs(one, store), _runs(other, store))
        columns = [{name: value for name, value, _ in _rows(record)} for record in (one, other)]
        shared = [(name, value, columns[1][name]) for name, value in columns[0].items() if name in columns[1]]
        found = Found(latency.sentence, [*latency.differences, *shared], asdict(latency))
        found.notes += dict.fromkeys(latency.doubts)
    accuracies = accuracy_row(one, other)
    found.rows += [accuracies] if accuracies is not None else []
    if not evaluations:
        if must_have_answers:
            raise UsageError("a bench has no answers that could be written", hint="--json prints what was compared")
        return found
    from mlmodelscope.analysis.comparison_page import answers_analysis, fact_rows
    from mlmodelscope.analysis.divergence import compare_answers
    from mlmodelscope.task.task import task_named

    if task_named(one.plan.task).is_ruled or task_named(other.plan.task).is_ruled:
        return _qualities(found, one, other, store, must_have_answers)
    try:
        answers = compare_answers(one, other, store)
    except MLModelScopeError as error:
        if must_have_answers or not found.sentence:
            raise
        found.notes.append(f"the answers are not compared: {error.message}")
        if accuracies is not None:
            found.notes.append("the accuracies are over different samples: which is more accurate is not judged")
        return found
    found.analysis = answers_analysis(answers, one)
    found.content["answers"] = answers.to_json()
    accuracy = paired_accuracy(answers)
    if accuracy is not None:
        found.verdicts.append(accuracy.sentence)
        found.content["accuracy"] = {**asdict(accuracy), "verdict": accuracy.verdict, "sentence": accuracy.sentence}
    found.lines = [f"{name}: {value}" for name, value in fact_rows(answers)]
    found.notes += answers.notes
    changed = [each for each in answers.apart if not each.same][:_LISTED]
    if changed:
        from mlmodelscope.report import words

        spelled = [
            [each.sample, words.class_name(one, each.first), words.class_name(other, each.second)]
            + ([f"{each.js:.3g}"] if each.js is not None else [])
            for each in changed
        ]
        found.listed = (["answered differently", one.id, other.id, "JS"][: len(spelled[0])], spelled)
    return found


def _judge_scores(found: Found, one: Record, other: Record, store: Store) -> None:
    """Which is better by the task's first measure, on the samples that both have."""
    from mlmodelscope.analysis.paired_scores import is_scored, paired_scores

    if not is_scored(one, other):
        return
    try:
        scores = paired_scores(one, other, store)
    except MLModelScopeError as error:
        found.notes.append(f"the measures are not compared: {error.message}")
        return
    found.verdicts.append(scores.sentence)
    found.content["scores"] = {**asdict(scores), "verdict": scores.verdict, "sentence": scores.sentence}


def _qualities(found: Found, one: Record, other: Record, store: Store, must_have_answers: bool) -> Found:
    """Answers that are more or less good: which samples differ, the most first."""
    from mlmodelscope.analysis.quality_comparison import compare_qualities
    from mlmodelscope.report import words

    try:
        answers = compare_qualities(one, other, store)
    except MLModelScopeError as error:
        if must_have_answers or not found.sentence:
            raise
        found.notes.append(f"the answers are not compared: {error.message}")
        return found
    found.analysis, found.content["answers"] = answers.analysis(), answers.to_json()
    found.lines = [f"{name}: {value}" for name, value in answers.facts]
    _judge_scores(found, one, other, store)
    changed = [each for each in answers.pairs if not each.same][:_LISTED]
    if changed:
        cells = [[each.sample, words.percent(each.first), words.percent(each.second)] for each in changed]
        found.listed = (["answered differently, quality", one.id, other.id], cells)
    return found


def _layers(one: Record, other: Record, store: Store) -> Found:
    from mlmodelscope.analysis.comparison_page import layers_analysis, side_names
    from mlmodelscope.analysis.side_by_side import compare_layers
    from mlmodelscope.bench.compare import differences
    from mlmodelscope.record.work import stack_name
    from mlmodelscope.trace.store import load_trace
    from mlmodelscope.trace.text import spell

    traces = [load_trace(store.folder(record.id)) for record in (one, other)]
    sides = compare_layers(*traces)
    names = side_names(one, other, [stack_name(record.plan) for record in (one, other)])
    rows = [*differences(one, other)]
    calls = [record.profile.run_ns for record in (one, other) if record.profile is not None]
    if calls[0] is not None and calls[1] is not None:
        rows.append(("the call", spell(calls[0]), spell(calls[1])))
    cold = ["yes" if record.profile is not None and record.profile.cold else "no" for record in (one, other)]
    if "yes" in cold:
        rows.append(("first call of a process", cold[0], cold[1]))
    rows.append(("sum of layers", spell(sides.first_ns), spell(sides.second_ns)))
    rows += [(f"  {kind}", spell(first_ns), spell(second_ns)) for kind, first_ns, second_ns in sides.kinds]
    ratio = sides.second_ns / sides.first_ns if sides.first_ns else 0.0
    sentence = f"the layers of the second take {ratio:.3f} times as long"
    found = Found(sentence, rows, {"layers": sides.to_json()}, layers_analysis(sides, traces, names))
    most = [pair for pair in sides.most[:_LISTED] if pair.difference_ns]
    shown = [
        [pair.name, pair.kind, spell(pair.first_ns), spell(pair.second_ns), _signed(pair.difference_ns)]
        for pair in most
    ]
    found.listed = (["layers that make most of the difference", "kind", one.id, other.id, ""], shown)
    found.notes.append(f"layers are paired by {sides.by}; each time is the median of a few profiled runs")
    return found


def _signed(ns: float) -> str:
    from mlmodelscope.trace.text import spell

    return f"{'+' if ns > 0 else '−'}{spell(abs(ns))}"


def _show(found: Found, one: Record, other: Record) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    if found.rows:
        table = Table(box=None, pad_edge=False)
        for name in ("", one.id, other.id):
            table.add_column(name)
        for row in found.rows:
            table.add_row(*map(escape, row))
        out.print(table)
    if found.sentence:
        out.print(f"[bold]{escape(found.sentence)}[/bold]", soft_wrap=True)
    for verdict in found.verdicts:
        out.print(f"[bold]{escape(verdict)}[/bold]", soft_wrap=True)
    for line in found.lines:
        out.print(escape(line), soft_wrap=True)
    if found.listed is not None:
        out.print()
        table = Table(box=None, pad_edge=False)
        for name in found.listed[0]:
            table.add_column(escape(name))
        for cells in found.listed[1]:
            table.add_row(*map(escape, cells))
        out.print(table)
    for note in found.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)


def _write(found: Found, one: Record, other: Record, output: Path) -> None:
    from mlmodelscope.analysis.comparison_page import comparison_html
    from mlmodelscope.cli.overview import write_text

    assert found.analysis is not None
    if output.suffix == ".csv":
        write_text(output, found.analysis.table.to_csv())
        return
    parted = [tuple(line.split(": ", 1)) for line in found.lines]
    rows: list[tuple[str, ...]] = [*found.rows, *((name, value, "") for name, value in parted)]
    lede = " ".join(f"{each[:1].upper()}{each[1:]}." for each in (found.sentence, *found.verdicts) if each)
    title = one.plan.model.reference
    if other.plan.model.reference != title:
        title += f" and {other.plan.model.reference}"
    write_text(output, comparison_html(title, lede, rows, ("", one.id, other.id), found.analysis))


def _runs(record: Record, store: Store) -> list[RawRun]:
    from mlmodelscope.record.latencies import load_latencies

    bench = record.bench
    return load_latencies(store.folder(record.id)) if bench is not None and bench.measured is not None else []


def _rows(record: Record) -> list[tuple[str, str, str]]:
    from mlmodelscope.report.bench import rows
    from mlmodelscope.report.latency import latency_rows

    if record.bench is not None:
        return [row for row in rows(record) if row[0] not in ("ended because",)]
    if record.latency is None:
        return []
    names = {"median (p50)": "latency p50", "p90": "latency p90", "p99": "latency p99"}
    return [(names.get(name, name), value, between) for name, value, between in latency_rows(record.latency)]
