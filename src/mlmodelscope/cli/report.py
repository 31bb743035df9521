"""`report`: a record made readable."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.choices import RecordName
from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import StoreError


class Format(StrEnum):
    html = "html"
    md = "md"
    json = "json"
    csv = "csv"
    lm_eval = "lm-eval"
    lm_eval_samples = "lm-eval-samples"
    inspect = "inspect"


_ENDINGS = {"lm-eval": ".lm-eval.json", "lm-eval-samples": ".lm-eval.jsonl", "inspect": ".inspect.json"}
"""Of the forms of other tools, which are JSON."""


@verb
def report(
    name: RecordName = "latest",
    form: Annotated[
        Format | None,
        typer.Option("--format", help="What to write; by default what the file's name ends with, or html."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; - for standard output.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of a record: one self-contained file."""
    destination = write(name, (form or _form_of(output)).value, output)
    if as_json:
        print_json({"report": str(destination) if destination else None})
    elif destination is not None:
        print(f"wrote {destination}")
    if show and destination is not None:
        typer.launch(destination.absolute().as_uri())


def _form_of(output: Path | None) -> Format:
    """As the file's name says."""
    ending = output.suffix.lower().lstrip(".") if output is not None else ""
    return {each.value: each for each in Format}.get({"htm": "html", "markdown": "md"}.get(ending, ending), Format.html)


def write(name: str, form: str, output: Path | None) -> Path | None:
    """Write a report; where to, or nothing when it went to standard output."""
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.provision.artifact import ArtifactStore
    from mlmodelscope.report.report import write_report

    found = settings(offline=True)  # pictures are shown where they are at hand, never fetched for it
    store = open_store(found)
    record = store.get(name)
    text = write_report(record, store, ArtifactStore(found), form)
    if str(output) == "-":
        sys.stdout.write(text)
        return None
    destination = output or Path(f"{record.id}{_ENDINGS.get(form, f'.{form}')}")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {destination}: {error.strerror}") from None
    return destination
