"""`sensitivity`: how much would each pitfall cost this model?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    ModelName,
    RelaxFramework,
    SoftwareName,
    Threads,
    Trust,
    make_options,
)
from mlmodelscope.cli.plugins import warn_of_broken_pitfalls
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import (
    AsJson,
    Offline,
    console,
    percent,
    print_json,
    print_table,
    settings,
    verb,
)
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.preparation import Conditions
    from mlmodelscope.record.record import Record
    from mlmodelscope.replicate.sensed import Cost, Sensed


@verb
def sensitivity(
    model: ModelName,
    dataset: DatasetName = None,
    pitfall: Annotated[
        list[str] | None, typer.Option(help="Only this pitfall, such as color-layout; may be given again.")
    ] = None,
    software: SoftwareName = None,
    relax_framework: RelaxFramework = False,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    limit: Annotated[
        int | None, typer.Option(help="Take only so many samples, of each class its share.", min=1)
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Every variant on every sample, also where its effect is known before.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            help="How many evaluations of all samples it may take; what is left open has wider intervals.", min=0
        ),
    ] = None,
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
    from mlmodelscope.replicate.pitfall import check_names
    from mlmodelscope.replicate.sensed import sensed_of
    from mlmodelscope.replicate.sensitivity import measure

    check_names(pitfall or ())
    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"{plot} is no .svg: the plot is SVG")
    if exact and budget is not None:
        raise UsageError("every variant on every sample has no budget", hint="leave out --exact, or --budget")
    options = make_options(batch_size, threads, limit, limit is not None, 0, 5, None, relax_framework=relax_framework)
    there = remote()
    with TerminalWatcher() as watcher:
        if there is not None:
            chosen = {"software": software, "trust": trust, "watcher": watcher}
            arguments = {"pitfalls": pitfall or [], "exact": exact, "budget": budget}
            record, sensed = there.sensitivity(model, dataset, options, arguments=arguments, **chosen)
        else:
            found = settings(offline)
            conditions: Conditions = {"software": software, "trust": trust, "settings": found, "watcher": watcher}
            record = evaluate(model, dataset, options, made_for="sensitivity", **conditions)
            sensed = sensed_of(
                record, measure(record, found, pitfall or None, watcher=watcher, exact=exact, budget=budget)
            )
    if there is None and not pitfall:
        warn_of_broken_pitfalls()
    if plot is not None:
        plot.write_text(_chart(record, sensed), encoding="utf-8")
    if as_json:
        about = {"metric": sensed.metric, "unit": sensed.unit}
        print_json([{**each.model_dump(exclude={"title", "idle"}), **about} for each in sensed.effects])
        return
    _show(sensed)
    if plot is not None:
        console().print(f"plot: {plot}", soft_wrap=True)


def _chart(record: Record, sensed: Sensed) -> str:
    from mlmodelscope.study.plot import Bar, bars
    from mlmodelscope.study.study import about
    from mlmodelscope.task.measure import UNITS

    title = f"What each pitfall would cost {sensed.model}"
    shown = [
        Bar(
            f"{each.pitfall}: {each.words}",
            *(UNITS[sensed.unit].factor * at for at in (each.difference, each.difference_low, each.difference_high)),
        )
        for each in sensed.effects
    ]
    unit = UNITS[sensed.unit]
    counted = "percentage points" if unit.symbol == "%" else unit.symbol or "difference"
    said = f"{counted} of {sensed.titles[sensed.metric]}"
    return bars(title, about(record), shown, said, is_better_higher=sensed.better == "higher")


def _spelled(measured: Sensed, name: str, value: float | None) -> str:
    """A number in the unit of its own measure: beside decibels of PSNR stands an SSIM that has no unit."""
    from mlmodelscope.task.measure import UNITS

    unit = UNITS[measured.unit_of(name)]
    if value is None:
        return ""
    if unit.symbol == "%":
        return percent(value)
    return f"{unit.factor * value:.3f} {unit.symbol}" if unit.symbol else f"{value:.4f}"


def _change(measured: Sensed, each: Cost) -> str:
    from mlmodelscope.study.pitfalls import points
    from mlmodelscope.task.measure import UNITS
    from mlmodelscope.types import Interval

    said = points(Interval(each.difference, each.difference_low, each.difference_high), UNITS[measured.unit].factor)
    return said if each.samples > 1 or measured.test == "mcnemar" else said.split(" ")[0]  # one says nothing of others


def _footnote(measured: Sensed) -> str:
    from mlmodelscope.task.measure import UNITS

    symbol = UNITS[measured.unit].symbol
    counted = f" in {'percentage points' if symbol == '%' else symbol}" if symbol else ""
    test = "McNemar's test" if measured.test == "mcnemar" else "Student's t"
    said = [f"change of {measured.titles[measured.metric]}{counted}, p by {test}"]
    if measured.test != "mcnemar":
        said.append("changed: samples whose score is another one")
    if any(each.samples != measured.samples for each in measured.effects):
        said.append(f"samples: how many of {measured.samples} were tried, where not all were")
    if any(each.failed and each.samples for each in measured.effects):
        said.append("failed: samples without an answer; numbers and change are those of the others")
    return "; ".join(said)


def _show(measured: Sensed) -> None:
    from rich.markup import escape

    from mlmodelscope.replicate.sensitivity import AS_IT_IS
    from mlmodelscope.study.pitfalls import p_value

    out = console()
    own = ", ".join(
        f"{measured.titles[name]} {_spelled(measured, name, number.value)}" for name, number in measured.numbers.items()
    )
    out.print(f"{AS_IT_IS}: {own} on {measured.samples} samples")
    others = [name for name in measured.titles if name != measured.metric]
    names = (measured.titles[measured.metric], *(measured.titles[name] for name in others))
    flips = "flips" if measured.test == "mcnemar" else "changed"
    titles = ("pitfall", "variant", *names, "change (95 %)", flips, "p", "samples", "failed")
    rows = []
    idle = [each for each in measured.effects if each.idle]
    twins: dict[str, list[str]] = {}
    for each in measured.effects:
        if each.same_as not in (None, AS_IT_IS):
            twins.setdefault(str(each.same_as), []).append(each.words)
    for each in measured.effects:
        if each.idle or each.same_as is not None:
            continue  # it stands in the line below, or beside the variant that it equals
        rows.append(
            (
                each.pitfall,
                " = ".join((each.words, *twins.get(each.words, ()))),
                _spelled(measured, measured.metric, each.value),
                *(_spelled(measured, name, each.others.get(name)) for name in others),
                _change(measured, each),
                str(each.flips),
                p_value(each.p_value),
                str(each.samples) if each.samples != measured.samples else "",
                str(each.failed) if each.failed else "",
            )
        )
    if len(idle) == len(measured.effects):
        out.print("no pitfall that could be tried changes any answer")
    else:
        kept = [at for at in range(len(titles)) if any(row[at] for row in rows)]
        shown = [[row[at] for at in kept] for row in rows]
        print_table([titles[at] for at in kept], shown, [at > 1 for at in kept])
        out.print(_footnote(measured), soft_wrap=True)
    if idle:
        listed = "; ".join(f"{each.pitfall}: {each.words}" for each in idle)
        out.print(f"no answer changes with {escape(listed)}", soft_wrap=True)
    for missing in measured.not_tried:
        out.print(f"not tried: {escape('; '.join(missing.variants))} ({escape(missing.reason)})", soft_wrap=True)
