"""`datasets`: which datasets are there?"""

from __future__ import annotations

from typing import Annotated

import typer

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, verb


@verb
def datasets(
    name: Annotated[str | None, typer.Argument(help="Show this one in full.")] = None, as_json: AsJson = False
) -> None:
    """List the datasets of the catalogue, or show one."""
    from mlmodelscope.cli.manifest_tables import show_catalogue, show_manifest
    from mlmodelscope.manifest.catalog import find_dataset
    from mlmodelscope.manifest.schema import DatasetManifest

    if name is not None:
        there = remote()
        show_manifest(find_dataset(name) if there is None else there.shelf.find(DatasetManifest, name), as_json)
        return
    show_catalogue(
        "datasets",
        ("task", "samples", "licence"),
        lambda manifest: (manifest.task, str(manifest.size or ""), manifest.licence or ""),
        as_json,
    )
