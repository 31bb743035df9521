"""A file that a plan names: its address, and its digest from the manifest or from a pin."""

from __future__ import annotations

from collections.abc import Mapping

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.reference import shown_reference
from mlmodelscope.plan.plan import PlannedFile
from mlmodelscope.types import Checksum

Pins = Mapping[str, str]
"""sha256 of each reference whose manifest does not give it."""


def plan_file(url: str, checksum: str | None, pins: Pins) -> PlannedFile:
    parsed = Checksum.parse(checksum) if checksum else None
    digest = parsed.hex if parsed and parsed.algorithm == "sha256" else pins.get(url)
    if digest is None:
        raise PlanError(
            f"the digest of {shown_reference(url)} is not known: fetch it first, or write its sha256 into the manifest"
        )
    return PlannedFile(sha256=digest, url=url)


def plan_optional_file(url: str | None, checksum: str | None, pins: Pins) -> PlannedFile | None:
    return plan_file(url, checksum, pins) if url else None
