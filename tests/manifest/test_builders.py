"""Models that a library builds: what a manifest may say of them."""

from typing import Any

import pytest

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.model import plan_model

SOURCE = {
    "builder": "timm",
    "architecture": "resnet50.a1_in1k",
    "weights_path": "weights.safetensors",
    "weights_checksum": "sha256:" + "0" * 64,
}


def manifest(framework: str = "pytorch", **source: Any) -> ModelManifest:
    found = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": framework},
            "inputs": [{"type": "image", "processing": ["decode", {"layout": "NCHW"}]}],
            "outputs": [{"type": "logits", "processing": ["softmax"]}],
            "source": {key: value for key, value in {**SOURCE, **source}.items() if value is not None},
        }
    )
    assert isinstance(found, ModelManifest)
    return found


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"architecture": "test_vit"},
        {"options": {"num_classes": 10, "img_size": [224, 224], "global_pool": "avg", "drop_rate": 0.1}},
        {"builder": "torchvision", "architecture": "googlenet", "options": {"transform_input": True}},
        {"builder": "transformers", "architecture": "BertModel", "graph_path": "config.json"},
        {"architecture": "resnet50", "weights_path": "https://example.org/checkpoint.zip#weights/"},
    ],
)
def test_an_architecture_and_its_weights_are_a_model(source: dict[str, Any]) -> None:
    assert manifest(**source).source is not None


def test_the_plan_has_what_is_built_and_no_graph() -> None:
    planned = plan_model(manifest(options={"img_size": 224}), {})
    assert planned.builder is not None and planned.graph is None
    assert planned.builder.model_dump() == {
        "name": "timm",
        "architecture": "resnet50.a1_in1k",
        "options": {"img_size": 224},
    }


@pytest.mark.parametrize(
    "architecture",
    [
        "hf_hub:someone/model",
        "hf-hub:someone/model",
        "local-dir:/etc",
        "../../etc/passwd",
        "someone/model",
        "os.path.join.x",
        "resnet50.a1.b2",
        "__import__('os')",
        "resnet50 ",
        "resnet50\n",
        "ResNet50",
        ".",
        "",
        "x" * 300,
        "rеsnet50",  # its second letter is Cyrillic
    ],
)
def test_what_is_not_a_name_of_the_registry_is_refused(architecture: str) -> None:
    with pytest.raises(ManifestError, match="architecture"):
        manifest(architecture=architecture)


@pytest.mark.parametrize(
    "options",
    [
        {"pretrained": True},
        {"pretrained_cfg": "a"},
        {"checkpoint_path": "x"},
        {"cache_dir": "x"},
        {"weights": "DEFAULT"},
        {"weights_backbone": "DEFAULT"},
        {"trust_remote_code": True},
        {"url": "x"},
        {"norm_fn": "x"},
        {"__class__": 1},
        {"act_layer": "https://example.org/x"},
        {"act_layer": "/etc/passwd"},
        {"act_layer": "a\nb"},
        {"nested": {"a": {"b": 1}}},
        {"deep": [[[[[1]]]]]},
        {"many": [0] * 300},
        {"large": 1 << 60},
        {"nan": float("nan")},
        {"infinite": float("inf")},
    ],
)
def test_options_that_are_more_than_plain_data_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ManifestError, match="options"):
        manifest(options=options)


def test_a_builder_goes_with_its_own_framework() -> None:
    with pytest.raises(ManifestError, match="makes models for the framework pytorch, not onnxruntime"):
        manifest("onnxruntime")
    assert manifest("Torch").source is not None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"architecture": None}, "`architecture` is missing"),
        ({"weights_path": None}, "`weights_path` is missing"),
        ({"graph_path": "model.onnx"}, "does not go with the builder timm"),
        ({"builder": None}, "`graph_path` is missing"),
        ({"builder": None, "graph_path": "model.onnx"}, "`architecture` goes with a `builder`"),
        ({"builder": "detectron"}, "builder"),
    ],
)
def test_keys_that_do_not_go_together_are_named(source: dict[str, Any], words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        manifest(**source)
