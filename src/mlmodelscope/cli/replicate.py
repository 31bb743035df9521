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
    RelaxFramework,
    SoftwareName,
    Stratified,
    Threads,
    TopK,
    Trust,
    make_options,
)
from mlmodelscope.cli.plugins import warn_of_broken_pitfalls
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlmodelscope.replicate.finding import Finding
    from mlmodelscope.replicate.outcome import Outcome
    from mlmodelscope.replicate.replication import Replication

NO_VERDICT = 3
_SHOWN = 8
_COLORS = {
    "reproduced": "green",
    "better than claimed": "yellow",
    "not reproduced": "red",
    "undecided": "yellow",
    "not checked": "yellow",
}


@verb
def replicate(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A model's name, name@constraint, id or digest, or the path of its manifest; a reference log names it "
            "itself.",
            metavar="MODEL | --log LOG",
        ),
    ] = None,
    dataset: DatasetName = None,
    claims: Annotated[
        list[str] | None,
        typer.Option(
            "--claim",
            help="What was published, such as top1=78.8@imagenet-val; by default every claim of the manifest that is "
            "about the dataset.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(help="The claimant's reference log: its number is the claim, and its answers are compared."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="A model that is taken for right, by name or manifest: where no pitfall explains the gap, the two are "
            "compared layer by layer.",
            metavar="MODEL",
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            help="Tolerance in the claim's unit (points for a percentage), up and down; by default half the claim's "
            "last digit.",
            min=0,
        ),
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
    relax_framework: RelaxFramework = False,
    hardware: HardwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    limit: Limit = None,
    stratified: Stratified = False,
    top_k: TopK = 5,
    report: Annotated[Path | None, typer.Option(help="Also write a page with the evidence, as one HTML file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the verdict as a JUnit file.")] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Also add the verdict to a Markdown file, such as $GITHUB_STEP_SUMMARY.")
    ] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Give a verdict on every published number, and name the pitfall where one does not hold.

    Exit code 0: reproduced; 1: not reproduced; 2: undecided; 3: no verdict, the message says why; 4: better than
    claimed. Of several claims the worst counts: 1, then 2, 4 and 0.
    """
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.plan.claim import parse_claim
    from mlmodelscope.replicate.replication import replicate as run

    options = make_options(batch_size, threads, limit, stratified, 0, top_k, None, relax_framework=relax_framework)
    there = remote()
    try:
        claim = _only(claims or [])
        if there is not None:
            asked = {
                "claim": claim,
                "within": within / 100 if within is not None else None,
                "explain": explain,
                "stacks": [name.strip() for name in (stacks or "").split(",") if name.strip()],
                "budget": budget,
            }
            if reference is not None:
                raise UsageError("layers are compared on this machine, not on a server", hint="leave out --server")
            if model is None or log is not None:
                raise UsageError("a server is asked about a model; a claimant's reference log is compared here")
            with TerminalWatcher() as watcher:
                chosen = {"software": software, "hardware": hardware, "trust": trust, "watcher": watcher}
                arguments = {name: value for name, value in asked.items() if value is not None}
                found = there.replicate(model, dataset, options, arguments=arguments, **chosen)
            return _tell(found, found.finding().shown, report, junit, summary, as_json)
        with TerminalWatcher() as watcher:
            done = run(
                model,
                dataset,
                options,
                claim=parse_claim(claim) if claim else None,
                log=log,
                reference=reference,
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
    from mlmodelscope.replicate.checked import keep_replication
    from mlmodelscope.replicate.outcome import Here

    keep_replication(done, model, settings(offline))
    if done.found is not None:
        warn_of_broken_pitfalls()
    return _tell(Here(done), _evidence(done), report, junit, summary, as_json)


def _only(claims: list[str]) -> str | None:
    """The one that was given: of several, all but the last would be left unchecked without a word."""
    if len(claims) > 1:
        raise UsageError(
            f"--claim names one number, and {len(claims)} were given: {', '.join(claims)}",
            hint="list them under `claims` in the manifest: without --claim, each is checked",
        )
    return claims[0] if claims else None


def _tell(
    found: Outcome,
    evidence: Iterable[str],
    report: Path | None,
    junit: Path | None,
    summary: Path | None,
    as_json: bool,
) -> int:
    """Whether it was found here or on a server."""
    if report is not None:
        _write(report, found.page())
    if junit is not None:
        _write(junit, found.text("junit.xml"))
    if summary is not None:
        _write(summary, found.text("summary.md"), "a")
    from mlmodelscope.replicate.kind import EXIT_CODES

    finding = found.finding()
    if as_json:
        print_json(found.document())
    else:
        _show(finding, evidence)
    return EXIT_CODES[finding.verdict]


def _write(path: Path, text: str, mode: str = "w") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        failure = StoreError(f"cannot write {path}: {error.strerror or error}")
        failure.exit_code = NO_VERDICT
        raise failure from None


def _evidence(done: Replication) -> Iterable[str]:
    """As this terminal can show it."""
    from mlmodelscope.replicate.evidence_text import abilities_of, evidence_lines

    if done.evidence is None:
        return ()
    return evidence_lines(done.evidence, abilities_of(sys.stdout, os.environ, min(console().width, 120)))


def _show(finding: Finding, evidence: Iterable[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.task.measure import NUMBER, UNITS, measure_or_bare

    out = console()
    for line in finding.said:
        kind, colon, words = line.partition(": ")
        color = _COLORS.get(kind) if colon else None
        said = f"[bold {color}]{kind}[/bold {color}]: {escape(words)}" if color else escape(line)
        out.print(said, soft_wrap=True)
    if finding.evaluations is None:
        return
    table = Table(box=None, pad_edge=False)
    claim, unit = finding.claim, UNITS.get(finding.claim.unit, NUMBER)
    digits = max(2 if unit.symbol else 4, len(claim.value.partition(".")[2]))
    has_right = measure_or_bare(claim.metric).has_right_and_wrong
    changed = ("fixed", "broken") if has_right else ("better", "worse")
    for column in ("pitfall", "variant", claim.title, "±", *changed, "samples"):
        table.add_column(column, no_wrap=True)
    nearer = [each for each in finding.candidates if each.closes > 0]
    for each in nearer[:_SHOWN]:
        table.add_row(
            escape(" + ".join(each.pitfalls)),
            escape(each.words),
            f"{unit.factor * each.expected:.{digits}f} {unit.symbol}".rstrip(),
            f"{unit.factor * 1.96 * each.deviation:.{digits}f}",
            str(each.gained),
            str(each.lost),
            str(each.samples),
        )
    if nearer:
        out.print(table)
    for line in evidence:
        print(line)
    out.print(f"cost: {finding.evaluations:.1f} evaluations for {len(finding.candidates)} variants")
