"""`convert`: an old manifest in today's form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ManifestError, Problem, StoreError, UsageError


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
    results, failed = [], 0
    for name in paths:
        try:
            raw = sys.stdin.buffer.read() if name == "-" else read_bytes(Path(name))
            folder = Path.cwd() if name == "-" else Path(name).absolute().parent
            document = parse_document(raw, "<stdin>" if name == "-" else name, folder)
            text = convert_document(document, explain=explain)
            again = parse_document(text, document.file, folder).manifest()
            if again != document.manifest():
                raise ManifestError(Problem("its conversion would not mean the same", file=name))
        except ManifestError as error:
            failed += 1
            print(f"error: {error}", file=sys.stderr)
            continue
        destination = Path(name) if in_place else output / Path(name).name if output and output.is_dir() else output
        dialect = document.dialect.name if document.dialect else "today"
        notes = [f"{note.message} (line {note.place[0]})" for note in unclear(document)]
        results.append({"file": name, "kind": document.kind, "dialect": dialect, "notes": notes, "text": text})
        if destination is not None and name != "-":
            _write(destination, text, force or in_place)
            results[-1]["written"] = str(destination)
        if as_json:
            continue
        if destination is None or name == "-":
            sys.stdout.write(text)
        else:
            print(f"{name}: {dialect} → {destination}")
        for note in notes:
            print(f"note: {name}: {note}", file=sys.stderr)
    if as_json:
        print_json(results)
    return int(failed > 0)


def _write(destination: Path, text: str, force: bool) -> None:
    if destination.exists() and not force:
        raise UsageError(f"{destination} is there already", hint="--force overwrites it")
    draft = destination.with_name(destination.name + ".draft")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(destination)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
