"""`sensitivity`: how much would each pitfall cost this model?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    Limit,
    ModelName,
    SoftwareName,
    Stratified,
    Threads,
    Trust,
    make_options,
)
from mlmodelscope.cli.terminal import AsJson, Offline, console, percent, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.replicate.sensitivity import Effect


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
    limit: Limit = None,
    stratified: Stratified = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Show what each pitfall would do to a model's accuracy, the manifest being right."""
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.evaluation import evaluate
    from mlmodelscope.replicate.pitfall import PITFALLS
    from mlmodelscope.replicate.sensitivity import sensitivity as run

    unknown = [name for name in pitfall or () if name not in PITFALLS]
    if unknown:
        raise UsageError(f"no pitfall is called {', '.join(unknown)}", hint=f"known: {', '.join(PITFALLS)}")
    found = settings(offline)
    options = make_options(batch_size, threads, limit, stratified, 0, 5, None)
    with TerminalWatcher() as watcher:
        record = evaluate(model, dataset, options, software=software, trust=trust, settings=found, watcher=watcher)
    effects = run(record, found, pitfall or None)
    if as_json:
        print_json(
            [
                {
                    "pitfall": each.variant.pitfalls[0],
                    "words": each.variant.words,
                    "top1": each.after.value,
                    "difference": each.after.value - each.before.value,
                    "gained": each.gained,
                    "lost": each.lost,
                    "samples": each.samples,
                    "same_as": each.same_as,
                }
                for each in effects
            ]
        )
        return
    _show(effects)


def _show(effects: Sequence[Effect]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("pitfall", "variant", "top-1", "difference", "right now", "wrong now", ""):
        table.add_column(column, no_wrap=True)
    for each in effects:
        change = 100 * (each.after.value - each.before.value)
        table.add_row(
            each.variant.pitfalls[0],
            each.variant.words,
            percent(each.after.value),
            f"{change:+.1f}",
            str(each.gained),
            str(each.lost),
            f"same answers as: {each.same_as}" if each.same_as else "",
        )
    out = console()
    if effects:
        out.print(f"the manifest as it is: {percent(effects[0].before.value)} on {effects[0].samples} samples")
    out.print(table)
