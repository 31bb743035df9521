"""`models`: which models are there?"""

from __future__ import annotations

from typing import Annotated

import typer

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, verb


@verb
def models(
    name: Annotated[str | None, typer.Argument(help="Show this one in full.")] = None, as_json: AsJson = False
) -> None:
    """List the models of the catalogue, or show one."""
    from mlmodelscope.cli.catalogue import show_catalogue, show_manifest
    from mlmodelscope.manifest.catalog import find_model
    from mlmodelscope.manifest.schema import ModelManifest

    if name is not None:
        there = remote()
        show_manifest(find_model(name) if there is None else there.shelf.find(ModelManifest, name), as_json)
        return
    show_catalogue(
        "models",
        ("task", "framework", "claims"),
        lambda manifest: (
            manifest.task,
            f"{manifest.framework.name} {manifest.framework.version}" if manifest.framework else "",
            ", ".join(f"{claim.metric} {claim.value} %" for claim in manifest.claims),
        ),
        as_json,
    )
