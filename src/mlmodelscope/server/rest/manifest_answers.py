"""Manifests as the API answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

ManifestKind = Literal["model", "dataset", "software", "hardware", "log"]


class ManifestSummary(Answer):
    model_config = example(
        kind="model",
        name="resnet50",
        version="1.0.0",
        digest="0" * 64,
        owner=None,
        shipped=True,
        created_at=None,
        description="Deep residual network with 50 layers.",
        task="classification",
        framework="onnxruntime",
    )
    kind: ManifestKind
    name: str
    version: str
    digest: Annotated[str, Field(description="sha256 of what it says.")]
    owner: Annotated[str | None, Field(description="Who put it here; nobody where it comes with the package.")]
    shipped: Annotated[bool, Field(description="Whether it comes with the package or from the server's own folders.")]
    created_at: datetime | None
    description: str | None = None
    task: str | None = None
    framework: str | None = None


class Manifest(ManifestSummary):
    text: Annotated[str, Field(description="As its author wrote it.")]
    manifest: Annotated[dict[str, Any], Field(description="As it is understood; see `mlmodelscope schema`.")]


class ManifestList(Answer):
    items: list[ManifestSummary]
