"""`sensitivity`: how much would each pitfall cost this model?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import BatchSize, DatasetName, ModelName, SoftwareName, Threads, Trust, make_options
from mlmodelscope.cli.terminal import AsJson, Offline, console, percent, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.replicate.sensitivity import Effect, Sensitivity


@verb
def sensitivity(
    model: ModelName,
    dataset: DatasetName = None,
    pitfall: Annotated[
        list[str] | None, typer.Option(help="Only this pitfall, such as color-layout; may be given again.")
    ] = None,
    software: SoftwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    limit: Annotated[
        int | None, typer.Option(help="Take only so many samples, of each class its share.", min=1)
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Every variant on every sample, also where its effect is known before.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw the differences: an SVG file.", metavar="FILE.svg")
    ] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Show what each pitfall would do to a model's accuracy, the manifest being right."""
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.evaluation import evaluate
    from mlmodelscope.replicate.pitfall import PITFALLS
    from mlmodelscope.replicate.sensitivity import measure

    unknown = [name for name in pitfall or () if name not in PITFALLS]
    if unknown:
        raise UsageError(f"no pitfall is called {', '.join(unknown)}", hint=f"known: {', '.join(PITFALLS)}")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"{plot} is no .svg: the plot is SVG")
    found = settings(offline)
    options = make_options(batch_size, threads, limit, limit is not None, 0, 5, None)
    with TerminalWatcher() as watcher:
        record = evaluate(model, dataset, options, software=software, trust=trust, settings=found, watcher=watcher)
        measured = measure(record, found, pitfall or None, watcher=watcher, exact=exact)
    if plot is not None:
        from mlmodelscope.study.pitfalls import effects_chart
        from mlmodelscope.study.study import about

        title = f"What each pitfall would cost {record.plan.model.reference}"
        plot.write_text(effects_chart(title, about(record), measured.effects), encoding="utf-8")
    if as_json:
        print_json([_for_programs(each) for each in measured.effects])
        return
    _show(measured)
    if plot is not None:
        console().print(f"plot: {plot}", soft_wrap=True)


def _for_programs(each: Effect) -> dict[str, Any]:
    change = each.difference
    return {
        "pitfall": each.variant.pitfalls[0],
        "words": each.variant.words,
        "top1": each.after,
        "difference": change.value,
        "gained": each.gained,
        "lost": each.lost,
        "samples": each.samples,
        "same_as": each.same_as,
        "difference_low": change.low,
        "difference_high": change.high,
        "p_value": each.top1.p_value,
        "top5": each.after5,
        "flips": each.flips,
        "failed": each.failed,
    }


def _show(measured: Sensitivity) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.replicate.sensitivity import AS_IT_IS
    from mlmodelscope.study.pitfalls import p_value, points

    out = console()
    top5 = f", top-5 {percent(measured.top5.value)}" if measured.top5 else ""
    out.print(f"{AS_IT_IS}: top-1 {percent(measured.top1.value)}{top5} on {len(measured.samples)} samples")
    table = Table(box=None, pad_edge=False)
    for column in (
        "pitfall",
        "variant",
        "top-1",
        "top-5",
        "difference of top-1 (95 %)",
        "flips",
        "McNemar p",
        "samples",
        "failed",
    ):
        table.add_column(column, no_wrap=True)
    idle = [each for each in measured.effects if each.is_idle]
    twins: dict[str, list[str]] = {}
    for each in measured.effects:
        if each.same_as not in (None, AS_IT_IS):
            twins.setdefault(str(each.same_as), []).append(each.variant.words)
    for each in measured.effects:
        if each.is_idle or each.same_as is not None:
            continue  # it stands in the line below, or beside the variant that it equals
        table.add_row(
            each.variant.pitfalls[0],
            escape(" = ".join((each.variant.words, *twins.get(each.variant.words, ())))),
            percent(each.after),
            percent(each.after5) if each.after5 is not None else "",
            points(each.difference),
            str(each.flips),
            p_value(each.top1.p_value),
            str(each.samples),
            str(each.failed) if each.failed else "",
        )
    if len(idle) == len(measured.effects):
        out.print("no pitfall that could be tried changes any answer")
    else:
        out.print(table)
    if idle:
        names = "; ".join(f"{each.variant.pitfalls[0]}: {each.variant.words}" for each in idle)
        out.print(f"no answer changes with {escape(names)}", soft_wrap=True)
    for reason, variants in measured.impossible.items():
        out.print(f"not tried: {escape('; '.join(variants))} ({escape(reason)})", soft_wrap=True)
