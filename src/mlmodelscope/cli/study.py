"""`study`: the papers' experiments, our numbers beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import SoftwareName, Trust
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.study import Outcome, Study

Plot = Annotated[Path | None, typer.Option("--plot", help="Also draw it: an SVG file.", metavar="FILE.svg")]


@verb
def study(
    name: Annotated[str | None, typer.Argument(help="Which experiment; without one, all are listed.")] = None,
    model: Annotated[
        str | None,
        typer.Argument(help="A model's name or the path of its manifest; by default efficientnet-lite0."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Argument(help="A dataset's name or the path of its manifest; by default the model's, or imagenet-70."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    limit: Annotated[
        int | None, typer.Option(help="Take only so many samples, of each class its share.", min=1)
    ] = None,
    threads: Annotated[str | None, typer.Option(help="For `threads`: which counts, such as 1,2,4,8.")] = None,
    stacks: Annotated[str | None, typer.Option(help="For `frameworks`: which stacks, comma-separated.")] = None,
    batch_size: Annotated[
        str | None,
        typer.Option(
            help="For `language`, `threads`, `machine-settings` and `cold-start`: samples at once, such as 1,4,16."
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="For `language`: calls; for `cold-start`: fresh processes.", min=1)
    ] = None,
    software: SoftwareName = None,
    again: Annotated[bool, typer.Option("--again", help="Measure anew what the store has a record of.")] = False,
    plot: Plot = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of the papers with any model, and show the paper's numbers beside it."""
    from mlmodelscope.study import STUDIES

    if name is None or list_:
        _list(as_json)
        return
    if name not in STUDIES:
        raise UsageError(f"no study is called `{name}`", hint=f"known: {', '.join(each.name for each in _ordered())}")
    _refuse_others(STUDIES[name], {"threads": threads, "batch_size": batch_size, "stacks": stacks, "runs": runs})
    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"{plot} is no .svg: the plot is SVG")
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.study import Request
    from mlmodelscope.study.study import DEFAULT_MODEL

    with TerminalWatcher() as watcher:
        outcome = STUDIES[name].run(
            Request(
                model=model or DEFAULT_MODEL,
                dataset=dataset,
                settings=settings(offline),
                watcher=watcher,
                software=software,
                trust=trust,
                limit=limit,
                batch_sizes=_numbers("--batch-size", batch_size),
                threads=_numbers("--threads", threads),
                stacks=tuple(word.strip() for word in (stacks or "").split(",") if word.strip()),
                runs=runs,
                again=again,
            )
        )
    if plot is not None and outcome.chart is not None:
        plot.write_text(outcome.chart, encoding="utf-8")
    if as_json:
        print_json(outcome.to_json(name))
    else:
        _show(STUDIES[name], outcome, plot)


def _ordered() -> list[Study]:
    """As the papers have them."""
    from mlmodelscope.study import STUDIES
    from mlmodelscope.study.paper import FACTS

    return sorted(STUDIES.values(), key=lambda each: list(FACTS).index(each.name))


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and 0 < int(word) <= 4096 for word in words):
        raise UsageError(f"{option} takes whole numbers from 1 with commas between, not `{text}`")
    return tuple(dict.fromkeys(int(word) for word in words))


def _refuse_others(chosen: Study, given: dict[str, object]) -> None:
    for option, value in given.items():
        if value is not None and option not in chosen.options:
            raise UsageError(f"--{option.replace('_', '-')} has no meaning for the study `{chosen.name}`")


def _list(as_json: bool) -> None:
    found = _ordered()
    if as_json:
        print_json([{"name": each.name, "title": each.title, "where": each.where} for each in found])
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("study", "what", "in the papers"):
        table.add_column(column, no_wrap=True)
    for each in found:
        table.add_row(each.name, each.title, each.where)
    out = console()
    out.print(table)
    from mlmodelscope.study.paper import FIRST, SECOND

    for paper in (FIRST, SECOND):
        out.print(f"the {paper.name} paper: {paper.title} ({paper.authors})", soft_wrap=True)


def _show(chosen: Study, outcome: Outcome, plot: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    out.print(f"[bold]{escape(chosen.title)}[/bold] ({escape(chosen.where)})", soft_wrap=True)
    out.print(escape(outcome.about), soft_wrap=True)
    for found in outcome.tables:
        texts = found.texts()
        # A column that says nothing in any row is not worth its room.
        kept = [at for at in range(len(found.columns)) if any(line[at] for line in texts)]
        table = Table(box=None, pad_edge=False)
        for at in kept:
            table.add_column(escape(found.columns[at].heading), no_wrap=True)
        for line in texts:
            table.add_row(*(escape(line[at]) for at in kept))
        out.print(f"\n{escape(found.title)}")
        out.print(table)
    if outcome.facts:
        table = Table(box=None, pad_edge=False)
        for column in ("in the paper", "what", "as printed"):
            table.add_column(column, no_wrap=True)
        for fact in outcome.facts:
            table.add_row(*(escape(text) for text in (f"{fact.paper.name}, {fact.place}", fact.what, fact.value)))
        out.print()
        out.print(table)
    out.print()
    for note in outcome.notes:
        out.print(escape(note), soft_wrap=True)
    if outcome.records:
        out.print(f"records: {' '.join(outcome.records)}", soft_wrap=True)
    if plot is not None:
        out.print(f"plot: {escape(str(plot))}", soft_wrap=True)
