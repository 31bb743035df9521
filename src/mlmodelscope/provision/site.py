"""Everything a plan needs, here: files in place, an interpreter to run in, and how wide to run."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import Plan, PlannedFile
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import available_cores
from mlmodelscope.provision.stack.venv import VenvStore


@dataclass(frozen=True)
class Site:
    """Where a plan runs. None of this changes an answer."""

    python: str
    model_files: dict[str, str]
    lanes: int
    """Batches predicted side by side."""
    threads: int
    """Threads of the worker that prepare samples and predict batches."""
    other_files: dict[str, str] = field(default_factory=dict)
    """Files that a manifest's functions may want beside the model."""
    features: tuple[str, ...] = ()
    """Names of the model's classes, for those functions."""
    folder: str | None = None
    """Where a training puts what it makes."""

    @property
    def batches_under_way(self) -> int:
        """Enough that no thread waits for the host, few enough that an accident does not cost much."""
        return 16 * self.lanes


def provision(plan: Plan, artifacts: ArtifactStore) -> Site:
    """Fetch and verify the model, and decide how wide to run on this machine."""
    cores = available_cores()
    threads = int(plan.predictor.options.get("threads", 1))
    names = plan.output.names if plan.functions else None
    labels = artifacts.fetch(names.url, f"sha256:{names.sha256}").path if names else None
    return Site(
        python=_python(plan, artifacts),
        model_files=provision_model(plan, artifacts),
        lanes=max(1, cores // threads),
        threads=cores,
        other_files={"features": str(labels)} if labels else {},
    )


def _python(plan: Plan, artifacts: ArtifactStore) -> str:
    """The interpreter of the plan's stack, which is built again where it is gone."""
    if plan.stack.recipe is None:
        return sys.executable
    return VenvStore(artifacts.settings).build(plan.stack.recipe, plan.stack.name).python


def provision_model(plan: Plan, artifacts: ArtifactStore) -> dict[str, str]:
    """The model's files by role. A weight-free ONNX graph and its weights are joined into one file."""
    model = plan.model
    if model.graph is None:
        return {}
    graph = _fetch(model.graph, artifacts)
    if model.weights is None:
        return {"graph": str(graph)}
    weights = _fetch(model.weights, artifacts)
    if plan.predictor.name != "onnxruntime":
        return {"graph": str(graph), "weights": str(weights)}
    key = model.weights_key or ""
    name = hashlib.sha256(f"join:1:{model.graph.sha256}:{model.weights.sha256}:{key}".encode()).hexdigest()
    joined = artifacts.derive(f"join:{name}", lambda draft: _join(graph, weights, model.weights_key, draft))
    return {"graph": str(joined)}


def _fetch(file: PlannedFile, artifacts: ArtifactStore) -> Path:
    found = artifacts.fetch(file.url, f"sha256:{file.sha256}")
    return artifacts.named(found, parse_reference(file.url).name)


def _join(graph: Path, weights: Path, key: str | None, draft: Path) -> None:
    from mlmodelscope.provision.weights.join_onnx import join_weights
    from mlmodelscope.provision.weights.read import read_tensors

    join_weights(graph, read_tensors(weights, key), draft)
