"""Models that people published say what is known of them. Extra: they are in the development data folder."""

import os
from pathlib import Path

import pytest

from mlmodelscope.model_file.describe import describe_model

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared")
MODELS = SHARED / "models"
PUBLISHED = sorted([*MODELS.rglob("*.onnx"), *MODELS.rglob("*.tflite")])

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not MODELS.is_dir(), reason="the development data folder is not here"),
]

KNOWN = {
    "onnx/FastestDet.onnx": ("float32", (1, 3, 352, 352), "NCHW", (1, 85, 22, 22), None),
    "onnx/mnist.onnx": ("float32", (1, 1, 28, 28), "NCHW", (1, 10), False),
    "onnx/mobilenetv2_fp16w.onnx": ("float32", (None, 3, 224, 224), "NCHW", (None, 1000), False),
    "onnx/squeezenet1.1_nchw.onnx": ("float32", (None, 3, 224, 224), "NCHW", (None, 1000), False),
    "ultraface/version-RFB-320.onnx": ("float32", (1, 3, 240, 320), "NCHW", (1, 4420, 2), True),
    "ultraface/version-RFB-320_without_postprocessing.onnx": ("float32", (1, 3, 240, 320), "NCHW", (1, 4420, 2), True),
    "ultraface/version-RFB-320_without_postprocessing.tflite": (
        "float32",
        (None, 240, 320, 3),
        "NHWC",
        (None, None, 4),
        None,
    ),
    "coral/deeplabv3_mnv2_pascal_quant.tflite": ("uint8", (1, 513, 513, 3), "NHWC", (1, 513, 513), False),
    "coral/mobilenet_v1_0.25_128_quant.tflite": ("uint8", (1, 128, 128, 3), "NHWC", (1, 1001), True),
    "coral/mobilenet_v1_0.75_192_quant.tflite": ("uint8", (1, 192, 192, 3), "NHWC", (1, 1001), True),
}


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.relative_to(MODELS)))
def test_a_published_model_says_what_is_known_of_it(path: Path) -> None:
    name = str(path.relative_to(MODELS))
    assert name in KNOWN, "a model came to the data folder: write down here what is known of it"
    model = describe_model(path)
    (image,) = model.inputs
    told = (image.element_type, image.shape, image.layout, model.outputs[0].shape, model.ends_in_softmax)
    assert told == KNOWN[name]


@pytest.mark.parametrize("path", [one for one in PUBLISHED if one.suffix == ".onnx"], ids=lambda path: path.name)
def test_onnxruntime_says_the_same(path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    session, model = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]), describe_model(path)
    for ours, theirs in ((model.inputs, session.get_inputs()), (model.outputs, session.get_outputs())):
        assert [one.name for one in ours] == [one.name for one in theirs]
        assert [one.shape for one in ours] == [
            tuple(size if isinstance(size, int) else None for size in one.shape) for one in theirs
        ]


def test_coral_labels_are_those_published_beside_the_model() -> None:
    lines = (MODELS / "coral" / "imagenet_labels.txt").read_text().splitlines()
    model = describe_model(MODELS / "coral" / "mobilenet_v1_0.25_128_quant.tflite")
    assert model.labels == tuple(lines)
    assert len(model.labels) == 1001
    assert model.inputs[0].quantization is not None
    assert model.inputs[0].quantization.scale == (0.0078125,)
    assert model.inputs[0].quantization.zero_point == (128,)
