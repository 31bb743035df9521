"""Builders, for real: in a stack that has PyTorch and the library."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mlmodelscope_worker.builder import torchvision_operators, weights  # noqa: E402
from mlmodelscope_worker.builder.built import Build  # noqa: E402
from mlmodelscope_worker.predictor import ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.predictor.pytorch import pytorch  # noqa: E402


def file_of(path: Path, tensors: dict[str, Any], **change: Any) -> str:
    """A safetensors file, perhaps with other words in its header than there should be."""
    header: dict[str, Any] = {}
    body = b""
    for name, value in tensors.items():
        data = value.detach().contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[value.dtype]
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(body), len(body) + len(data)]}
        header[name].update(change)
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return str(path)


def net() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))


def fill(module: Any, path: str) -> None:
    weights.fill(torch, module, Build("timm", "net", {}, path, None))


def test_every_tensor_finds_its_place(tmp_path: Path) -> None:
    theirs, ours = net(), net()
    with torch.no_grad():
        theirs[0].weight.add_(1)
    fill(ours, file_of(tmp_path / "w", {f"module.{name}": value for name, value in theirs.state_dict().items()}))
    assert all(torch.equal(ours.state_dict()[name], value) for name, value in theirs.state_dict().items())


def test_tensors_that_do_not_fit_are_named_at_once(tmp_path: Path) -> None:
    tensors = dict(net().state_dict())
    tensors["extra.weight"] = tensors.pop("0.bias")
    tensors["1.bias"] = torch.zeros(5)
    words = r"lack 0.bias; net has no place for extra.weight; of another shape: 1.bias \(\[5\] instead of \[4\]\)"
    with pytest.raises(ModelError, match=words):
        fill(net(), file_of(tmp_path / "w", tensors))


def test_what_only_training_counts_may_be_missing(tmp_path: Path) -> None:
    tensors = {name: value for name, value in net().state_dict().items() if "num_batches" not in name}
    fill(net(), file_of(tmp_path / "w", tensors))


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    tensors = dict(net().state_dict())
    tensors["0.weight"] = torch.full_like(tensors["0.weight"], float("nan"))
    with pytest.raises(ModelError, match="tensor `0.weight` of the weights holds NaN"):
        fill(net(), file_of(tmp_path / "w", tensors))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [4, 3, 3, 4]},
        {"shape": [-1]},
        {"shape": [1 << 62, 1 << 62]},
        {"data_offsets": [0, 1 << 40]},
        {"data_offsets": [8, 0]},
        {"data_offsets": ["a", "b"]},
        {"data_offsets": None},
        {"dtype": "F128"},
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="weights"):
        fill(net(), file_of(tmp_path / "w", {"0.weight": net()[0].weight}, **change))


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 8, b"\xff" * 64, struct.pack("<Q", 1 << 30) + b"{}", struct.pack("<Q", 2) + b"[]", b"PK\3\4"]
)
def test_what_is_not_safetensors_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "w").write_bytes(data)
    with pytest.raises(ModelError, match="weights"):
        fill(net(), str(tmp_path / "w"))


def opened(tmp_path: Path, builder: str, architecture: str, tensors: Any = None, **more: Any) -> Predictor:
    build = tmp_path / "build.json"
    config = more.pop("config", None)
    build.write_text(json.dumps({"builder": builder, "architecture": architecture, "options": more}))
    files = {"build": str(build), "weights": file_of(tmp_path / "w", tensors or {"x": torch.zeros(1)})}
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
        files["config"] = str(tmp_path / "config.json")
    return pytorch(files)  # type: ignore[no-any-return]


@pytest.fixture
def timm() -> Any:
    torchvision_operators.provide(torch)
    return pytest.importorskip("timm")


@pytest.fixture
def torchvision() -> Any:
    torchvision_operators.provide(torch)
    return pytest.importorskip("torchvision")


def same(predictor: Predictor, module: Any, given: np.ndarray) -> bool:
    with torch.inference_mode():
        wanted = module.eval()(torch.from_numpy(given)).numpy()
    predictor.check([given])
    return bool(np.allclose(predictor.run([given])[0], wanted, atol=1e-5))


def test_timm_answers_as_it_does_by_itself(timm: Any, tmp_path: Path) -> None:
    torch.manual_seed(3)
    module = timm.create_model("test_resnet", num_classes=7)
    predictor = opened(tmp_path, "timm", "test_resnet", module.state_dict(), num_classes=7)
    assert same(predictor, module, np.random.RandomState(0).rand(2, 3, 64, 64).astype(np.float32))


def test_pictures_in_another_order_are_told(timm: Any, tmp_path: Path) -> None:
    predictor = opened(tmp_path, "timm", "test_resnet", timm.create_model("test_resnet").state_dict())
    with pytest.raises(ModelError, match="it is NHWC and the model looks like NCHW"):
        predictor.check([np.zeros((1, 64, 64, 3), np.float32)])


def test_torchvision_answers_as_it_does_by_itself(torchvision: Any, tmp_path: Path) -> None:
    torch.manual_seed(3)
    module = torchvision.models.squeezenet1_1(num_classes=5)
    predictor = opened(tmp_path, "torchvision", "squeezenet1_1", module.state_dict(), num_classes=5)
    assert same(predictor, module, np.random.RandomState(0).rand(1, 3, 64, 64).astype(np.float32))


@pytest.mark.parametrize(
    ("builder", "architecture", "words"),
    [
        ("timm", "resnet19", "has no architecture `resnet19`; did you mean resnet"),
        ("timm", "resnet18.no_such_tag", "has no architecture `resnet18.no_such_tag`"),
        ("torchvision", "get_model", "has no architecture `get_model`"),
        ("torchvision", "fasterrcnn_resnet50_fpn", "takes lists or pairs of pictures"),
    ],
)
def test_names_that_the_registry_lacks_are_refused(
    timm: Any, tmp_path: Path, builder: str, architecture: str, words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        opened(tmp_path, builder, architecture)


def test_an_option_that_the_architecture_lacks_is_told(timm: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot build test_resnet"):
        opened(tmp_path, "timm", "test_resnet", no_such_option=1)


BERT = {
    "model_type": "bert",
    "vocab_size": 30,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}


@pytest.fixture
def transformers() -> Any:
    torchvision_operators.provide(torch)
    return pytest.importorskip("transformers")


def test_transformers_answers_as_it_does_by_itself(transformers: Any, tmp_path: Path) -> None:
    torch.manual_seed(3)
    module = transformers.BertModel(transformers.BertConfig(**BERT)).eval()
    predictor = opened(tmp_path, "transformers", "BertModel", module.state_dict(), config=BERT)
    assert [each.name for each in predictor.inputs] == ["input_ids", "attention_mask", "token_type_ids"]
    given = [np.array([[2, 7, 9, 0]]), np.array([[1, 1, 1, 0]]), np.array([[0, 0, 1, 0]])]
    with torch.inference_mode():
        wanted = module(*map(torch.from_numpy, given)).last_hidden_state.numpy()
    assert np.allclose(predictor.run(given)[0], wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("architecture", "config", "words"),
    [
        ("BertModel", {}, "must name a `model_type`"),
        ("BertModel", {"model_type": "os"}, "must name a `model_type`"),
        ("BertModel", {**BERT, "model_type": "gpt2"}, "BertModel is not made of a configuration of `gpt2`"),
        ("AutoModel", BERT, "has no architecture `AutoModel`"),
        ("Trainer", BERT, "has no architecture `Trainer`"),
        ("BertModel", {**BERT, "auto_map": {"AutoModel": "evil.Evil"}}, "do not fit BertModel"),
    ],
)
def test_configurations_that_are_no_models_are_refused(
    transformers: Any, tmp_path: Path, architecture: str, config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        opened(tmp_path, "transformers", architecture, config=config)


def test_a_configuration_that_leads_to_another_file_is_refused(timm: Any, transformers: Any, tmp_path: Path) -> None:
    """timm opened the checkpoint that `model_args` name, which no plan knows of."""
    other = tmp_path / "other.pth"
    torch.save(timm.create_model("test_resnet", num_classes=0).state_dict(), other)
    config = {"model_type": "timm_wrapper", "architecture": "test_resnet"}
    with pytest.raises(ModelError, match="`model_args` of config.json .* refused"):
        opened(
            tmp_path,
            "transformers",
            "TimmWrapperModel",
            config={**config, "model_args": {"checkpoint_path": str(other)}},
        )
