"""Every format tells what its file says: names, types, shapes, layout, and how it ends."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFile, Quantization, TensorInfo

Describe = Callable[[str], ModelFile]
NAMES = ("cat", "dog", "bird", "fish")


@pytest.mark.parametrize(
    ("file", "format", "framework", "shape", "layout", "softmax"),
    [
        ("onnx_softmax.onnx", "onnx", "onnxruntime", (1, 3, 8, 8), "NCHW", True),
        ("onnx_nhwc.onnx", "onnx", "onnxruntime", (1, 8, 8, 3), "NHWC", True),
        ("onnx_logits.onnx", "onnx", "onnxruntime", (1, 3, 8, 8), "NCHW", False),
        ("onnx_dynamic.onnx", "onnx", "onnxruntime", (None, 3, None, None), "NCHW", True),
        ("torch_export.onnx", "onnx", "onnxruntime", (None, 3, 8, 8), "NCHW", True),
        ("keras_float.tflite", "tflite", "tflite", (1, 8, 8, 3), "NHWC", True),
        ("metadata.tflite", "tflite", "tflite", (1, 8, 8, 3), "NHWC", True),
        ("torch_traced.pt", "torchscript", "pytorch", (2, 3, 8, 8), "NCHW", True),
        ("torch_exported.pt2", "pt2", "pytorch", (None, 3, 8, 8), "NCHW", True),
        ("saved_model", "savedmodel", "tensorflow", (None, 8, 8, 3), "NHWC", True),
        ("saved_model/saved_model.pb", "savedmodel", "tensorflow", (None, 8, 8, 3), "NHWC", True),
        ("frozen.pb", "frozen_graph", "tensorflow", (None, 8, 8, 3), "NHWC", True),
        ("openvino.xml", "openvino", "openvino", (1, 3, 8, 8), "NCHW", True),
    ],
)
def test_a_file_tells_its_format_input_and_end(
    describe: Describe, file: str, format: str, framework: str, shape: tuple[int, ...], layout: str, softmax: bool
) -> None:
    model = describe(file)
    assert (model.format, model.framework) == (format, framework)
    assert [(one.element_type, one.shape, one.layout) for one in model.inputs] == [("float32", shape, layout)]
    assert model.ends_in_softmax is softmax


@pytest.mark.parametrize(
    ("file", "inputs", "outputs"),
    [
        ("onnx_softmax.onnx", ["image"], [("scores", "float32", (1, 4))]),
        ("onnx_dynamic.onnx", ["image"], [("scores", "float32", (None, 4))]),
        ("keras_float.tflite", ["serving_default_image:0"], [("StatefulPartitionedCall:0", "float32", (1, 4))]),
        ("torch_scripted.pt", ["image"], [("output0", None, None), ("features", None, None)]),
        ("torch_traced.pt", ["image"], [("output", None, None)]),
        ("torch_exported.pt2", ["image"], [("softmax", "float32", (None, 4))]),
        ("saved_model", ["image"], [("scores", "float32", (None, 4))]),
        ("frozen.pb", ["image"], [("Identity", "float32", None)]),
        ("openvino.xml", ["image"], [("scores", "float32", (1, 4))]),
    ],
)
def test_names_are_those_that_the_framework_wants(
    describe: Describe, file: str, inputs: list[str], outputs: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    model = describe(file)
    assert [one.name for one in model.inputs] == inputs
    assert [(one.name, one.element_type, one.shape) for one in model.outputs] == outputs


@pytest.mark.parametrize(
    ("file", "producer", "version"),
    [
        ("onnx_softmax.onnx", "make_model_files 1", "opset 13, ir 7"),
        ("torch_export.onnx", "pytorch 2.13.0+cpu", "opset 20, ir 10"),
        ("torch_exported.pt2", "pytorch 2.13.0+cpu", "schema 8.20"),
        ("saved_model", "tensorflow 2.21.0", "SavedModel 1"),
        ("keras_float.tflite", "MLIR Converted.", "TFL3"),
        ("torch_traced.pt", None, "3"),
    ],
)
def test_producer_and_version_are_told(describe: Describe, file: str, producer: str | None, version: str) -> None:
    assert (describe(file).producer, describe(file).version) == (producer, version)


@pytest.mark.parametrize("file", ["onnx_softmax.onnx", "metadata.tflite", "openvino.xml"])
def test_names_of_classes_are_found_inside(describe: Describe, file: str) -> None:
    assert describe(file).labels == NAMES


@pytest.mark.parametrize("as_lists", [False, True])
def test_a_quantized_input_of_onnx_has_its_scale_and_zero_point(tmp_path: Path, as_lists: bool) -> None:
    """Numbers stand in an initializer as bytes, or as a list of their own."""
    scale, zero = np.float32(0.25), np.array([-7], np.int8)
    constants = [numpy_helper.from_array(scale, "scale"), numpy_helper.from_array(zero, "zero")]
    if as_lists:
        constants = [
            helper.make_tensor("scale", TensorProto.FLOAT, [], [0.25]),
            helper.make_tensor("zero", TensorProto.INT8, [1], [-7]),
        ]
    graph = helper.make_graph(
        [helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        constants,
    )
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    assert describe_model(tmp_path / "model.onnx").inputs[0].quantization == Quantization((0.25,), (-7,))


def test_a_quantized_input_has_its_scale_and_zero_point(describe: Describe) -> None:
    model = describe("keras_quantized.tflite")
    (image,) = model.inputs
    assert image == TensorInfo("serving_default_image:0", "uint8", (None, 8, 8, 3), "NHWC", image.quantization)
    assert image.quantization is not None
    assert image.quantization.scale == pytest.approx((1 / 255,), rel=1e-3)
    assert model.outputs[0].quantization == Quantization((1 / 256,), (0,))
    assert model.ends_in_softmax is True


def test_tflite_metadata_tells_how_pictures_were_normalized(describe: Describe) -> None:
    metadata = describe("metadata.tflite").metadata
    assert (metadata["input.mean"], metadata["input.std"], metadata["input.color_space"]) == ("127.5", "127.5", "RGB")
    assert metadata["name"] == "ImageClassifier"


def test_an_argument_with_a_default_is_no_input(describe: Describe) -> None:
    model = describe("torch_scripted.pt")
    assert model.inputs == (TensorInfo("image", None, None, "NCHW"),)
    assert model.ends_in_softmax is False
    assert model.metadata["class"] == "__torch__.Logits"
    assert any("does not say" in note for note in model.notes)


def test_notes_say_what_else_is_needed_and_what_was_not_read(describe: Describe) -> None:
    assert any(".bin" in note for note in describe("openvino.xml").notes)
    assert any("traced" in note for note in describe("torch_traced.pt").notes)
    assert any("pickled" in note for note in describe("torch_exported.pt2").notes)
