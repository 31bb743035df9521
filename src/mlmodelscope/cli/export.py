"""`export`: what a library builds, as an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import StoreError, UsageError


@verb
def export(
    model: Annotated[str, typer.Argument(help="Manifest of a model with a `builder`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="ONNX file to write; its manifest is written beside it.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Use only what is cached.")] = False,
    as_json: AsJson = False,
) -> None:
    """Export a model that a library builds to ONNX, compared with the library's own answers."""
    from mlmodelscope.exporting import export_model
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import ModelManifest

    manifest = output.with_suffix(".yml")
    if output.suffix != ".onnx":
        raise UsageError(f"{output} does not end with .onnx")
    for path in (output, manifest):
        if path.exists() and not force:
            raise UsageError(f"{path} is there already", hint="--force overwrites it")
    if not output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {output.absolute().parent}")

    def tell(line: str) -> None:
        if not as_json:
            print(line)

    found = export_model(find_manifest(ModelManifest, model), output, settings(offline), tell)
    try:
        manifest.write_text(found.manifest, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {manifest}: {error.strerror or error}") from None
    if as_json:
        body = {"file": str(output), "manifest": str(manifest), "difference": found.difference}
        print_json({**body, "exporter": found.exporter})
        return
    words = f"answers differ from the library's by at most {found.difference:.2g}"
    print(f"{output} and {manifest}: {words} ({found.exporter})")
