"""Manifests by name: the ones that come with the package, and the user's own folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mlmodelscope.errors import ManifestError, Problem, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version

Kind = Literal["models", "datasets"]
_NAME = re.compile(r"^name:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)


@dataclass(frozen=True)
class Catalogued:
    name: str
    path: Path


def catalog_folders() -> list[Path]:
    """Where manifests are looked for; the user's own folders come first."""
    own = [Path(part).expanduser() for part in os.environ.get("MLMODELSCOPE_MANIFESTS", "").split(os.pathsep) if part]
    package = Path(__file__).parent.parent
    # Installed, the manifests lie inside the package; in a checkout, at its top.
    shipped = [package / "_manifests", package.parent.parent / "manifests"]
    return own + [folder for folder in shipped if folder.is_dir()][:1]


def list_catalog(kind: Kind) -> Iterator[Catalogued]:
    """Every manifest of a kind, without reading more of it than its name."""
    for folder in catalog_folders():
        for place in (folder / kind, folder) if not (folder / kind).is_dir() else (folder / kind,):
            for path in sorted(place.glob("*.y*ml")):
                try:
                    match = _NAME.search(path.read_text(encoding="utf-8", errors="replace"))
                except OSError:
                    continue
                if match:
                    yield Catalogued(match[1], path)


def find_model(name: str | Path | ModelManifest) -> ModelManifest:
    """A model manifest by path, name, or `name@constraint`."""
    found = name if isinstance(name, ModelManifest) else _find(str(name), "models")
    if not isinstance(found, ModelManifest):
        raise UsageError(f"{name} is the manifest of a dataset, not of a model")
    return found


def find_dataset(name: str | Path | DatasetManifest) -> DatasetManifest:
    """A dataset manifest by path, name, or `name@constraint`."""
    found = name if isinstance(name, DatasetManifest) else _find(str(name), "datasets")
    if not isinstance(found, DatasetManifest):
        raise UsageError(f"{name} is the manifest of a model, not of a dataset")
    return found


def _find(name: str, kind: Kind) -> ModelManifest | DatasetManifest:
    if name.endswith((".yml", ".yaml")) or os.sep in name:
        if not Path(name).exists():
            raise ManifestError(Problem("there is no such file", file=name))
        return load_manifest(name)
    wanted, _, constraint_text = name.partition("@")
    constraint = Constraint(constraint_text or "*")
    entries = list(list_catalog(kind))
    candidates = [load_manifest(entry.path) for entry in entries if entry.name == wanted]
    matching = [
        manifest for manifest in candidates if constraint.matches(Version(manifest.version), allow_prerelease=True)
    ]
    if matching:
        return max(matching, key=lambda manifest: Version(manifest.version))
    if candidates:
        versions = ", ".join(manifest.version for manifest in candidates)
        raise UsageError(f"no version of {wanted} satisfies {constraint}; there is {versions}")
    known = sorted({entry.name for entry in entries})
    raise UsageError(
        f"there is no {kind[:-1]} `{wanted}`\nknown: {', '.join(known)}",
        hint=nearest(wanted, known) or "a path to a manifest file will do as well",
    )
