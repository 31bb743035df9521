"""Shapes that follow from the file are those that onnx itself infers, or are called unknown."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from mlmodelscope.inspection.shapes import infer, settle_inputs
from mlmodelscope.inspection.summary import inspect_file, notes_of, summarize
from mlmodelscope.model_file.describe import read_network
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo
from mlmodelscope.model_file.network import Layer, Network, Weight
from model_file import small_models as small

ROOT = Path(__file__).parent.parent.parent
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared") / "models"
GRAPHS = sorted((ROOT / "manifests" / "models" / "graphs").glob("*.onnx"))
PUBLISHED = sorted(SHARED.rglob("*.onnx")) if SHARED.is_dir() else []


@pytest.mark.parametrize("path", [*GRAPHS, *PUBLISHED], ids=lambda path: path.name)
def test_onnx_infers_the_same_shapes(path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    network = read_network(path)
    inputs, _ = settle_inputs(network, {})
    model = onnx.load(path, load_external_data=False)
    for value in model.graph.input:
        if value.name in inputs:
            for dim, size in zip(value.type.tensor_type.shape.dim, inputs[value.name], strict=True):
                dim.dim_value = size
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    theirs = {}
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    for value in (*inferred.value_info, *inferred.output):
        shape = value.type.tensor_type.shape
        if value.type.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in shape.dim):
            theirs[value.name] = tuple(dim.dim_value for dim in shape.dim)
    ours = infer(network, inputs).shapes
    both = [name for name in theirs if name in ours]
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}
    assert len(both) >= 0.9 * len(theirs)


@pytest.mark.parametrize("kind", ["caffe", "ncnn", "mxnet", "caffe2"])
def test_the_small_network_takes_as_many_operations_in_every_format(kind: str, tmp_path: Path) -> None:
    found = inspect_file(small.write(kind, tmp_path))
    padded = 8 if kind in ("caffe", "ncnn", "mxnet", "caffe2") else 6
    convolution = 2 * 4 * padded * padded * 27
    expected = convolution + 4 * padded * padded * 2 + 2 * 4 * 5 + 5 * 5  # ReLU and pooling, dense, softmax
    assert found.flops == expected and not found.uncounted


def test_an_open_batch_is_one_and_other_open_sizes_are_unknown() -> None:
    files = ROOT / "tests" / "model_file" / "files"
    found = inspect_file(files / "onnx_dynamic.onnx")
    assert found.flops is None and found.largest_activation is None and found.unknown_shapes
    given = inspect_file(files / "onnx_dynamic.onnx", shapes={"image": (2, 3, 8, 8)})
    assert given.flops and not given.unknown_shapes
    assert "counts as 1" in notes_of(inspect_file(files / "torch_export.onnx"))[-1]


def layer(kind: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), **attributes: object) -> Layer:
    return Layer("layer", kind, tuple(inputs), tuple(outputs), attributes)  # type: ignore[arg-type]


def shapes_of(one: Layer, x: Sequence[int], *weights: Sequence[int]) -> list[object]:
    """What a layer gives for an input of this shape; weights are `w0`, `w1`, … of these shapes."""
    file = ModelFile("onnx", "onnxruntime", (TensorInfo("x", "float32", tuple(x)),), (), None, None, None, (), {}, ())
    held = {
        f"w{place}": Weight(f"w{place}", "float32", tuple(shape), "parameter") for place, shape in enumerate(weights)
    }
    found = infer(Network(file, (one,), held), {"x": tuple(x)})
    return [found.of(name) for name in one.outputs]


@pytest.mark.parametrize(
    ("one", "x", "weights", "expected"),
    [
        (layer("Conv", ["x", "w0"], strides=(2, 2), pads=(1, 1, 1, 1)), (1, 3, 7, 8), [(4, 3, 3, 3)], (1, 4, 4, 4)),
        (layer("Conv", ["x", "w0"], auto_pad="SAME_UPPER", strides=(2, 2)), (1, 3, 7, 8), [(4, 3, 5, 5)], (1, 4, 4, 4)),
        (layer("Conv", ["x", "w0"], group=2), (1, 4, 5, 5), [(6, 2, 3, 3)], (1, 6, 3, 3)),
        (layer("Conv", ["x", "w0"], group=2), (1, 3, 5, 5), [(6, 2, 3, 3)], None),
        (layer("Conv", ["x", "w0"]), (1, 3, 2, 2), [(4, 3, 3, 3)], None),
        (layer("MaxPool", ["x"], kernel_shape=(3, 3), strides=(2, 2), ceil_mode=1), (1, 3, 8, 8), [], (1, 3, 4, 4)),
        (layer("MaxPool", ["x"], kernel_shape=(2, 2), strides=(3, 3), ceil_mode=1), (1, 3, 6, 6), [], (1, 3, 2, 2)),
        (layer("ConvTranspose", ["x", "w0"], strides=(2, 2)), (1, 3, 4, 4), [(3, 5, 2, 2)], (1, 5, 8, 8)),
        (layer("Gemm", ["x", "w0"], transB=1), (2, 3), [(4, 3)], (2, 4)),
        (layer("Gemm", ["x", "w0"]), (2, 3), [(4, 3)], None),
        (layer("MatMul", ["x", "w0"]), (7, 2, 3), [(3, 5)], (7, 2, 5)),
        (layer("Add", ["x", "w0"]), (1, 3, 4), [(5, 1, 4)], (5, 3, 4)),
        (layer("Add", ["x", "w0"]), (1, 3, 4), [(2, 4)], None),
        (layer("Flatten", ["x"], axis=-1), (2, 3, 4), [], (6, 4)),
        (layer("Transpose", ["x"], perm=(0, 2, 1)), (1, 3, 4), [], (1, 4, 3)),
        (layer("Transpose", ["x"], perm=(0, 0, 1)), (1, 3, 4), [], None),
        (layer("Reshape", ["x"], shape=(0, -1)), (2, 3, 4), [], (2, 12)),
        (layer("Reshape", ["x"], shape=(5, -1)), (2, 3, 4), [], None),
        (layer("Squeeze", ["x"], axes=(0,)), (1, 3, 1), [], (3, 1)),
        (layer("Unsqueeze", ["x"], axes=(0, 3)), (3, 4), [], (1, 3, 4, 1)),
        (layer("DepthToSpace", ["x"], blocksize=2), (1, 8, 3, 3), [], (1, 2, 6, 6)),
        (layer("NobodyKnows", ["x"]), (1, 3), [], None),
        (layer("ReduceMean", ["x"], axes=(-1,), keepdims=0), (2, 3, 4), [], (2, 3)),
    ],
)
def test_a_layer_gives_its_shape_or_none(
    one: Layer, x: Sequence[int], weights: Sequence[Sequence[int]], expected: Sequence[int] | None
) -> None:
    assert shapes_of(one, x, *weights) == [expected]


def test_sizes_beyond_measure_are_no_shapes() -> None:
    huge = shapes_of(layer("Tile", ["x"]), (1 << 40, 1 << 40))
    assert huge == [None]
    open_sizes = read_network(ROOT / "tests" / "model_file" / "files" / "onnx_dynamic.onnx")
    assert summarize(open_sizes, {"image": (1 << 40, 3, 1 << 40, 8)}).unknown_shapes


def test_what_a_layer_with_an_unknown_shape_is_followed_by_is_unknown_too() -> None:
    file = ModelFile("onnx", "onnxruntime", (), (), None, None, None, (), {}, ())
    layers = (layer("NobodyKnows", ["x"]), Layer("b", "Relu", ("y",), ("z",)))
    found = infer(Network(file, layers), {"x": (1, 3)})
    assert found.of("z") is None
