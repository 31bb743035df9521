"""In a real worker, a V1 manifest gives the bits that a hand-written manifest of today gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Worker

MEAN, SCALE = [123.68, 116.78, 103.94], [58.0, 57.0, 56.0]


@pytest.fixture
def prepare(
    tmp_path: Path, settings: Settings, make_dataset: Callable[..., Any], make_pictures: Callable[..., Path]
) -> Callable[..., list[Any]]:
    """The tensors that a model gets of some pictures, given the words for its input."""
    dataset = make_dataset(make_pictures(count=6, side=20))
    artifacts = ArtifactStore(settings, lambda *_: None)

    def call(layout: str, element_type: str, given: dict[str, Any]) -> list[Any]:
        shape = [None, 3, 8, 6] if layout == "CHW" else [None, 8, 6, 3]
        graph = tmp_path / f"{layout}-{element_type}.json"
        graph.write_text(json.dumps({"shape": shape, "classes": 10, "element_type": element_type}))
        old = {"output": {"type": "classification"}, "model": {"graph_path": str(graph)}}
        new = {
            "task": "classification",
            "outputs": [{"type": "probability"}],
            "source": {"graph_path": str(graph)},
        }
        head = {"name": "toy", "version": "1.0.0", "framework": {"name": "fake"}}
        model = load_manifest({**head, "inputs": [given], **(old if "parameters" in given else new)})
        plan = plan_aspects(find_aspects(model, dataset), Options(batch_size=2), artifacts, settings)  # type: ignore[arg-type]
        with Worker(provision(plan, artifacts), plan) as worker:
            return worker.prepare(open_dataset(plan.dataset, artifacts).samples)

    return call


@pytest.mark.parametrize(
    ("color", "layout", "element_type"),
    [("RGB", "CHW", "float32"), ("BGR", "CHW", "float32"), ("BGR", "HWC", "float32"), ("RGB", "HWC", "uint8")],
)
def test_old_and_new_words_give_the_same_bits(
    prepare: Callable[..., list[Any]], color: str, layout: str, element_type: str
) -> None:
    parameters: dict[str, Any] = {
        "element_type": element_type,
        "layout": layout,
        "color_mode": color,
        "dimensions": [3, 8, 6],
    }
    steps: list[Any] = [{"decode": {"color_layout": "RGB"}}, {"resize": [8, 6]}]
    if element_type == "float32":
        parameters |= {"mean": MEAN, "scale": SCALE}
        steps += [{"normalize": {"mean": MEAN, "std": SCALE}}]
    if color == "BGR":
        steps.append({"color": "BGR"})
    steps += [{"layout": layout}]
    old = prepare(layout, element_type, {"type": "image", "parameters": parameters})
    new = prepare(layout, element_type, {"type": "image", "element_type": element_type, "processing": steps})
    assert len(old) == 6 and all(isinstance(each, tuple) for each in old), old
    assert old == new and len({content for _, content in old}) > 1
