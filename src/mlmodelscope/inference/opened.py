"""A model of the catalogue, opened for whoever brings tensors: the same plan as for an evaluation, less its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlmodelscope.errors import WorkerError
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.tensors import Tensor
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.manifest.schema import DatasetManifest, DatasetSource, ModelManifest
from mlmodelscope.manifest.schema.model import Input, Output
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import WorkerDied

_NO_DATA = DatasetManifest(
    name="tensors",
    version="1.0.0",
    task="general",
    format="list",
    sources=(DatasetSource(url="tensors", checksum="sha256:" + "0" * 64),),
).model_copy(update={"sources": ()})
"""Whoever asks brings the data."""


def plan_tensors(
    model: ModelManifest, settings: Settings, progress: Callable[[str], None] = lambda line: None
) -> tuple[Plan, Site]:
    """Where the model runs, and in which stack, as `evaluate` would choose it; its files are fetched.

    What its manifest says of samples and answers does not matter here, so models come in that no steps could prepare.
    """
    if model.functions or model.framework is None:
        raise Refusal(400, f"{model.name} is run by code in its manifest, and has no tensors to bring")
    bare = model.model_copy(
        update={
            "task": "classification",
            "dataset": None,
            "inputs": (Input(type="image", element_type="float32"),),
            "outputs": (Output(type="logits"),),
        }
    )
    artifacts = ArtifactStore(settings)
    plan = plan_aspects(find_aspects(bare, _NO_DATA), Options(), artifacts, settings, progress=progress)
    return plan, provision(plan, artifacts)


class OpenModel:
    """One worker that has the model open."""

    def __init__(self, plan: Plan, site: Site) -> None:
        self._worker = Worker(site, plan, tensors=True)
        self.inputs, self.outputs = self._worker.opened.inputs, self._worker.opened.outputs

    def infer(self, tensors: Sequence[Tensor], outputs: Sequence[str]) -> list[Tensor] | WorkerError:
        """The tensors that come out, or why there are none; raises only where the worker is of no more use."""
        try:
            described, content = self._worker.infer(
                [each.describe() for each in tensors], [each.content for each in tensors], outputs
            )
        except WorkerDied:
            raise
        except WorkerError as error:
            return error
        return [
            Tensor(each["name"], each["element_type"], tuple(each["shape"]), buffer)
            for each, buffer in zip(described, content, strict=True)
        ]

    def close(self) -> None:
        self._worker.__exit__(None, None, None)
