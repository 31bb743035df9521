"""`suggest`: which models fit a wish, and how that is known."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.help import HelpCommand
from mlmodelscope.cli.terminal import AsJson, print_json, print_table, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.suggestion.evidence import Evidence, Ranking, Suggested
    from mlmodelscope.suggestion.wish import Wish

_METRIC = re.compile(r"--(min|max)-([a-z][a-z0-9:_-]*)(=.*)?")
_RANKINGS = 3


class Command(HelpCommand):
    """`--min-ap 30` is `--min ap=30`: there is an option for each metric."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for each in self.params for name in each.opts}
        words, given = [], iter(args)
        for word in given:
            found = _METRIC.fullmatch(word)
            if found is None or word.partition("=")[0] in own:
                words.append(word)
                continue
            value = found[3][1:] if found[3] else next(given, "")
            words += [f"--{found[1]}", f"{found[2]}={value}"]
        return super().parse_args(ctx, words)


@verb
def suggest(
    task: Annotated[
        str | None, typer.Option(help="What the model is for, such as classification or detection.")
    ] = None,
    least: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="METRIC=VALUE", help="At least so good, as published; --min-ap 30 for short."),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option("--max", metavar="METRIC=VALUE", help="At most so much of an error; --max-wer 5 for short."),
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Rank by this; by default the first bound or the task's.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Only numbers on this dataset, such as imagenet-val.")] = None,
    latency: Annotated[
        str | None, typer.Option("--max-latency", metavar="TIME", help="One sample, at the median: 20ms or 0.02s.")
    ] = None,
    parameters: Annotated[str | None, typer.Option("--max-parameters", metavar="COUNT", help="Such as 25M.")] = None,
    size: Annotated[str | None, typer.Option("--max-size", metavar="SIZE", help="Of the weights' file: 100MB.")] = None,
    license_: Annotated[
        str | None, typer.Option("--license", help="Of the weights: permissive, or a name such as mit.")
    ] = None,
    cost: Annotated[
        str | None, typer.Option(help="What accuracy is weighed against: latency, parameters, size or gflops.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many models of a ranking.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Suggest models by known accuracy, latency, size and license, with the evidence of each number.

    Measured numbers go before claimed ones. What is not known never counts as fulfilled: such models are listed below
    those that fit. Each dataset has a ranking of its own, in Pareto order.
    """
    from mlmodelscope.suggestion.wish import bound_of, make_wish

    bounds = tuple(bound_of(each, True) for each in least or ()) + tuple(bound_of(each, False) for each in most or ())
    wish = make_wish(
        task, bounds, metric, dataset, latency=latency, parameters=parameters, size=size, license=license_, cost=cost
    )
    rankings, elsewhere = _find(wish)
    if as_json:
        _print_json(wish, rankings, limit, elsewhere)
        return
    shown = rankings[:_RANKINGS] if dataset is None else rankings
    for number, ranking in enumerate(shown):
        if number:
            print()
        _print_ranking(ranking, wish, limit)
    _tell(wish, rankings, shown, elsewhere)


def _find(wish: Wish) -> tuple[list[Ranking], int]:
    from contextlib import closing

    from mlmodelscope.catalog.index import open_index
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.suggestion.described_models import described_models
    from mlmodelscope.suggestion.manifest_models import manifest_models
    from mlmodelscope.suggestion.measured import add_measured
    from mlmodelscope.suggestion.suggest import suggest as rank

    found = settings(False)
    with closing(open_index(found)) as index:
        models = [*manifest_models(found, wish), *described_models(index, wish)]
    store = open_store(found)
    try:
        elsewhere = add_measured(models, store)
    finally:
        store.close()
    return rank(models, wish), elsewhere


def _print_ranking(ranking: Ranking, wish: Wish, limit: int) -> None:
    unit = wish.measure.unit
    print(f"{ranking.dataset}, {ranking.metric}{f' in {unit.symbol}' if unit.symbol else ''}")
    for title, listed in (("fits", ranking.fitting), ("may fit", ranking.open)):
        if not listed:
            continue
        titles = (title, ranking.metric, *_columns(wish), "license", "runs here", "front", "unknown", "evidence")
        rows = [_row(each, wish) for each in listed[:limit]]
        print_table(titles, rows, (False, True, *[True] * len(_columns(wish)), False, False, True))
        if len(listed) > limit:
            print(f"and {len(listed) - limit:,} more")


def _columns(wish: Wish) -> tuple[str, ...]:
    named = [("parameters", True), ("latency", wish.max_latency_s), ("size", wish.max_size_bytes)]
    return tuple(name for name, given in named if given or wish.cost == name) + (
        ("gflops",) if wish.cost == "gflops" else ()
    )


def _row(each: Suggested, wish: Wish) -> tuple[str, ...]:
    facts = {"parameters": each.parameters, "latency": each.latency, "size": each.size_bytes, "gflops": each.gflops}
    shown = [facts[name].shown if facts[name] is not None else "unknown" for name in _columns(wish)]  # type: ignore[union-attr]
    evidence = [_said(each.accuracy)]
    if each.latency is not None and (wish.max_latency_s is not None or wish.cost == "latency"):
        evidence.append(f"latency: {_said(each.latency)}")
    return (
        *(each.reference, each.accuracy.shown.removesuffix(" %"), *shown, each.license or "unknown"),
        *("yes" if each.is_runnable else "no", str(each.front or "-"), ", ".join(each.unknown), "; ".join(evidence)),
    )


def _said(evidence: Evidence) -> str:
    between = ""
    if evidence.low is not None and evidence.high is not None and evidence.kind == "measured":
        between = " (with its interval in the record)"
    conditions = f", {evidence.conditions}" if evidence.conditions else ""
    return f"{evidence.kind}: {evidence.source}{conditions}{between}"


def _tell(wish: Wish, rankings: list[Ranking], shown: list[Ranking], elsewhere: int) -> None:
    """What was asked for, what was left out and what would settle the rest; not among the rows."""
    lines = [f"wish: {wish.shown}; ranked by {wish.measure.name} against {wish.cost}"]
    if not rankings:
        lines.append(
            "no model that is known here has a number of that metric" + (f" on {wish.dataset}" if wish.dataset else "")
        )
        lines.append("mlmodelscope models --claims --metric NAME lists what is published")
    for each in shown:
        if each.left_out:
            reasons = ", ".join(f"{count:,} by {what}" for what, count in each.left_out.items())
            lines.append(f"{each.dataset}: {len(each.fitting):,} fit, {len(each.open):,} may fit, left out {reasons}")
    rest = [each for each in rankings if each not in shown and (each.fitting or each.open)]
    if rest:
        listed = ", ".join(f"{each.dataset} ({len(each.fitting) + len(each.open):,})" for each in rest[:10])
        lines.append(f"further datasets: {listed}; --dataset NAME ranks one")
    if elsewhere:
        lines.append(f"{elsewhere:,} latencies of other machines are left out: they are not comparable")
    first = next((one for each in shown for one in each.open if "latency" in one.unknown and one.is_runnable), None)
    if first is not None:
        lines.append(f"a latency becomes known by measuring it: mlmodelscope bench {first.reference}")
    print("\n".join(lines), file=sys.stderr)


def _print_json(wish: Wish, rankings: list[Ranking], limit: int, elsewhere: int) -> None:
    from dataclasses import asdict, replace

    body = []
    for each in rankings:
        part = replace(each, fitting=each.fitting[:limit], open=each.open[:limit])
        body.append({**asdict(part), "fitting_total": len(each.fitting), "open_total": len(each.open)})
    said = {
        "text": wish.shown,
        "task": wish.task,
        "metric": wish.measure.name,
        "unit": wish.measure.unit.name,
        "cost": wish.cost,
        "dataset": wish.dataset,
    }
    print_json({"wish": said, "rankings": body, "latencies_of_other_machines": elsewhere})
