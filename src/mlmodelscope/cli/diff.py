"""`diff`: where do two models, or one in two places, begin to differ?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import Trust, pair
from mlmodelscope.cli.shape_option import parse_shape
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.cli.weight_table import compare_files
from mlmodelscope.errors import MLModelScopeError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.diff.result import Difference

NO_VERDICT = 3
_COLORS = {"same": "green", "different": "red", "undecided": "yellow", "no verdict": "yellow"}
_VERDICT_COLORS = {"agrees": "green", "differs": "red", "shapes differ": "red", "not finite": "red"}
_AROUND = 4
ModelSide = Annotated[
    str, typer.Argument(help="A model's name, name@constraint, id or digest, or the path of its manifest.")
]


@verb
def diff(
    first: Annotated[str, typer.Argument(help="The model that is taken for right.", metavar="A")],
    second: Annotated[
        str | None,
        typer.Argument(help="The model to compare with it; with --stacks the dataset, if any.", metavar="B | DATASET"),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Argument(help="A dataset whose samples both get; without one, numbers by chance.", metavar="DATASET"),
    ] = None,
    samples: Annotated[int, typer.Option(help="How many samples of the dataset.", min=1)] = 2,
    random: Annotated[bool, typer.Option("--random", help="Numbers by chance, also where a dataset is named.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of those numbers.", min=0)] = 0,
    batch_size: Annotated[int, typer.Option(help="Rows of an input by chance.", min=1)] = 1,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            help="Shape of an input by chance that the model leaves open, such as tokens=1,16.", metavar="[NAME=]SIZES"
        ),
    ] = None,
    stacks: Annotated[
        str | None,
        typer.Option(
            "--stacks",
            help="One model in several stacks instead of two models: names, comma-separated, each compared with the "
            "first; `all` stands for those that are built and read the model's file.",
            metavar="NAME,NAME",
        ),
    ] = None,
    stack_a: Annotated[
        str | None, typer.Option("--stack-a", help="Software manifest of A, as --stack of other verbs.")
    ] = None,
    stack_b: Annotated[str | None, typer.Option("--stack-b", help="Software manifest of B.")] = None,
    option_a: Annotated[
        list[str] | None, typer.Option("--option-a", help="Option of A's predictor.", metavar="KEY=VALUE")
    ] = None,
    option_b: Annotated[
        list[str] | None, typer.Option("--option-b", help="Option of B's predictor.", metavar="KEY=VALUE")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            help="How far layers may be apart, of their largest value, instead of what follows from element type and "
            "depth: 1e-3 for all, NAME=1e-3 for one.",
            metavar="[LAYER=]NUMBER",
        ),
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="What is computed in, where tensors do not tell: bfloat16, float16, tf32, int8.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List every layer, not only those around the first difference.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Also write a page with every layer, as one HTML file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the layers as a JUnit file.")] = None,
    weights: Annotated[
        bool,
        typer.Option(
            "--weights",
            help="Compare the weights of two files, tensor by tensor, and run nothing; also across formats.",
        ),
    ] = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Compare two models layer by layer, and name the first layer that differs beyond rounding.

    A and B may be two models, one model in two stacks (--stack-a, --stack-b), on two devices or in two precisions
    (--option-a, --option-b). With --stacks, A is compared in several stacks, each with the first one: a table of same
    answers, largest differences, and whether rounding explains them. Exit code 0: they agree; 1: they differ; 2:
    undecided, no layer or output can be compared; 3: no verdict, the message says why. With --weights, A and B may
    also be model files or files of weights.
    """
    from mlmodelscope.cli.server_choice import remote
    from mlmodelscope.diff.side import RandomInput
    from mlmodelscope.diff.tolerance import parse_tolerances

    if remote() is not None:
        raise UsageError("layers are compared on this machine, not on a server", hint="leave out --server")
    options = dict(map(pair, option_a or ())), dict(map(pair, option_b or ()))
    if weights:
        if second is None or dataset is not None or random or stacks is not None or (report or junit) is not None:
            raise UsageError("--weights runs nothing: it takes two files or manifests, --all and --json")
        return compare_files(first, second, every, as_json, settings(offline))
    if stacks is not None:
        _refuse_two_sides(dataset, stack_a, stack_b)
        dataset, second = second, None
    elif second is None:
        raise UsageError(
            "B is missing: diff compares two models",
            hint=f"for one model in several stacks: mlmodelscope diff {first} --stacks current,NAME",
        )
    by_chance = (
        RandomInput(seed, batch_size, dict(map(parse_shape, shape or ()))) if random or dataset is None else None
    )
    common: dict[str, Any] = {
        "samples": samples,
        "random": by_chance,
        "tolerance": parse_tolerances(tolerance or (), precision),
        "trust": trust,
        "settings": settings(offline),
    }
    if second is None:
        assert stacks is not None
        return _in_stacks(first, stacks, dataset, options, common, (report, junit), as_json)
    return _two_sides((first, second), (stack_a, stack_b), dataset, options, common, (report, junit), as_json, every)


Options = tuple[dict[str, Any], dict[str, Any]]
"""Of A's predictor and of B's."""
Pages = tuple[Path | None, Path | None]
"""HTML and JUnit."""


def _refuse_two_sides(dataset: str | None, stack_a: str | None, stack_b: str | None) -> None:
    if dataset is not None:
        raise UsageError(
            "--stacks compares one model, and two are named",
            hint="with --stacks: mlmodelscope diff MODEL [DATASET] --stacks NAME,NAME",
        )
    if stack_a is not None or stack_b is not None:
        raise UsageError("--stacks goes with neither --stack-a nor --stack-b")


@contextmanager
def _no_verdict() -> Iterator[None]:
    """What keeps a comparison from being made is no verdict; what was asked wrongly stays that."""
    try:
        yield
    except UsageError:
        raise
    except MLModelScopeError as error:
        error.exit_code = NO_VERDICT
        raise


def _in_stacks(
    model: str, stacks: str, dataset: str | None, options: Options, common: dict[str, Any], pages: Pages, as_json: bool
) -> int:
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.cli.stack_differences import show_stack_differences, write_stack_differences
    from mlmodelscope.diff.stacks import diff_stacks, stack_names

    with _no_verdict(), TerminalWatcher() as watcher:
        found = diff_stacks(
            model,
            stack_names(stacks),
            dataset,
            first_options=options[0],
            other_options=options[1],
            watcher=watcher,
            **common,
        )
    write_stack_differences(found, *pages)
    if as_json:
        print_json(found.to_json())
    else:
        show_stack_differences(found)
    return found.exit_code


def _two_sides(
    models: tuple[str, str],
    stacks: tuple[str | None, str | None],
    dataset: str | None,
    options: Options,
    common: dict[str, Any],
    pages: Pages,
    as_json: bool,
    every: bool,
) -> int:
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.diff.diff import diff as run
    from mlmodelscope.diff.side import SideRequest

    asked = [SideRequest(*each) for each in zip(models, stacks, options, strict=True)]
    with _no_verdict(), TerminalWatcher() as watcher:
        found = run(asked[0], asked[1], dataset, watcher=watcher, **common)
    _write(found, *pages)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found, every)
    return found.exit_code


def _write(found: Difference, report: Path | None, junit: Path | None) -> None:
    from mlmodelscope.cli.overview import write_text
    from mlmodelscope.diff.difference_page import difference_html, difference_junit

    if report is not None:
        write_text(report, difference_html(found))
    if junit is not None:
        write_text(junit, difference_junit(found))


def _show(found: Difference, every: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    for label, side in zip("AB", found.sides, strict=False):
        out.print(f"{label}: {escape(side.model)} in {escape(side.stack)}, {side.layers} layers", soft_wrap=True)
    color = _COLORS[found.outcome]
    out.print(f"[bold {color}]{found.outcome}[/bold {color}]: {escape(found.sentence)}", soft_wrap=True)
    for part in found.parts:
        shade = {"agrees": "green", "differs": "red"}.get(part.verdict, "yellow")
        out.print(f"  {part.part:<9} [{shade}]{part.verdict}[/{shade}]: {escape(part.words)}", soft_wrap=True)
    for fault in found.faults[:1]:
        out.print(f"it looks like [bold]{escape(fault.kind)}[/bold]: {escape(fault.words)}", soft_wrap=True)
    rows = list(enumerate(found.pairs))
    if not every:
        at = found.first.place if found.first is not None else None
        rows = [(place, pair) for place, pair in rows if at is not None and abs(place - at) <= _AROUND]
    if rows:
        table = Table(box=None, pad_edge=False)
        for column in ("layer of A", "layer of B", "kind", "largest", "relative", "cosine", "tolerance", ""):
            table.add_column(column, no_wrap=column in ("largest", "relative", "cosine", "tolerance"))
        for place, each in rows:
            apart = each.apart
            mark = " ←" if found.first is not None and place == found.first.place else ""
            verdict = _VERDICT_COLORS.get(each.verdict)
            said = f"[{verdict}]{each.verdict}[/{verdict}]" if verdict else each.verdict
            table.add_row(
                escape(each.first.name) if each.first else "",
                escape(each.second.name) if each.second else "",
                escape("output" if each.is_output else each.kind),
                f"{apart.largest:.2e}" if apart else "",
                f"{each.off:.1e}" if apart else "",
                f"{apart.cosine:.6f}" if apart and apart.cosine is not None else "",
                f"{each.tolerance:.1e}" if apart else "",
                said + mark,
            )
        out.print(table)
    for label, side in zip("AB", found.sides, strict=False):
        for note in side.notes:
            out.print(f"[yellow]note:[/yellow] {label}: {escape(note)}", soft_wrap=True)
    for note in found.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
