"""`records`: what has been evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import RecordName
from mlmodelscope.cli.terminal import AsJson, console, percent, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record
    from mlmodelscope.record.store import Store

app = typer.Typer(help="List, show, delete and export records.", invoke_without_command=True)


def _store() -> Store:
    from mlmodelscope.cli.server_choice import open_store

    return open_store(settings(False))


@app.callback()
def default(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        list_records(model=None, dataset=None, status=None, kind=None, limit=20, as_json=as_json)


@app.command("list")
@verb
def list_records(
    model: Annotated[str | None, typer.Option(help="Of this model only.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Of this dataset only.")] = None,
    status: Annotated[str | None, typer.Option(help="finished or running.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="Of this kind: evaluation, training, profile, bench, or a bench's scenario.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 20,
    as_json: AsJson = False,
) -> None:
    """List records, newest first."""
    _check_kind(kind)
    rows = _store().list(model=model, dataset=dataset, status=status, limit=limit, kind=kind)
    if as_json:
        print_json(rows)
        return
    if not rows:
        chosen = any(each is not None for each in (model, dataset, status, kind))
        print("no such records" if chosen else "no records yet; mlmodelscope evaluate makes one")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("record", "date (UTC)", "kind", "model", "dataset", "stack", "result", "samples", "status"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        samples = f"{row['samples']}" + (f", {row['failed']} failed" if row["failed"] else "")
        table.add_row(
            row["id"],
            str(row["created_at"])[:16].replace("T", " "),  # a server's rows have it as text
            ", ".join(each for each in (row["kind"], row["scenario"], _purpose(row)) if each),
            f"{row['model']}@{row['model_version']}",
            f"{row['dataset']}@{row['dataset_version']}",
            (row.get("stack") or "").partition("@")[0].replace("[", "\\["),  # older servers do not tell it
            _result(row).replace("[", "\\["),
            samples,
            row["status"],
        )
    console().print(table)


def _result(row: Mapping[str, Any]) -> str:
    """The number that stands for a record, with its interval."""
    found = row["headline"]
    if found is None:
        return ""
    from mlmodelscope.task.measure import NUMBER, UNITS

    unit = UNITS.get(found["unit"], NUMBER)
    digits = 1 if unit.factor == 100 else 2 if unit.symbol else 4
    numbers = [found[name] for name in ("value", "low", "high") if found[name] is not None]
    value, *between = (f"{unit.factor * each:.{digits}f}" for each in numbers)
    shown = f"{found['title']} {value}{f' {unit.symbol}' if unit.symbol else ''}"
    return f"{shown} [{', '.join(between)}]" if len(between) == 2 else shown


def _purpose(row: Mapping[str, Any]) -> str | None:
    """That a record was made on the way to something else; overviews and `latest` leave it out."""
    return f"for {row['made_for']}" if row["made_for"] else None


def _check_kind(kind: str | None) -> None:
    if kind is None:
        return
    from mlmodelscope.cli.bench import ScenarioName
    from mlmodelscope.manifest.suggest import nearest
    from mlmodelscope.record.kind import KINDS

    known = [*KINDS, *(each.value for each in ScenarioName)]
    if kind not in known:
        raise UsageError(
            f"there are no records of the kind `{kind}`\nknown: {', '.join(known)}", hint=nearest(kind, known)
        )


@app.command("show")
@verb
def show(
    name: RecordName,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="List the samples answered wrongly, or all, the worst first.")
    ] = False,
    failed: Annotated[bool, typer.Option("--failed", help="List the samples that failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record, who signed it, or the samples of it that went wrong."""
    from mlmodelscope.cli.evaluate import show_builds, show_record
    from mlmodelscope.cli.train import show_training

    store = _store()
    record = store.get(name)
    if not wrong and not failed:
        if as_json:
            print(record.model_dump_json(indent=2))
        elif record.profile is not None:
            from mlmodelscope.cli.profile import show_profile
            from mlmodelscope.trace.store import load_trace

            show_profile(record, load_trace(store.folder(record.id)))
        elif record.bench is not None:
            from mlmodelscope.cli.bench import show_bench

            show_bench(record)
        else:
            show_training(record) if record.training is not None else show_record(record)
        if not as_json:
            show_builds(record)
            _show_origin(store, record.id)
        return
    rows = store.samples(record, only_wrong=wrong and not failed, only_failed=failed).to_pylist()
    if wrong and not failed and rows and "right" not in rows[0]:  # none of them is simply wrong
        _show_worst(record, rows, as_json)
        return
    if as_json:
        print_json([{name: value for name, value in row.items() if not isinstance(value, bytes)} for row in rows])
        return
    names = record.class_names
    for row in rows:
        if row["error"]:
            print(f"{row['id']}: {row['error']}")
        else:
            said = row["classes"][0]
            label, answer = (names[n] if 0 <= n < len(names) else str(n) for n in (row["label"], said))
            print(f"{row['id']}: {label} taken for {answer} ({row['scores'][0]:.3f})")


def _show_worst(record: Record, rows: list[dict[str, Any]], as_json: bool) -> None:
    """Every sample with its quality, what is in it and what was answered, the worst first."""
    from mlmodelscope.task.quality import quality_of
    from mlmodelscope.task.shape import named_by, summary
    from mlmodelscope.task.task import task_named

    task, named = task_named(record.plan.task), named_by(record.class_names)
    found = []
    for row in rows:
        shapes = task.glanced(row, named)
        words = {"answer": row["answer"]}
        if shapes:
            words = {"truth": summary(shapes, "truth"), "answer": summary(shapes, "answer")}
        found.append({"id": row["id"], "quality": quality_of(row.get("score")), **words, "error": row["error"]})
    found.sort(key=lambda each: each["quality"] if each["quality"] is not None else -1.0)
    if as_json:
        print_json(found)
        return
    for each in found:
        quality = f"{percent(each['quality'])}  " if each["quality"] is not None else ""
        truth = f"{each['truth'] or 'nothing'} → " if "truth" in each else ""
        print(f"{quality:>10}{each['id']}: {each['error'] or truth + (each['answer'] or 'nothing')}")


@app.command("delete")
@verb
def delete(
    names: Annotated[list[str], typer.Argument(help="Ids of records.", metavar="RECORD...")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete records and their files."""
    import sys

    store = _store()
    found = [store.get(name) for name in names]
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("deleting needs a yes", hint="add --yes")
        typer.confirm(f"delete {', '.join(record.id for record in found)}?", abort=True)
    for record in found:
        store.delete(record)
    if as_json:
        print_json({"deleted": [record.id for record in found]})
    else:
        print(f"deleted {', '.join(record.id for record in found)}")


@app.command("export")
@verb
def export(
    name: RecordName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Zip file to write.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a record, its files and its manifests into one zip file, signed; `mlmodelscope pull` takes it in."""
    store = _store()
    record = store.get(name)
    destination = output or Path(f"{record.id}.zip")
    from mlmodelscope.hub.keys import Keyring, can_sign
    from mlmodelscope.hub.pack import pack

    pack(record, store, destination, Keyring(settings(False).home).own() if can_sign() else None)
    print_json({"exported": str(destination)}) if as_json else print(f"wrote {destination}")


@app.command("pin")
@verb
def pin(
    names: Annotated[list[str], typer.Argument(help="Ids of records.", metavar="RECORD...")],
    off: Annotated[bool, typer.Option("--off", help="No longer.")] = False,
    as_json: AsJson = False,
) -> None:
    """Have records stay, whatever `gc` and a server's policy of retention say."""
    from mlmodelscope.cli.server_choice import remote

    there = remote()
    if there is not None:
        found = [there.client.post(f"/records/{name}/pin", {"pinned": not off})["record"] for name in names]
    else:
        import getpass

        from mlmodelscope.record import pins

        store = _store()
        found = [store.get(name).id for name in names]
        for record in found:
            pins.unpin(store.database, record) if off else pins.pin(store.database, record, getpass.getuser())
    if as_json:
        print_json({"records": found, "pinned": not off})
    else:
        print(f"{', '.join(found)} {'may go again' if off else 'stay'}")


def _show_origin(store: Store, record: str) -> None:
    """Who signed a record that was made elsewhere."""
    from mlmodelscope.cli.server_choice import remote

    there = remote()
    if there is not None:
        found = there.client.get(f"/records/{record}/origin")
        source, signers = found["source"], [each["name"] or f"{each['key']} (unknown)" for each in found["signers"]]
    else:
        from mlmodelscope.hub.keys import Keyring
        from mlmodelscope.hub.origin import origin_of

        origin = origin_of(store.database, record)
        if origin is None:
            return
        known = Keyring(store.home).known()
        source, signers = origin.source, [known.get(key, f"{key} (unknown)") for key in origin.signatures]
    if source is not None:
        print(f"\nfrom {source}, {'signed by ' + ', '.join(signers) if signers else 'not signed'}")
