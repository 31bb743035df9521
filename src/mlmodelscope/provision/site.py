"""Everything a plan needs, here: files in place, an interpreter to run in, and how wide to run."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import Plan, PlannedBuilder, PlannedFile, PlannedModel
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import available_cores
from mlmodelscope.provision.stack.current import CurrentStack
from mlmodelscope.provision.stack.provisioner import Runnable
from mlmodelscope.provision.stack.store import StackStore


@dataclass(frozen=True)
class Site:
    """Where a plan runs. None of this changes an answer."""

    stack: Runnable
    """What the worker is started in."""
    model_files: dict[str, str]
    lanes: int
    """Batches predicted side by side."""
    threads: int
    """Threads of the worker that prepare samples and predict batches."""
    step_files: dict[str, str] = field(default_factory=dict)
    """What steps need, by the name that the plan has for it."""
    other_files: dict[str, str] = field(default_factory=dict)
    """Files that a manifest's functions may want beside the model."""
    folder: str | None = None
    """Where a training puts what it makes."""
    reads: tuple[Path, ...] = ()
    """Files and folders that the worker reads, for stacks that see nothing by themselves."""

    @property
    def batches_under_way(self) -> int:
        """Enough that no thread waits for the host, few enough that an accident does not cost much."""
        return 16 * self.lanes


def provision(plan: Plan, artifacts: ArtifactStore) -> Site:
    """Fetch and verify the model, and decide how wide to run on this machine."""
    cores = available_cores()
    threads = int(plan.predictor.options.get("threads", 1))
    names = plan.answer.names if plan.functions else None
    labels = artifacts.fetch(names.url, f"sha256:{names.sha256}").path if names else None
    model_files = provision_model(plan, artifacts)
    other_files = {"features": str(labels)} if labels else {}
    step_files = {
        name: str(_fetch(file, artifacts)) for name, file in {**plan.dataset.files, **plan.model.files}.items()
    }
    is_closed = plan.stack.is_closed or artifacts.settings.public_only
    own = (*model_files.values(), *step_files.values(), *other_files.values())
    return Site(
        stack=_stack(plan, artifacts),
        model_files=model_files,
        lanes=max(1, cores // threads),
        threads=cores,
        step_files=step_files,
        other_files=other_files,
        reads=_reads(plan, artifacts, own) if is_closed else (),
    )


def _stack(plan: Plan, artifacts: ArtifactStore) -> Runnable:
    """The plan's stack, which is built again where it is gone."""
    if plan.stack.recipe is None:
        return CurrentStack()
    return StackStore(artifacts.settings).build(plan.stack.recipe, plan.stack.name)


def _reads(plan: Plan, artifacts: ArtifactStore, own: Iterable[str]) -> tuple[Path, ...]:
    """The plan's own files under the names that they have here, and no other file of the cache."""
    files = [source.files for source in plan.dataset.sources]
    files += [each for each in (plan.model.graph, plan.model.weights, plan.model.firmware) if each is not None]
    paths = [Path(each) for each in own]
    for each in files:
        with contextlib.suppress(ArtifactError):  # whoever reads samples says so; single pictures have no source
            paths.append(artifacts.fetch(each.url, f"sha256:{each.sha256}").path)
    return tuple(dict.fromkeys(each for path in paths for each in (path, Path(os.path.realpath(path)))))


def provision_model(plan: Plan, artifacts: ArtifactStore) -> dict[str, str]:
    """The model's files by role. A weight-free ONNX graph and its weights are joined into one file."""
    model = plan.model
    if model.firmware is not None or plan.predictor.name == "remote":
        roles = {"graph": model.graph, "weights": model.weights, "firmware": model.firmware}
        return {role: str(_fetch(file, artifacts)) for role, file in roles.items() if file is not None}
    return provision_files(model, artifacts)


def provision_files(model: PlannedModel, artifacts: ArtifactStore) -> dict[str, str]:
    """The files of a model that runs here, by role, as its predictor takes them."""
    if model.builder is not None:
        return _provision_built(model, model.builder, artifacts)
    if model.graph is None:
        return {}
    graph = _fetch(model.graph, artifacts)
    if model.weights is None:
        return {"graph": str(graph)}
    weights = _fetch(model.weights, artifacts)
    if graph.suffix != ".onnx":  # frameworks with files of two parts read them themselves
        return {"graph": str(graph), "weights": str(weights)}
    key = model.weights_key or ""
    name = hashlib.sha256(f"join:1:{model.graph.sha256}:{model.weights.sha256}:{key}".encode()).hexdigest()
    joined = artifacts.derive(f"join:{name}", lambda draft: _join(graph, weights, model.weights_key, draft))
    return {"graph": str(joined)}


def _provision_built(model: PlannedModel, builder: PlannedBuilder, artifacts: ArtifactStore) -> dict[str, str]:
    """What a builder needs: which architecture, its weights as one file of tensors alone, and its configuration."""
    from mlmodelscope.provision.weights.for_builder import describe, is_ready, write_tensors

    assert model.weights is not None
    key, text = model.weights_key or "", describe(builder)
    name = hashlib.sha256(text.encode()).hexdigest()
    files = {"build": str(artifacts.derive(f"builder:{name}", lambda draft: _write(draft, text)))}
    weights = _fetch(model.weights, artifacts)
    if not is_ready(weights, model.weights_key):
        name = hashlib.sha256(f"tensors:1:{model.weights.sha256}:{key}".encode()).hexdigest()
        weights = artifacts.derive(f"tensors:{name}", lambda draft: write_tensors(weights, model.weights_key, draft))
    files["weights"] = str(weights)
    if model.graph is not None:
        files["config"] = str(_fetch(model.graph, artifacts))
    return files


def _write(draft: Path, text: str) -> None:
    draft.write_text(text, encoding="utf-8")


def _fetch(file: PlannedFile, artifacts: ArtifactStore) -> Path:
    found = artifacts.fetch(file.url, f"sha256:{file.sha256}")
    return artifacts.named(found, parse_reference(file.url).name)


def _join(graph: Path, weights: Path, key: str | None, draft: Path) -> None:
    from mlmodelscope.provision.weights.join_onnx import join_weights
    from mlmodelscope.tensor_file.read import read_tensors

    join_weights(graph, read_tensors(weights, key), draft)
