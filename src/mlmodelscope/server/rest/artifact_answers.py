"""What the API answers about files of people's own."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

_DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


class ArtifactUpload(Answer):
    """How far an upload is."""

    model_config = example(
        digest=_DIGEST,
        size=4,
        name="net.onnx",
        offset=0,
        complete=False,
        reference=f"artifact:sha256:{_DIGEST}/net.onnx",
    )
    digest: Annotated[str, Field(description="Its sha256, as hexadecimal digits.")]
    size: int
    name: str
    offset: Annotated[int, Field(description="Bytes that have arrived: the next piece begins here.")]
    complete: Annotated[bool, Field(description="Whether it is there, and is what was announced.")]
    reference: Annotated[str, Field(description="How a manifest names it.")]


class Artifact(Answer):
    model_config = example(
        digest=_DIGEST,
        size=4,
        name="net.onnx",
        owner="ada",
        created_at="2026-01-01T00:00:00Z",
        reference=f"artifact:sha256:{_DIGEST}/net.onnx",
    )
    digest: str
    size: int
    name: str
    owner: Annotated[str, Field(description="Who has sent it.")]
    created_at: datetime
    reference: Annotated[str, Field(description="How a manifest names it.")]


class ArtifactPage(Answer):
    items: list[Artifact]
    next: Annotated[str | None, Field(description="`after` of the next page; nothing behind the last.")]
