"""Lists of manifests, and one in full."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import console, print_json
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.catalog import list_catalog
from mlmodelscope.manifest.folders import Kind
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import KINDS, Manifest


def show_catalogue(
    kind: Kind, columns: tuple[str, ...], describe: Callable[[Any], tuple[str, ...]], as_json: bool
) -> None:
    from rich.table import Table

    there = remote()
    manifests = _here(kind) if there is None else there.shelf.all(kind.removesuffix("s"))
    if as_json:
        print_json([manifest.model_dump(mode="json") for manifest in manifests])
        return
    table = Table(box=None, pad_edge=False)
    for column in ("name", "version", *columns):
        table.add_column(column, overflow="fold")
    for manifest in manifests:
        table.add_row(manifest.name, manifest.version, *describe(manifest))
    console().print(table)


def _here(kind: Kind) -> list[Manifest]:
    manifests: list[Manifest] = []
    for entry in list_catalog(kind):
        try:
            manifest = load_manifest(entry.path)
            if isinstance(manifest, KINDS[kind.removesuffix("s")]):  # a folder may hold several kinds
                manifests.append(manifest)
        except ManifestError as error:
            # One broken file of the user's must not hide the others.
            print(f"left out: {error.problems[0]}\n", file=sys.stderr)
    return manifests


def print_written(manifest: Manifest) -> None:
    """A manifest as its author wrote it; one that is made of a source's facts as a person would write it."""
    from mlmodelscope.manifest.write import write_manifest

    there = remote()
    kind = next(name for name, schema in KINDS.items() if isinstance(manifest, schema))
    if there is not None:
        text = there.shelf.text(kind, manifest.name, manifest.version)
    elif os.path.isfile(manifest.file):
        text = Path(manifest.file).read_text(encoding="utf-8")
    else:
        text = write_manifest(manifest.model_dump(mode="json", exclude_none=True, exclude_defaults=True), kind)
    print(text.rstrip("\n"))
