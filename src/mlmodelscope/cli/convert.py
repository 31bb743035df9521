"""`convert`: an old manifest in today's form."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.server_choice import text_of
from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ManifestError, Problem, StoreError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.manifest.schema import Manifest


@verb
def convert(
    paths: Annotated[
        list[str], typer.Argument(help="Manifests of any dialect; - for standard input.", metavar="PATH...")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, or a folder for several.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the files.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say beside each implied value why it is there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    as_json: AsJson = False,
) -> int:
    """Write manifests of any dialect in today's form; comments are kept where they have a place."""
    from mlmodelscope.manifest.convert import convert_document, unclear
    from mlmodelscope.manifest.load import parse_document
    from mlmodelscope.manifest.source import read_bytes

    if in_place and output is not None:
        raise UsageError("--in-place and --output exclude each other")
    if len(paths) > 1 and not in_place and (output is None or not output.is_dir()):
        raise UsageError("several manifests need --in-place, or a folder as --output")
    destinations = [_destination(name, output, in_place) for name in paths]
    twice = next((place for place in destinations if place is not None and destinations.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"several of these would be written to {twice}")
    results: list[dict[str, Any]] = []
    failed = 0
    for name, destination in zip(paths, destinations, strict=True):
        try:
            raw = sys.stdin.buffer.read() if name == "-" else text_of(name) or read_bytes(Path(name))
            folder = Path.cwd() if name == "-" else Path(name).absolute().parent
            document = parse_document(raw, "<stdin>" if name == "-" else name, folder)
            text = convert_document(document, explain=explain)
            meant = document.manifest()  # first: its problems are in the file, with the file's lines
            if parse_document(text, document.file, folder).manifest().digest != meant.digest:
                raise ManifestError(Problem("its conversion would not mean the same", file=name))
        except ManifestError as error:
            failed += 1
            results.append({"file": name, "error": str(error)})
            print(f"error: {error}", file=sys.stderr)
            continue
        dialect = document.dialect.name if document.dialect else "today"
        notes = [f"{note.message} (line {note.place[0]})" for note in unclear(document)]
        if destination is not None and _is_torn_away(text, meant, folder, destination):
            notes.append(f"it names files beside {name} by relative paths, which lead elsewhere from {destination}")
        results.append({"file": name, "kind": document.kind, "dialect": dialect, "notes": notes, "text": text})
        if destination is not None:
            _write(destination, text, force or in_place)
            results[-1]["written"] = str(destination)
        if as_json:
            continue
        if destination is None:
            sys.stdout.write(text)
        else:
            print(f"{name}: {dialect} → {destination}")
        for note in notes:
            print(f"note: {name}: {note}", file=sys.stderr)
    if as_json:
        print_json(results)
    return int(failed > 0)


def _destination(name: str, output: Path | None, in_place: bool) -> Path | None:
    """Where a conversion goes; nowhere is standard output."""
    if in_place:
        return None if name == "-" else Path(name)
    if output is not None and output.is_dir():
        if name == "-":
            raise UsageError("standard input has no name: --output must be a file")
        return output / Path(name).name
    return output


def _is_torn_away(text: str, meant: Manifest, folder: Path, destination: Path) -> bool:
    """Whether files that the manifest names would not be found from where it is written."""
    from mlmodelscope.manifest.load import parse_document

    there = destination.absolute().parent
    return there != folder and parse_document(text, "", there).manifest().model_dump() != meant.model_dump()


def _write(destination: Path, text: str, force: bool) -> None:
    if destination.exists() and not force:
        raise UsageError(f"{destination} is there already", hint="--force overwrites it")
    target = destination.resolve()  # a link stays a link
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
