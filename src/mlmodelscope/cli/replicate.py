"""`replicate`: does a published number hold, and if not, which detail explains it?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    HardwareName,
    Limit,
    SoftwareName,
    Stratified,
    Threads,
    Trust,
    make_options,
)
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import MLModelScopeError, StoreError

if TYPE_CHECKING:
    from mlmodelscope.replicate.replication import Replication

EXIT = {"reproduced": 0, "not reproduced": 1, "undecided": 2}
NO_VERDICT = 3
_SHOWN = 8


@verb
def replicate(
    model: Annotated[str | None, typer.Argument(help="Name of a model, or path of its manifest.")] = None,
    dataset: DatasetName = None,
    claim: Annotated[
        str | None,
        typer.Option(help="What was published, such as top1=78.8@imagenet-val; by default what the manifest claims."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(help="The claimant's reference log: its number is the claim, and its answers are compared."),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(help="Margin in percentage points; by default half the claim's last digit.", min=0),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain/--no-explain", help="Search for the pitfall where the claim does not hold.")
    ] = True,
    stacks: Annotated[
        str | None, typer.Option(help="Other software to try as a cause, such as onnxruntime-1.17,openvino-2026.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="How many evaluations of the whole dataset a search may take.", min=0)
    ] = None,
    software: SoftwareName = None,
    hardware: HardwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    limit: Limit = None,
    stratified: Stratified = False,
    report: Annotated[Path | None, typer.Option(help="Also write a page with the evidence, as one HTML file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the verdict as a JUnit file.")] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Also add the verdict to a Markdown file, such as $GITHUB_STEP_SUMMARY.")
    ] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Give a verdict on a published number, and name the pitfall where it does not hold.

    Exit code 0: reproduced; 1: not reproduced; 2: undecided, too few samples; 3: no verdict, the message says why.
    """
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.replicate.claim import parse_claim
    from mlmodelscope.replicate.replication import replicate as run

    try:
        with TerminalWatcher() as watcher:
            done = run(
                model,
                dataset,
                make_options(batch_size, threads, limit, stratified, 0, 5, None),
                claim=parse_claim(claim) if claim else None,
                log=log,
                within=within / 100 if within is not None else None,
                explain=explain,
                stacks=[name.strip() for name in stacks.split(",") if name.strip()] if stacks else (),
                budget=budget,
                software=software,
                hardware=hardware,
                trust=trust,
                settings=settings(offline),
                watcher=watcher,
            )
    except MLModelScopeError as error:
        error.exit_code = NO_VERDICT
        raise
    from mlmodelscope.replicate.export import to_json, to_junit, to_markdown

    if report is not None:
        from mlmodelscope.replicate.page import render

        _write(report, render(done))
    if junit is not None:
        _write(junit, to_junit(done))
    if summary is not None:
        _write(summary, to_markdown(done), "a")
    if as_json:
        print_json(to_json(done))
    else:
        _show(done)
    return EXIT[done.verdict.kind]


def _write(path: Path, text: str, mode: str = "w") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        failure = StoreError(f"cannot write {path}: {error.strerror or error}")
        failure.exit_code = NO_VERDICT
        raise failure from None


def _show(done: Replication) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.replicate.describe import describe_paired, describe_search, describe_verdict
    from mlmodelscope.replicate.evidence_text import abilities_of, evidence_lines

    out = console()
    color = {"reproduced": "green", "not reproduced": "red", "undecided": "yellow"}[done.verdict.kind]
    out.print(
        f"[bold {color}]{done.verdict.kind}[/bold {color}]: {escape(describe_verdict(done.verdict))}", soft_wrap=True
    )
    for line in describe_paired(done.verdict):
        out.print(escape(line), soft_wrap=True)
    if done.not_sought:
        out.print(escape(done.not_sought), soft_wrap=True)
    if done.found is None:
        return
    for line in describe_search(done.found, done.verdict):
        out.print(escape(line), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("pitfall", "variant", done.verdict.claim.measure.title, "±", "right now", "wrong now", "samples"):
        table.add_column(column, no_wrap=True)
    for each in done.found.candidates[:_SHOWN]:
        table.add_row(
            " + ".join(each.variant.pitfalls),
            escape(each.variant.words),
            f"{100 * each.expected:.2f} %",
            f"{100 * 1.96 * each.deviation:.2f}",
            str(each.gained),
            str(each.lost),
            str(each.seen),
        )
    out.print(table)
    if done.evidence is not None:
        abilities = abilities_of(sys.stdout, os.environ, min(out.width, 120))
        for line in evidence_lines(done.evidence, abilities):
            print(line)
    if done.cost is not None:
        out.print(f"cost: {done.cost.calls / done.samples:.1f} evaluations for {len(done.found.candidates)} variants")
