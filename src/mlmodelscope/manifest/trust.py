"""What code a manifest would run, and the digest by which a user trusts exactly that code and no other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, Manifest, ModelManifest


@dataclass(frozen=True)
class Carried:
    """Code in a manifest."""

    stage: str
    code: str
    language: str
    line: int


def code_of(manifest: Manifest) -> list[Carried]:
    """Every piece of code that using this manifest would execute."""
    if isinstance(manifest, (ModelManifest, DatasetManifest)):
        return [Carried(stage, each.code, "Python", each.line) for stage, each in manifest.functions.items()]
    if isinstance(manifest, HardwareManifest) and manifest.setup:
        return [Carried("setup", manifest.setup, "shell", 0)]
    return []


def code_digest(manifest: Manifest) -> str | None:
    """Digest of the code alone: whatever else changes in the manifest, trusted code stays trusted."""
    carried = [[each.stage, each.language, each.code] for each in code_of(manifest)]
    return hashlib.sha256(json.dumps(carried).encode()).hexdigest() if carried else None
