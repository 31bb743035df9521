"""`gc`: take away what is no longer kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.settings import Settings


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
    caches: Annotated[
        bool, typer.Option("--caches", help="Say what the caches hold, too; alone, nothing is taken away.")
    ] = False,
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
    found = settings(False)
    if policy.is_empty and caches:
        every = _held(found)
        print_json({"caches": every}) if as_json else _show_held(every)
        return
    if policy.is_empty:
        hint = "--keep-days 90, --traces-days 30, --artifacts-days 30, --artifacts-size 20GB, --events-days 30"
        raise UsageError("nothing is to go unless you say what", hint=hint)
    store = Store(found)
    try:
        done = collect(store, found.cache, policy, dry_run=dry_run)
    finally:
        store.close()
    held = _held(found) if caches else None
    if as_json:
        print_json({**vars(done), "dry_run": dry_run, **({"caches": held} if held is not None else {})})
        return
    for record in done.records:
        print(f"record {record}")
    for record in done.traces:
        print(f"trace of {record}")
    for digest in done.artifacts:
        print(f"artifact {digest}")
    print(f"{'would take away' if dry_run else 'took away'} {done}")
    if held is not None:
        _show_held(held)


def _held(settings: Settings) -> list[dict[str, object]]:
    """What each cache holds, and how much of it would be freed if it were taken away alone."""
    from mlmodelscope.provision.stack.holding import size_of, uv_cache

    places = {
        "artifacts": (settings.cache / "files", "--artifacts-days or --artifacts-size"),
        "stacks": (settings.cache / "stacks", "mlmodelscope stacks remove NAME"),
        "uv": (uv_cache(), "uv cache prune, or mlmodelscope stacks remove NAME --cache"),
    }
    found: list[dict[str, object]] = []
    for name, (place, way) in places.items():
        if place is not None and place.is_dir():
            held = size_of(place)
            facts = {"cache": name, "folder": str(place), "bytes": held.bytes, "own_bytes": held.own_bytes}
            found.append({**facts, "freed_by": way})
    return found


def _show_held(caches: list[dict[str, object]]) -> None:
    from mlmodelscope.report.words import size

    for each in caches:
        held, own = each["bytes"], each["own_bytes"]
        assert isinstance(held, int) and isinstance(own, int)
        shared = "" if own == held else f", {size(held - own)} of it shared with other caches"
        print(f"{each['cache']} ({each['folder']}): {size(held)}{shared}; freed by {each['freed_by']}")
    if not caches:
        print("no cache holds anything")
