"""A file that a manifest's steps name."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mlmodelscope.manifest.schema.part import ChecksumText, Part, Reference


class StepFile(Part):
    """A file that steps need, such as a tokenizer's vocabulary."""

    url: Annotated[Reference, Field(description="The file.")]
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of it.")] = None
