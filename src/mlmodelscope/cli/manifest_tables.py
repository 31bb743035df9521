"""Lists of manifests, and one in full."""

from __future__ import annotations

import sys
from collections.abc import Callable
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


def show_manifest(manifest: Manifest, as_json: bool) -> None:
    """One manifest with everything made explicit."""
    if as_json:
        print_json(manifest.model_dump(mode="json"))
        return
    import yaml

    explicit = manifest.model_dump(mode="json", exclude_none=True)
    print(yaml.safe_dump(explicit, sort_keys=False, allow_unicode=True, width=120), end="")
