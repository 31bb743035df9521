"""The original is a model manifest: its layers are compared with those of functions that get its weights."""

from pathlib import Path

import numpy as np
import pytest

from .reproduction_world import write_world
from .test_reproduction import checked

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

MODEL = """name: original
version: 1.0.0
task: classification
framework: {name: onnxruntime}
inputs: [{type: image, element_type: float32}]
outputs: [{type: logits, layer_name: 0}]
source: {graph_path: original.onnx}
"""
MANIFEST = """kind: reproduction
name: of-a-file
version: 1.0.0
mine: {code: [mine.py]}
original: {model: original.yml, weights: weights.npz}
inputs: [{name: x, shape: [6]}]
outputs: [{shape: [3]}]
"""
MINE = """import numpy as np


def build(seed):
    return {"a": np.random.RandomState(seed).randn(5, 6).astype("f"), "b": np.zeros((3, 5), "f")}


def layers(model, x):
    first = x @ model["a"].T
    active = np.maximum(first, 0)
    return {"first": first, "active": active, "last": active @ model["b"].T}


def forward(model, x):
    return layers(model, x)["last"]


def load_weights(model, weights):
    return {"a": weights["first"].T.copy(), "b": weights["second"].T.copy()}
"""


def write_original(folder: Path) -> None:
    source = np.random.RandomState(0)
    weights = {"first": source.randn(6, 5).astype("f"), "second": source.randn(5, 3).astype("f")}
    np.savez(folder / "weights.npz", **weights)
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [node("MatMul", ["x", "first"], ["h"]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "second"], ["y"])]
    kept = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = onnx.helper.make_graph(nodes, "g", [value("x", 1, ["n", 6])], [value("y", 1, ["n", 3])], kept)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (folder / "original.onnx").write_bytes(model.SerializeToString())
    (folder / "original.yml").write_text(MODEL)


def test_every_layer_agrees_with_the_models(tmp_path: Path) -> None:
    write_original(tmp_path)
    (found,) = checked(write_world(tmp_path, MINE, MANIFEST), "fixed-weights").results
    assert found.verdict == "passed" and found.words.startswith("3 layers and 1 outputs agree"), found


def test_the_first_layer_that_differs_is_named(tmp_path: Path) -> None:
    write_original(tmp_path)
    leaky = MINE.replace("np.maximum(first, 0)", "np.maximum(first, 0.1 * first)")
    (found,) = checked(write_world(tmp_path, leaky, MANIFEST), "fixed-weights").results
    assert found.verdict == "failed" and "active" in found.words, found


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04K\x01.", b"PK\x05\x06" + bytes(18)])
def test_a_file_of_weights_that_is_none_decides_nothing(content: bytes, tmp_path: Path) -> None:
    write_original(tmp_path)
    (tmp_path / "weights.npz").write_bytes(content)
    (found,) = checked(write_world(tmp_path, MINE, MANIFEST), "fixed-weights").results
    assert found.verdict == "undecided" and "Traceback" not in found.words, found


def test_an_original_that_does_not_open_is_not_blamed_on_mine(tmp_path: Path) -> None:
    write_original(tmp_path)
    (tmp_path / "original.onnx").write_bytes(b"no graph")
    (found,) = checked(write_world(tmp_path, MINE, MANIFEST), "fixed-weights").results
    assert found.verdict == "undecided" and found.words.startswith("the original: "), found


def test_pickled_weights_are_not_loaded(tmp_path: Path) -> None:
    write_original(tmp_path)

    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            return (Path.touch, (Path(tmp_path / "ran"),))  # type: ignore[return-value]

    np.savez(tmp_path / "weights.npz", first=np.array([Trap()], dtype=object))
    (found,) = checked(write_world(tmp_path, MINE, MANIFEST), "fixed-weights").results
    assert found.verdict == "undecided" and "no .npz file of arrays" in found.words
    assert not (tmp_path / "ran").exists()
