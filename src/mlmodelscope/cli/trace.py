"""`trace`: the timeline of a record, shown or written out."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import RecordName
from mlmodelscope.cli.help import HelpGroup
from mlmodelscope.cli.terminal import AsJson, Offline, print_facts, print_json, settings, verb
from mlmodelscope.errors import OfflineError, StoreError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.settings import Settings
    from mlmodelscope.trace.span import Trace


class Commands(HelpGroup):
    default = "show"
    """`trace latest` shows it."""


app = typer.Typer(help="Show a record's timeline, or write it for another program.", no_args_is_help=True)

TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the trace here; the name's end says how: .html, .json (Chrome, Perfetto), .speedscope.json, "
        ".folded, .csv, .otlp.json, .txt.",
    ),
]


class Form(StrEnum):
    html = "html"
    perfetto = "perfetto"
    speedscope = "speedscope"
    folded = "folded"
    csv = "csv"
    otlp = "otlp"
    text = "text"


_ENDS = {
    Form.html: ".html",
    Form.perfetto: ".json",
    Form.speedscope: ".speedscope.json",
    Form.folded: ".folded",
    Form.csv: ".csv",
    Form.otlp: ".otlp.json",
    Form.text: ".txt",
}


@app.command("show")
@verb
def show(
    name: RecordName = "latest",
    level: Annotated[str, typer.Option(help="Down to this level.")] = "framework",
    most: Annotated[int, typer.Option(help="Of many spans side by side, show only so many.", min=1)] = 8,
    batches: Annotated[int, typer.Option(help="Batches to show, those nearest to the median.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Show a record's timeline as a tree, after a summary of it."""
    from mlmodelscope.trace.span import LEVELS
    from mlmodelscope.trace.text import lines, some_batches, summary

    if level not in LEVELS:
        raise UsageError(f"there is no level `{level}`\nknown: {', '.join(LEVELS[1:])}")
    _, trace = _load(name)
    if as_json:
        from dataclasses import asdict

        print_json({"trace": trace.id, "resource": trace.resource, "spans": [asdict(span) for span in trace.spans]})
        return
    print_facts(list(summary(trace)))
    print()
    for line in lines(some_batches(trace, batches), level, most):
        print(line)
    known = len(trace.named("batch", "application"))
    if known > batches:
        print(f"{batches} of {known} batches, nearest to the median; --batches {known} shows all")


@app.command("export")
@verb
def export(
    name: RecordName,
    output: TraceFile = None,
    form: Annotated[
        Form | None, typer.Option("--format", help="Without -o: the form of trace-RECORD; html by default.")
    ] = None,
    otlp: Annotated[
        str | None, typer.Option(help="Send it to this OTLP/HTTP address; `env`: as OTEL_EXPORTER_OTLP_ENDPOINT says.")
    ] = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Write a record's timeline to a file, or send it to a collector."""
    check_name(output)
    if output is not None and form is not None:
        raise UsageError("the name of the file says its form", hint=f"leave out --format {form.value}, or -o {output}")
    record, trace = _load(name)
    if output is None and (form is not None or otlp is None):
        output = Path(f"trace-{record}{_ENDS[form or Form.html]}")
    if output is not None:
        write_file(trace, output)
    if otlp is not None:
        send_to(trace, otlp, settings(offline))
    places = [str(place) for place in (output, otlp) if place is not None]
    print_json({"exported": places}) if as_json else print(f"wrote {', '.join(places)}")


def _load(name: str) -> tuple[str, Trace]:
    """(the record's id, its trace); `latest` is the newest that has one."""
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.trace.store import load_trace

    store = open_store(settings(offline=True))
    try:
        profiles = store.list(kind="profile", status="finished", limit=1) if name == "latest" else []
        record = store.get(profiles[0]["id"] if profiles else name).id
        return record, load_trace(store.folder(record))
    finally:
        store.close()


def check_name(path: Path | None) -> None:
    """Before anything is measured: a file that cannot be written would be known too late."""
    from mlmodelscope.trace.export import form_of

    if path is not None:
        form_of(path.name)


def write_file(trace: Trace, path: Path) -> None:
    from mlmodelscope.trace.export import form_of

    text = form_of(path.name)(trace)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None


def send_to(trace: Trace, address: str, found: Settings) -> None:
    """OTLP over HTTP, as protocol buffers; an address without a path is that of a collector."""
    import os

    from mlmodelscope.provision.send import send
    from mlmodelscope.trace.otlp import messages, receiver_of, rejected

    receiver = receiver_of(address, os.environ)
    if found.offline:
        raise OfflineError("the trace would be sent over the network, which may not be used")
    refused, why = 0, ""
    for message in messages(trace):
        reply = send(receiver.url, message, "application/x-protobuf", receiver.headers, compress=receiver.compress)
        count, reason = rejected(reply.body, reply.content_type)
        refused, why = refused + count, reason or why
    print(f"sent {len(trace.spans)} spans", file=sys.stderr)
    if refused:
        print(f"of these {refused} were rejected{f': {why}' if why else ''}", file=sys.stderr)
    elif why:
        print(f"the receiver says: {why}", file=sys.stderr)
