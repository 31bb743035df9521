"""Which files are meant: a model file that is named, or those of a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

_MANIFESTS = (".yml", ".yaml")


@dataclass(frozen=True)
class Files:
    """A model's file, that of its weights where they are apart, and their key in a checkpoint."""

    name: str
    model: Path
    weights: Path | None = None
    key: str | None = None


def files_of(text: str, settings: Settings) -> Files:
    """Of a path, or of a manifest by path or name; what a manifest names by address is fetched and verified."""
    path = Path(text)
    if path.exists() and path.suffix.lower() not in _MANIFESTS:
        return Files(path.name or text, path)
    manifest = find_manifest(ModelManifest, text)
    source = manifest.source
    if source is None or not (source.graph_path or source.weights_path):
        raise UsageError(
            f"{text} names no file of a model", hint="inspect reads files; what a library or a function builds has none"
        )
    store = ArtifactStore(settings)
    graph = _fetch(source.graph_path, source.graph_checksum, store) if source.builder is None else None
    weights = _fetch(source.weights_path, source.weights_checksum, store)
    model = graph or weights
    assert model is not None
    return Files(
        f"{manifest.name}@{manifest.version}", model, weights if graph is not None else None, source.weights_key
    )


def _fetch(reference: str | None, checksum: str | None, store: ArtifactStore) -> Path | None:
    if reference is None:
        return None
    return store.named(store.fetch(reference, checksum), parse_reference(reference).name)
