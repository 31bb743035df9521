"""`show`: one manifest with everything made explicit, and where each value came from; or the prompt of a sample."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import DatasetName, DeviceName, PredictorOption, SoftwareName, Trust, make_options
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.manifest.load import Document


@verb
def show(
    name: Annotated[str, typer.Argument(help="Path, name, name@constraint, id or digest of a manifest; - for stdin.")],
    dataset: DatasetName = None,
    sample: Annotated[
        str | None,
        typer.Option(
            help="With a language model and a dataset: the exact prompt of this sample, its id or its place from 0.",
            metavar="N",
        ),
    ] = None,
    software: SoftwareName = None,
    device: DeviceName = None,
    option: PredictorOption = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Show a manifest resolved, each value with its origin; or a language model's prompt, with its tokens."""
    if sample is not None:
        options = make_options(1, 1, None, False, 0, 5, option, device)
        _show_prompt(name, dataset, sample, as_json, options=options, software=software, trust=trust, offline=offline)
        return
    if dataset is not None:
        raise UsageError("which sample of the dataset?", hint="add --sample 0; a manifest is shown by its name alone")
    _show_manifest(name, as_json)


def _show_prompt(
    model: str, dataset: str | None, sample: str, as_json: bool, *, offline: bool, **conditions: Any
) -> None:
    from mlmodelscope.cli.prompt_text import prompt_json, prompt_lines
    from mlmodelscope.prompting import prompt_of

    if remote() is not None:
        raise UsageError(
            "a prompt is spelled out on this machine, and not on a server",
            hint="leave --server out; of a record, GET /api/v1/records/RECORD/prompt?sample=ID has the prompt it kept",
        )
    found = prompt_of(model, dataset, sample, settings=settings(offline), **conditions)
    if as_json:
        print_json(prompt_json(found))
        return
    for line in prompt_lines(found):
        print(line)


def _show_manifest(name: str, as_json: bool) -> None:
    from mlmodelscope.manifest.provenance import resolve
    from mlmodelscope.manifest.source import spell_path
    from mlmodelscope.manifest.write import spell_comment, write_manifest

    document = _open(name)
    manifest, explicit, origins = resolve(document)
    dialect = document.dialect.name if document.dialect else "today"
    if as_json:
        body: dict[str, Any] = {
            "file": document.file,
            "kind": document.kind,
            "dialect": dialect,
            "digest": manifest.digest,
            "manifest": explicit,
            "origins": {spell_path(path): origin for path, origin in origins.items()},
            "notes": [{"kind": note.kind, "message": note.message, "line": note.place[0]} for note in document.notes],
        }
        print_json(body)
        return
    written = f"dialect {dialect}: {document.dialect.meaning}" if document.dialect else "current format"
    print(f"# {document.kind} manifest {document.file}, {written}")
    print(f"# sha256:{manifest.digest}")
    print(write_manifest(explicit, document.kind, beside=origins), end="")
    for note in document.notes:
        print(spell_comment(f"# {note.kind}: {note.message} (line {note.place[0]})"))
    if document.kind == "model" and name != "-" and document.file != "<stdin>":
        from mlmodelscope.cli.claims import print_status

        print_status(name)


def _open(name: str) -> Document:
    from mlmodelscope.manifest.load import open_document, parse_document

    there = remote()
    if name == "-":
        return parse_document(sys.stdin.buffer.read(), "<stdin>")
    if name.endswith((".yml", ".yaml")) or os.sep in name or Path(name).is_file():
        return open_document(name)
    return open_document(find_file(name)) if there is None else there.shelf.document_of_any_kind(name)


def find_file(name: str) -> str:
    """The file of a catalogued manifest of any kind."""
    from typing import get_args

    from mlmodelscope.manifest.catalog import find_manifest, list_catalog
    from mlmodelscope.manifest.folders import Kind
    from mlmodelscope.manifest.schema import KINDS
    from mlmodelscope.manifest.suggest import nearest

    for sought in KINDS.values():
        try:
            return find_manifest(sought, name).file
        except UsageError as error:
            if error.message.startswith("no version of"):  # the name is there: that says more than the other kinds
                raise
    known = sorted({entry.name for kind in get_args(Kind) for entry in list_catalog(kind)})
    raise UsageError(
        f"there is no manifest `{name}`\nknown: {', '.join(known)}",
        hint=nearest(name, known) or "a path to a manifest file will do as well",
    )
