"""Two records side by side as tables, plots and pages: their answers, or their layers."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.analysis.divergence import MEASURES, Divergence
from mlmodelscope.analysis.side_by_side import SideBySide, layer_spans
from mlmodelscope.analysis.table import Analysis, Column, Table, Value, spelled
from mlmodelscope.layer.kind import plain_kind
from mlmodelscope.record.record import Record
from mlmodelscope.report import plot, words
from mlmodelscope.report.sheet import Section, write_sheet
from mlmodelscope.trace.layers import LayerRow
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.text import spell

_MEASURES = {
    "kl": "KL, second from first",
    "kl_back": "KL, first from second",
    "js": "Jensen–Shannon",
    "hellinger": "Hellinger",
}
_WORST = 25


def fact_rows(found: Divergence) -> list[tuple[str, str]]:
    """The numbers, for every format."""
    rows = [
        ("samples in both", words.count(found.samples)),
        ("same answer", f"{words.percent(found.agree.value)} ({words.percent_range(found.agree)})"),
        (f"same {found.kept} best, in any order", words.percent(found.same_set.value)),
        (f"of the {found.kept} best in both", words.percent(found.overlap)),
    ]
    if found.both_right is not None:
        rows.append(("both right", words.count(found.both_right)))
        rows.append(("only the first right", words.count(found.first_right or 0)))
        rows.append(("only the second right", words.count(found.second_right or 0)))
        rows.append(("both wrong", words.count(found.both_wrong or 0)))
    for name in MEASURES:
        mean, most = found.means[name], found.most[name]
        if mean is not None and most is not None:
            unit = "" if name == "hellinger" else " nat"
            rows.append((_MEASURES[name], f"{mean:.3g}{unit} on average, {most:.3g} at most"))
    if found.infinite:
        rows.append(("infinite KL", words.plural(found.infinite, "sample")))
    return rows


def answers_analysis(found: Divergence, first: Record) -> Analysis:
    """A row for each sample, those that differ most first."""
    columns = [
        Column("sample", "sample"),
        Column("label", "label"),
        Column("first", "first says"),
        Column("second", "second says"),
        Column("same", "same answer"),
        Column("overlap", "of the best in both", kind="share"),
        *(Column(name, _MEASURES[name], kind="number") for name in MEASURES),
    ]
    rows: list[tuple[Value, ...]] = [
        (
            each.sample,
            words.class_name(first, each.label) if each.label is not None else None,
            words.class_name(first, each.first),
            words.class_name(first, each.second),
            each.same,
            each.overlap,
            *(getattr(each, name) for name in MEASURES),
        )
        for each in found.apart
    ]
    table = Table("answers", "Answers", columns, rows)
    plots = {}
    values = [each.js for each in found.apart if each.js is not None]
    if values:
        plots["divergence"] = plot.bars(
            "Jensen–Shannon divergence of each sample, the largest first",
            [(each.sample, each.js or 0.0, "") for each in found.apart[:400]],
            plot.Axis("Jensen–Shannon", "nat"),
            groups=["same answer" if each.same else "another answer" for each in found.apart[:400]],
        )
    return Analysis("answers", "Answers", table, plots, found.notes)


def layers_analysis(found: SideBySide, traces: Sequence[Trace], names: Sequence[str]) -> Analysis:
    """A row for each pair of layers, in the order of execution; the plots are the two runs and the kinds."""
    columns = [
        Column("first", "layer of the first"),
        Column("second", "layer of the second"),
        Column("kind", "kind"),
        Column("first_ns", "first", kind="time_ns"),
        Column("second_ns", "second", kind="time_ns"),
        Column("difference_ns", "difference", kind="time_ns"),
    ]
    rows: list[tuple[Value, ...]] = [
        (
            pair.first.name if pair.first else None,
            pair.second.name if pair.second else None,
            pair.kind,
            pair.first.time_ns if pair.first else None,
            pair.second.time_ns if pair.second else None,
            pair.difference_ns,
        )
        for pair in found.pairs
    ]
    plots = {"timelines": timelines(traces, names), "most": _most(found, names), "kinds": _by_kind(found, names)}
    notes = (f"layers are paired by {found.by}",)
    return Analysis("layers", "Layers side by side", Table("layers", "Layers", columns, rows), plots, notes)


def timelines(traces: Sequence[Trace], names: Sequence[str]) -> str:
    """A run of each, layer behind layer, on one scale: where the longer one loses its time is seen at once."""
    rows = []
    for trace, name in zip(traces, names, strict=True):
        pieces, at = [], 0.0
        for span in layer_spans(trace):
            took = span.measured_ns / 1e6
            label = span.name
            kind = plain_kind(str(span.attributes.get("kind", "?")))
            pieces.append(plot.Piece(at, at + took, label, kind, f"{label} ({kind}): {spell(span.measured_ns)}"))
            at += took
        rows.append((name, pieces))
    return plot.lanes("One run of each, layer behind layer", rows, plot.Axis("time in layers", "ms"))


def _most(found: SideBySide, names: Sequence[str]) -> str:
    """Zoomed in on the layers that make the difference."""
    pairs = [pair for pair in found.most[:8] if pair.difference_ns]
    series = {names[0]: [_ms(pair.first) for pair in pairs], names[1]: [_ms(pair.second) for pair in pairs]}
    title = "The layers that make most of the difference"
    return plot.grouped_bars(title, [pair.name for pair in pairs], series, plot.Axis("time", "ms"))


def _ms(layer: LayerRow | None) -> float | None:
    return layer.time_ns / 1e6 if layer is not None else None


def _by_kind(found: SideBySide, names: Sequence[str]) -> str:
    kinds = found.kinds[:12]
    series = {names[0]: [one / 1e6 for _, one, _ in kinds], names[1]: [other / 1e6 for _, _, other in kinds]}
    return plot.grouped_bars("Time by kind of layer", [kind for kind, _, _ in kinds], series, plot.Axis("time", "ms"))


def side_names(first: Record, second: Record, stack_names: Sequence[str]) -> tuple[str, str]:
    """What tells the two apart, else their ids."""
    parts = [
        [f"{each.plan.model.reference}", stack, each.machine.cpu]
        for each, stack in zip((first, second), stack_names, strict=True)
    ]
    kept = [place for place in range(3) if parts[0][place] != parts[1][place]]
    if not kept:
        return first.id, second.id
    one, other = (", ".join(own[place] for place in kept) for own in parts)
    return one, other


def comparison_html(
    title: str, lede: str, facts: Sequence[tuple[str, ...]], head: Sequence[str], analysis: Analysis | None
) -> str:
    sections = [Section("Numbers", head=head, rows=facts)]
    if analysis is not None:
        table = analysis.table.without_empty()
        rows = [[spelled(*cell) for cell in zip(table.columns, row, strict=True)] for row in table.rows]
        about = (
            f"The first {_WORST} of {len(rows)}; CSV has them all."
            if len(rows) > _WORST and analysis.id == "answers"
            else ""
        )
        shown = rows[:_WORST] if about else rows
        titles = [column.title for column in table.columns]
        sections.append(Section("Plots", plots=list(analysis.plots.values()), notes=analysis.notes))
        sections.append(Section(analysis.title, about, head=titles, rows=shown))
    return write_sheet(title, lede, sections)
