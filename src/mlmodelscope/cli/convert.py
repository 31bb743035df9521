"""`convert`: an old manifest in the current format."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.server_choice import text_of
from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ManifestError, MLModelScopeError, Problem, StoreError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.lint.files import Named
    from mlmodelscope.manifest.schema import Manifest


@dataclass
class _Done:
    """What became of one file."""

    result: dict[str, Any]
    notes: list[str] = field(default_factory=list)


@verb
def convert(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Manifests of any dialect: files, folders, globs such as 'old/**/*.yml', or - for standard input.",
            metavar="PATH...",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; for several a folder, made where there is none."),
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the files.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say beside each implied value why it is there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    as_json: AsJson = False,
) -> int:
    """Upgrade manifests of any dialect to the current format; comments are kept where they have a place.

    A folder is searched for manifests, and its subfolders are kept. A file that cannot be converted stops no other;
    the exit code is 1 if there was one.
    """
    from mlmodelscope.lint.files import find_files

    if in_place and output is not None:
        raise UsageError("--in-place and --output exclude each other")
    named = [each for each in find_files(paths) if each.explicit or not _is_inside(each.name, output)]
    alone = len(named) == 1 and named[0].explicit
    if not alone and not in_place and (output is None or output.is_file()):
        raise UsageError("several manifests need --in-place, or a folder as --output")
    destinations = [_destination(each, output, in_place, alone) for each in named]
    twice = next((place for place in destinations if place is not None and destinations.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"several of these would be written to {twice}")
    results, skipped = [], 0
    for each, destination in zip(named, destinations, strict=True):
        try:
            done = _convert(each, destination, explain, force or in_place, alone)
        except MLModelScopeError as error:
            if alone and not isinstance(error, ManifestError):
                raise
            results.append({"file": each.name, "error": str(error)})
            where = "" if isinstance(error, ManifestError) else f"{each.name}: "  # a problem has its place already
            print(f"error: {where}{error}", file=sys.stderr)
            continue
        if done is None:
            skipped += 1
            continue
        results.append(done.result)
        if not as_json:
            _tell(done, destination)
    failed = sum("error" in each for each in results)
    if as_json:
        print_json(results)
    elif not alone:
        others = f", {skipped} other YAML files skipped" if skipped else ""
        print(f"{len(results) - failed} converted, {failed} failed{others}")
    return int(failed > 0)


def _convert(named: Named, destination: Path | None, explain: bool, force: bool, alone: bool) -> _Done | None:
    """One file; nothing where it was only found and is no manifest."""
    from mlmodelscope.lint.files import is_manifest_text
    from mlmodelscope.manifest.convert import convert_document, unclear
    from mlmodelscope.manifest.load import parse_document
    from mlmodelscope.manifest.source import read_bytes

    name = named.name
    raw = sys.stdin.buffer.read() if name == "-" else text_of(name) or read_bytes(Path(name))
    folder = Path.cwd() if name == "-" else Path(name).absolute().parent
    if not named.explicit and not is_manifest_text(raw, name):
        return None
    document = parse_document(raw, "<stdin>" if name == "-" else name, folder)
    text = convert_document(document, explain=explain)
    meant = document.manifest()  # first: its problems are in the file, with the file's lines
    if parse_document(text, document.file, folder).manifest().digest != meant.digest:
        raise ManifestError(Problem("its conversion would not mean the same", file=name))
    dialect = document.dialect.name if document.dialect else "today"
    notes = [f"{note.message} (line {note.place[0]})" for note in unclear(document)]
    if destination is not None and _is_torn_away(text, meant, folder, destination):
        notes.append(f"it names files beside {name} by relative paths, which lead elsewhere from {destination}")
    result = {"file": name, "kind": document.kind, "dialect": dialect, "notes": notes, "text": text}
    if destination is not None:
        _write(destination, text, force, make_folder=not alone)
        result["written"] = str(destination)
    return _Done(result, notes)


def _tell(done: _Done, destination: Path | None) -> None:
    name = done.result["file"]
    if destination is None:
        sys.stdout.write(done.result["text"])
    else:
        print(f"{name}: {done.result['dialect']} → {destination}")
    for note in done.notes:
        print(f"note: {name}: {note}", file=sys.stderr)


def _is_inside(name: str, folder: Path | None) -> bool:
    """Whether a file lies where conversions go: a second run does not convert the first one's."""
    return folder is not None and Path(name).absolute().is_relative_to(folder.absolute())


def _destination(named: Named, output: Path | None, in_place: bool, alone: bool) -> Path | None:
    """Where a conversion goes; nowhere is standard output."""
    name = named.name
    if in_place:
        return None if name == "-" else Path(name)
    if output is not None and (output.is_dir() or not alone):
        if name == "-":
            raise UsageError("standard input has no name: --output must be a file")
        return output / (named.inside or Path(name).name)
    return output


def _is_torn_away(text: str, meant: Manifest, folder: Path, destination: Path) -> bool:
    """Whether files that the manifest names would not be found from where it is written."""
    from mlmodelscope.manifest.load import parse_document

    there = destination.absolute().parent
    return there != folder and parse_document(text, "", there).manifest().model_dump() != meant.model_dump()


def _write(destination: Path, text: str, force: bool, make_folder: bool) -> None:
    if destination.exists() and not force:
        raise UsageError(f"{destination} is there already", hint="--force overwrites it")
    target = destination.resolve()  # a link stays a link
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
