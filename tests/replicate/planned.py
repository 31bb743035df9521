"""Plans of manifests whose files are not here: nothing is fetched, every digest is the same."""

from pathlib import Path
from typing import Any

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import variants_of

MANIFESTS = Path(__file__).parents[1] / "acceptance" / "manifests"


class AnyPins(dict[str, str]):
    def get(self, key: str, default: Any = None) -> str:
        return "0" * 64


def plan_of(model_name: str, dataset_name: str) -> Plan:
    model, dataset = (load_manifest(MANIFESTS / f"{name}.yml") for name in (model_name, dataset_name))
    assert isinstance(model, ModelManifest) and isinstance(dataset, DatasetManifest) and model.framework is not None
    # Whatever it runs in, this Python need not have it.
    model = model.model_copy(update={"framework": model.framework.model_copy(update={"name": "fake", "version": "*"})})
    return make_plan(model, dataset, Options(), describe_current(), AnyPins())


def names_of(plan: Plan) -> set[str]:
    """Of the pitfalls that have an edit for it."""
    return {name for each in variants_of(plan) for name in each.pitfalls}
