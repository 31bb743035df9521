"""Exports of what a library builds; the stack's part is run by tests of stacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import exporting
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.exporting import export_model
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.provision.weights.for_builder import write_safetensors
from mlmodelscope.settings import Settings
from mlmodelscope.tensor_file.tensor import Tensor

GOOD = {"difference": 1e-7, "largest": 2.0, "exporter": "torch.onnx 2.13"}


@pytest.fixture
def model(tmp_path: Path) -> ModelManifest:
    write_safetensors({"a": Tensor("a", "uint8", (1,), b"1")}, tmp_path / "weights.safetensors")
    found = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "pytorch"},
            "inputs": [{"type": "image", "processing": ["decode", {"resize": [32, 48]}, {"layout": "NCHW"}]}],
            "outputs": [{"type": "logits", "processing": ["softmax"]}],
            "source": {
                "builder": "timm",
                "architecture": "resnet18",
                "weights_path": str(tmp_path / "weights.safetensors"),
            },
        }
    )
    assert isinstance(found, ModelManifest)
    return found


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Exports whose stack writes a file and answers what it is given."""
    asked: dict[str, Any] = {}
    stack = StackDescription("current", "3.11", {"torch": "2.13.0", "timm": "1.0.31", "torchvision": "0.28.0"})
    monkeypatch.setattr(exporting, "choose_stack", lambda *given: (None, stack))

    def export(model: ModelManifest, **report: Any) -> Any:
        def run(stack: Any, module: str, request: dict[str, Any], *others: Any) -> dict[str, Any]:
            asked.update(request, build=json.loads(Path(request["build"]).read_text()))
            Path(request["output"]).write_bytes(b"graph")
            return {**GOOD, **report}

        monkeypatch.setattr(exporting, "run_inside", run)
        settings = Settings(tmp_path / "home", tmp_path / "cache")
        return export_model(model, tmp_path / "net.onnx", settings), asked

    return export


def test_the_manifest_says_where_the_file_comes_from(exported: Any, model: ModelManifest, tmp_path: Path) -> None:
    found, asked = exported(model)
    assert asked["size"] == [32, 48]
    assert asked["build"] == {"builder": "timm", "architecture": "resnet18", "options": {}}
    (tmp_path / "net.yml").write_text(found.manifest)
    written = parse_manifest(found.manifest, str(tmp_path / "net.yml"))
    assert isinstance(written, ModelManifest) and written.source is not None
    assert written.inputs == model.inputs and written.source.builder is None
    origin = written.attributes["exported"]
    assert origin["architecture"] == "resnet18" and origin["packages"]["timm"] == "1.0.31"
    assert (tmp_path / "net.onnx").read_bytes() == b"graph"


@pytest.mark.parametrize("difference", [0.1, float("nan")])
def test_a_file_that_answers_differently_is_not_kept(
    exported: Any, model: ModelManifest, tmp_path: Path, difference: float
) -> None:
    with pytest.raises(ArtifactError, match="answers differently"):
        exported(model, difference=difference)
    assert sorted(each.name for each in tmp_path.iterdir() if "export" in each.name or each.suffix == ".onnx") == []


def test_a_model_that_is_a_file_is_not_exported(exported: Any, model: ModelManifest, tmp_path: Path) -> None:
    plain = {**model.model_dump(exclude_defaults=True), "source": {"graph_path": "net.pt"}}
    with pytest.raises(UsageError, match="not built by a library"):
        exported(ModelManifest.model_validate(plain))
