"""A step as a manifest's schema has it: resolved, whatever form its author wrote it in."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.schema.part import Part


class Step(Part):
    """One operation with every parameter explicit."""

    name: str
    parameters: dict[str, Any]
