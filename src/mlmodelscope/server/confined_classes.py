"""How many classes a model and a dataset have, by files that are on this server: read, and never fetched for it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.server.confined_work import read_settings

Reference = tuple[str | None, str | None]
"""A file as a manifest names it, and its checksum."""
_LARGEST_GRAPH = 256 << 20
_LARGEST_LIST = 16 << 20
_MOST_NAMES = 100_000


def known_classes(
    names: Reference, classes: Reference, graph: Reference, layer: str | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """What the model's list, the dataset's list and the model file tell; empty where a file is not here."""
    artifacts = ArtifactStore(replace(read_settings(settings), offline=True))
    return {
        "outputs": _outputs(artifacts, *graph, layer),
        "names": _listed(artifacts, *names),
        "classes": _listed(artifacts, *classes),
    }


def _listed(artifacts: ArtifactStore, url: str | None, checksum: str | None) -> list[str]:
    with contextlib.suppress(MLModelScopeError, OSError):  # whoever needs the list says what is wrong with it
        if url is not None:
            path = artifacts.fetch(url, checksum).path
            found = read_classes(path) if path.is_file() and path.stat().st_size <= _LARGEST_LIST else []
            return found if len(found) <= _MOST_NAMES else []
    return []


def _outputs(artifacts: ArtifactStore, url: str | None, checksum: str | None, layer: str | None) -> int | None:
    """How many numbers the model answers for a sample, where its file gives them a shape."""
    with contextlib.suppress(MLModelScopeError, OSError):
        if url is not None:
            path = artifacts.fetch(url, checksum).path
            if path.is_file() and path.stat().st_size <= _LARGEST_GRAPH:
                return _width(describe_model(path).outputs, layer)
    return None


def _width(outputs: tuple[TensorInfo, ...], layer: str | None) -> int | None:
    named = [each for each in outputs if layer is not None and each.name.partition(":")[0] == layer.partition(":")[0]]
    found = (named or list(outputs))[:1]
    shape = found[0].shape if found else None
    if shape is None or len(shape) != 2 or shape[1] is None or shape[1] <= 1:
        return None  # one number is a score of two classes, and more axes are no list of classes
    return shape[1]
