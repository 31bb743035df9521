"""`claims`: published numbers, what became of each, and many of them checked by one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import BatchSize, Threads, Trust
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, print_json, print_table, settings, verb
from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlmodelscope.claim.listing import Page, Published, Wanted
    from mlmodelscope.claim.result import Result
    from mlmodelscope.claim.selection import Job, Selection
    from mlmodelscope.record.checks import Check

app = typer.Typer(help="Published numbers: what became of each, and checks of many.", invoke_without_command=True)
_FORMS = (".html", ".md", ".json")
_MOST_REASONS = 12

Text = Annotated[str | None, typer.Option("--search", help="Words in the model's name, task, license or claims.")]
SourceLabel = Annotated[str | None, typer.Option("--source", help="Only claims of this source; see `catalog list`.")]
OnDataset = Annotated[str | None, typer.Option("--dataset", help="Only claims about this dataset.")]
OfMetric = Annotated[str | None, typer.Option("--metric", help="Only claims of this metric.")]
WithStatus = Annotated[
    str | None,
    typer.Option(
        "--status", help="Only claims of this status: unchecked, reproduced, better, not-reproduced or undecided."
    ),
]


@app.callback()
def default(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        list_all(text=None, source=None, dataset=None, metric=None, status=None, limit=40, as_json=as_json)


@app.command("list")
@verb
def list_all(
    text: Text = None,
    source: SourceLabel = None,
    dataset: OnDataset = None,
    metric: OfMetric = None,
    status: WithStatus = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many; 0 lists all.")] = 40,
    as_json: AsJson = False,
) -> None:
    """List published numbers of manifests and sources, with what became of each."""
    page = _page(_wanted(text, source, dataset, metric, status, limit))
    if as_json:
        print_json({"claims": [_as_json(each) for each in page.rows], "total": page.total})
        return
    _print_claims(page.rows)
    for problem in page.problems:
        print(f"left out: {problem}", file=sys.stderr)
    more = page.total - len(page.rows)
    hint = f", {more:,} of them not shown: --limit 0 lists all, --search WORDS finds some" if more else ""
    print(f"{page.total:,} published numbers fit{hint}", file=sys.stderr)


@app.command("show")
@verb
def show(
    model: Annotated[str, typer.Argument(help="A model's name, name@version or SOURCE:NAME.")],
    as_json: AsJson = False,
) -> None:
    """Show a model's published numbers with every check of each: by whom, when, on which stack and machine."""
    rows = _rows_of(model)
    if not rows:
        raise UsageError(f"{model} has no published numbers", hint=f"mlmodelscope models {model} shows what it has")
    checks = _checks(rows)
    if as_json:
        from dataclasses import asdict

        print_json([{**_as_json(each), "all_checks": list(map(asdict, checks.get(each.key, [])))} for each in rows])
        return
    for each in rows:
        print(f"{each.claim} on {each.dataset or 'no dataset'}: {each.standing.status}")
        for line in (f"conditions: {each.conditions}" if each.conditions else "", each.place):
            if line:
                print(f"  {line}")
        for check in checks.get(each.key, []):
            print(f"  {_check_line(each, check)}")


@app.command("check")
@verb
def check(
    text: Text = None,
    source: SourceLabel = None,
    dataset: OnDataset = None,
    metric: OfMetric = None,
    status: WithStatus = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Evaluate at most so many models.")] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Stop after this time, such as 30m or 2h.", metavar="TIME")
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download weights and data and build stacks that are not here.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain/--no-explain", help="Search for the pitfall where a claim does not hold.")
    ] = True,
    again: Annotated[bool, typer.Option("--again", help="Also check claims that were checked before.")] = False,
    trial: Annotated[bool, typer.Option("--dry-run", help="Only show what would be checked, and what cannot.")] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Also write the table, as FILE.html, .md or .json.")
    ] = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Check many published numbers. The same command resumes where it was interrupted.

    Exit code: that of the worst verdict, as `replicate` has it: 1 not reproduced, 2 undecided, 4 better than claimed,
    0 reproduced; 3 where there is none or where a check failed.
    """
    from mlmodelscope.claim.deadline import duration_s

    if report is not None and report.suffix not in _FORMS:
        raise UsageError(
            f"{report} does not end in {', '.join(_FORMS)}", hint="mlmodelscope claims check --report claims.html"
        )
    if offline and fetch:
        raise UsageError("--offline never uses the network, and --fetch does", hint="leave --offline out")
    budget_s = duration_s(budget) if budget is not None else None
    wanted = _wanted(text, source, dataset, metric, status, 0)
    from mlmodelscope.cli.claim_batch import Batch

    batch = Batch(
        settings(offline),
        fetch=fetch,
        explain=explain,
        again=again,
        trust=trust,
        batch_size=batch_size,
        threads=threads,
    )
    selection = batch.select(_page(wanted).rows, limit)
    _tell_selection(selection)
    results: list[Result] = []
    if not trial:
        try:
            for each in batch.results(selection, budget_s):
                results.append(each)
        finally:  # also where it is interrupted: what is known is shown
            _tell(selection, results, report, as_json)
        from mlmodelscope.claim.result import exit_code

        return exit_code(results)
    if as_json:
        _tell(selection, results, report, as_json)
    else:
        print_table(("model", "on", "claims"), [(job.model, job.dataset, _words(job)) for job in selection.jobs])
    return 0


def _wanted(
    text: str | None, source: str | None, dataset: str | None, metric: str | None, status: str | None, limit: int
) -> Wanted:
    from mlmodelscope.claim.listing import Wanted
    from mlmodelscope.claim.status import status_named

    chosen = status_named(status) if status is not None else None
    return Wanted(text=text or "", source=source, dataset=dataset, metric=metric, status=chosen, limit=limit)


def _page(wanted: Wanted) -> Page:
    """Of this machine, or of the server that was named."""
    there = remote()
    if there is not None:
        from mlmodelscope.claim.there import list_there

        return list_there(there.client, wanted)
    from mlmodelscope.claim.listing import list_claims

    if wanted.source is not None:
        _demand_source(wanted.source)
    return list_claims(settings(False), wanted)


def _demand_source(label: str) -> None:
    """A label that is misspelled must not look like a source without claims."""
    from contextlib import closing

    from mlmodelscope.catalog.index import open_index
    from mlmodelscope.catalog.search import sources
    from mlmodelscope.manifest.suggest import nearest

    with closing(open_index(settings(False))) as index:
        known = [source.label for source in sources(index)]
    if label not in known:
        raise UsageError(f"there is no source `{label[:60]}`\nknown: {', '.join(known)}", hint=nearest(label, known))


def _rows_of(model: str) -> Sequence[Published]:
    """All claims of one model: of a manifest by name or file, or of a source."""
    from mlmodelscope.claim.listing import Wanted, list_claims

    if remote() is not None:
        return _page(Wanted(model=model, limit=0)).rows
    from mlmodelscope.manifest.catalog import find_model, is_reference

    if is_reference(model):
        from mlmodelscope.catalog.find import described_reference

        described = described_reference(model)
        if described is not None:
            return list_claims(settings(False), Wanted(model=described, limit=0)).rows
    from mlmodelscope.catalog.manifest_row import row_of

    found = find_model(model)
    return list_claims(settings(False), Wanted(model=found.reference, limit=0), manifests=[row_of(found)]).rows


def _checks(rows: Sequence[Published]) -> dict[str, list[Check]]:
    """All of them by claim, the newest first."""
    there = remote()
    if there is not None:
        from mlmodelscope.claim.there import checks_there

        return {each.key: checks_there(there.client, each.key) for each in rows if each.standing.checks}
    from mlmodelscope.record.checks import checks_at

    found: dict[str, list[Check]] = {}
    for check in checks_at(settings(False), model=rows[0].model):
        found.setdefault(check.claim, []).append(check)
    return found


def _as_json(each: Published) -> dict[str, Any]:
    from dataclasses import asdict

    facts = {name: getattr(each, name) for name in ("model", "metric", "value", "dataset", "conditions", "place")}
    facts |= {"unit": each.symbol, "key": each.key, "fits": each.fits, "is_measurable": each.is_measurable}
    return {**facts, **asdict(each.standing)}


def _print_claims(rows: Sequence[Published]) -> None:
    lines = []
    for each in rows:
        check = each.standing.check
        seen = (each.measured(check), check.cause, _who(check)) if check is not None else ("", "", "")
        lines.append((each.model, each.metric, each.published, each.dataset, each.standing.status, *seen))
    titles = ("model", "metric", "claimed", "on", "status", "measured", "because of", "checked by")
    print_table(titles, lines, (False, False, True, False, False, True, False, False))


def _who(check: Check) -> str:
    return f"{check.person}, {check.checked_at:%Y-%m-%d}, {check.stack}"


def _check_line(claim: Published, check: Check) -> str:
    """One check with its evidence."""
    cause = f", because of {check.cause}" if check.cause else ""
    return (
        f"{check.verdict}: measured {claim.measured(check)} on {check.samples:,} samples{cause}; "
        f"{check.person}, {check.checked_at:%Y-%m-%d %H:%M} UTC, {check.stack}, {check.machine}, record {check.record}"
    )


def print_status(model: str) -> None:
    """Below a model's manifest, as comments: where each published number of it stands."""
    from mlmodelscope.manifest.write import spell_comment

    for line in status_lines(model):
        print(spell_comment(f"# {line}"))


def status_lines(model: str) -> list[str]:
    """Where each published number of a model stands."""
    try:
        rows = _rows_of(model)
    except MLModelScopeError as error:  # the model is shown all the same
        print(f"what became of its claims cannot be read: {error.message}", file=sys.stderr)
        return []
    lines = []
    for each in rows:
        check = each.standing.check
        told = _check_line(each, check) if check is not None else each.standing.status
        lines.append(f"{each.claim} on {each.dataset or 'no dataset'}: {told}")
    return lines


def _words(job: Job) -> str:
    return ", ".join(each.claim for each in job.claims)


def _tell_selection(selection: Selection) -> None:
    """Before anything runs: what can be checked, and what cannot and why."""
    claims = sum(len(job.claims) for job in selection.jobs)
    done = sum(job.is_done for job in selection.jobs)
    said = f"{selection.total:,} published numbers fit; {claims:,} can be checked here"
    if selection.jobs:
        evaluated = len(selection.jobs)
        said += f", in {evaluated:,} evaluation{'s' if evaluated > 1 else ''}"
    print(said + (f", {done:,} of them done before" if done else ""), file=sys.stderr)
    for each in selection.left_out[:_MOST_REASONS]:
        print(f"  {each.count:,} cannot: {each.reason}, such as {', '.join(each.examples)}", file=sys.stderr)
    rest = selection.left_out[_MOST_REASONS:]
    if rest:
        print(f"  {sum(each.count for each in rest):,} cannot, for {len(rest):,} other reasons", file=sys.stderr)
    if selection.beyond:
        print(f"  {selection.beyond:,} were not looked at: the limit was reached before", file=sys.stderr)


def _tell(selection: Selection, results: Sequence[Result], report: Path | None, as_json: bool) -> None:
    from mlmodelscope.claim import report as form

    if as_json:
        print_json(form.as_json(selection, results))
    else:
        if results:
            print_table(form.HEAD, form.rows_of(results), (False, False, False, False, True, False, False))
        print(form.summary(selection, results), file=sys.stderr)
    if report is not None:
        write = {".html": form.as_html, ".md": form.as_markdown, ".json": form.as_text}[report.suffix]
        _write(report, write(selection, results))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
