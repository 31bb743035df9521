"""`catalog`: sources of models and claims, added, listed, updated and removed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, Offline, print_json, print_table, settings, verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlmodelscope.catalog.kept import Changes, Read

app = typer.Typer(help="Sources of models and claims: libraries, repositories, hubs, folders.", no_args_is_help=True)
_SHOWN = 20

Form = Annotated[str | None, typer.Option("--form", help="How it is written; by default its files tell.")]


@app.command("list")
@verb
def list_sources(as_json: AsJson = False) -> None:
    """List the sources: those that ship with the package, then your own."""
    from dataclasses import asdict

    from mlmodelscope.catalog.facts import SHIPPED, open_facts
    from mlmodelscope.catalog.kept import own_facts

    found = [(source, "ships") for source in open_facts(SHIPPED).sources]
    found += [(source, "added") for facts in own_facts(settings(False)) for source in facts.sources]
    if as_json:
        print_json([{**asdict(source), "is_shipped": whose == "ships"} for source, whose in found])
        return
    rows = [
        (
            *(source.label, source.form, f"{source.models:,}", f"{source.claims:,}"),
            *(f"{sum(source.left_out.values()):,}", whose, source.version, source.origin),
        )
        for source, whose in found
    ]
    titles = ("source", "form", "models", "claims", "left out", "whose", "version", "origin")
    print_table(titles, rows, (False, False, True, True, True, False, False, False))


@app.command("add")
@verb
def add(
    label: Annotated[str, typer.Argument(help="What stands before the colon of its models' names.")],
    origin: Annotated[str, typer.Argument(help="A folder, file, archive, package or Git repository.")],
    form: Form = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Read a source as data and keep its facts."""
    from mlmodelscope.catalog.kept import add_source

    _report(add_source(settings(offline), label, origin, form), as_json)


@app.command("update")
@verb
def update(
    label: Annotated[str, typer.Argument(help="A source that you have added.")],
    trial: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; keep the facts as they are.")
    ] = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Read a source again, and show what came, went and changed."""
    from mlmodelscope.catalog.kept import update_source

    read, changes = update_source(settings(offline), label, trial)
    _report(read, as_json, changes)


@app.command("remove")
@verb
def remove(label: Annotated[str, typer.Argument(help="A source that you have added.")]) -> None:
    """Forget a source; manifests that were written to files stay."""
    from mlmodelscope.catalog.kept import remove_source

    remove_source(settings(False), label)
    print(f"{label} is removed")


def _report(read: Read, as_json: bool, changes: Changes | None = None) -> None:
    from dataclasses import asdict

    if as_json:
        body = {**asdict(read.source), "examples": dict(read.examples)}
        print_json({**body, "changes": asdict(changes)} if changes is not None else body)
        return
    source = read.source
    print(f"{source.label}: {source.models:,} models, {source.claims:,} claims ({source.form}, {source.version})")
    if changes is not None:
        _show_changes(changes)
    _show_left_out(source.left_out, read.examples)


def _show_changes(changes: Changes) -> None:
    if changes.is_empty:
        print("nothing has changed")
    for word, names in (("came", changes.came), ("went", changes.went), ("changed", changes.changed)):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            print(f"{len(names)} {word}: {', '.join(names[:_SHOWN])}{more}")


def _show_left_out(left_out: Mapping[str, int], examples: Mapping[str, str]) -> None:
    for reason, count in left_out.items():
        print(f"left out {count:,} times: {reason}, such as {examples.get(reason, '')}", file=sys.stderr)
