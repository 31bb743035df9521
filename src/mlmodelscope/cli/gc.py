"""`gc`: take away what is no longer kept."""

from __future__ import annotations

from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError


@verb
def gc(
    keep_days: Annotated[
        float | None, typer.Option(help="Records stay so many days after they were finished.", min=0)
    ] = None,
    keep_newest: Annotated[int, typer.Option(help="So many records of each plan stay, however old.", min=0)] = 0,
    traces_days: Annotated[float | None, typer.Option(help="Traces of records stay so many days.", min=0)] = None,
    artifacts_days: Annotated[
        float | None, typer.Option(help="Artifacts stay so many days after their last use.", min=0)
    ] = None,
    artifacts_size: Annotated[
        str | None, typer.Option(help="Artifacts may take so much, such as 20GB; the longest unused go first.")
    ] = None,
    events_days: Annotated[
        float | None, typer.Option(help="Events of evaluations stay so many days after those ended.", min=0)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take away old records, traces, artifacts and events, and say how much that freed.

    Pinned records (`records pin`) stay, and those that running work speaks of. Artifacts can be fetched again.
    """
    from mlmodelscope.record.store import Store
    from mlmodelscope.upkeep.retention import Policy, bytes_of, collect

    policy = Policy(
        records_days=keep_days,
        keep_newest=keep_newest,
        traces_days=traces_days,
        artifacts_days=artifacts_days,
        artifacts_bytes=bytes_of(artifacts_size) if artifacts_size is not None else None,
        events_days=events_days,
    )
    if policy.is_empty:
        hint = "--keep-days 90, --traces-days 30, --artifacts-days 30, --artifacts-size 20GB, --events-days 30"
        raise UsageError("nothing is to go unless you say what", hint=hint)
    found = settings(False)
    store = Store(found)
    try:
        done = collect(store, found.cache, policy, dry_run=dry_run)
    finally:
        store.close()
    if as_json:
        print_json({**vars(done), "dry_run": dry_run})
        return
    for record in done.records:
        print(f"record {record}")
    for record in done.traces:
        print(f"trace of {record}")
    for digest in done.artifacts:
        print(f"artifact {digest}")
    print(f"{'would take away' if dry_run else 'took away'} {done}")
