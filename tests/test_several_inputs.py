"""Models with several inputs: detectors that want to know how large the picture was, and where each tensor goes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import detector_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.profiling import profile
from mlmodelscope.replicate.replication import replicate

DECODE, RESIZE = {"decode": {"color_layout": "RGB"}}, {"resize": {"dimensions": [8, 8]}}
PIXELS = {
    "type": "image",
    "layer_name": "pixels",
    "element_type": "float32",
    "processing": [DECODE, RESIZE, {"rescale": 255}, {"layout": "NCHW"}],
}


def sizes(*numbers: str, before: tuple[Any, ...] = (DECODE,)) -> dict[str, Any]:
    steps = [*before, {"sizes": list(numbers)}]
    return {"type": "image", "layer_name": "sizes", "element_type": "float32", "processing": steps}


def network(path: Path) -> Path:
    """The upper left quarter of a picture of these sizes (height, width), a cat; and how bright the picture is."""
    corner = np.array([[0, 0.5], [0, 0], [0, 0], [0.5, 0]], np.float32)  # left, top, right, bottom of (height, width)
    matrix = np.stack([corner[1], corner[2], corner[0], corner[3]], axis=1)
    nodes = [
        helper.make_node("MatMul", ["sizes", "matrix"], ["flat"]),
        helper.make_node("Unsqueeze", ["flat", "one"], ["boxes"]),
        helper.make_node("ReduceMean", ["pixels"], ["level"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Unsqueeze", ["level", "one"], ["brightness"]),
        helper.make_node("Add", ["brightness", "half"], ["scores"]),
        helper.make_node("Mul", ["brightness", "zero"], ["classes"]),
    ]
    values = {"matrix": matrix, "one": np.array([1], np.int64), "half": np.float32(0.5), "zero": np.float32(0)}
    graph = helper.make_graph(
        nodes,
        "quarters",
        # The sizes come first: the manifest's order is another one.
        [
            helper.make_tensor_value_info("sizes", TensorProto.FLOAT, ["n", 2]),
            helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 8, 8]),
        ],
        [
            helper.make_tensor_value_info("boxes", TensorProto.FLOAT, ["n", 1, 4]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 1]),
            helper.make_tensor_value_info("classes", TensorProto.FLOAT, ["n", 1]),
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    path.write_bytes(model.SerializeToString())
    return path


def manifest(folder: Path, *inputs: dict[str, Any], **changes: Any) -> Any:
    data = {
        "name": "quarters",
        "version": "1.0.0",
        "task": "object_detection",
        "framework": {"name": "onnxruntime", "version": ">=1.0"},
        "inputs": list(inputs),
        "outputs": [{"type": each, "layer_name": each} for each in ("boxes", "scores", "classes")],
        "answer": [{"boxes": {"order": "xyxy", "unit": "pixel", "of": "original"}}],
        "source": {"graph_path": str(network(folder / "quarters.onnx"))},
        **changes,
    }
    return load_manifest(data)


@pytest.fixture
def things(tmp_path: Path) -> Any:
    return load_manifest(detector_world.write_detector(tmp_path, pictures=6)[1])


def cats(record: Any) -> float:
    """Average precision of the class that the model knows."""
    return float(next(each["ap"] for each in record.details["per_class"] if each["class"] == 0))


@pytest.mark.parametrize("batch_size", [1, 4])
def test_each_input_gets_its_own_tensor(tmp_path: Path, things: Any, settings: Settings, batch_size: int) -> None:
    model = manifest(tmp_path, PIXELS, sizes("original_height", "original_width"))
    record = evaluate(model, things, Options(batch_size=batch_size, timed_runs=2), settings=settings)
    assert record.failed == 0 and cats(record) == pytest.approx(1.0)


def test_other_sizes_are_other_boxes(tmp_path: Path, things: Any, settings: Settings) -> None:
    model = manifest(tmp_path, PIXELS, sizes("height", "width", before=(DECODE, RESIZE)))
    assert cats(evaluate(model, things, Options(timed_runs=2), settings=settings)) == 0
    model = manifest(tmp_path, PIXELS, sizes("height", "width"))
    assert cats(evaluate(model, things, Options(timed_runs=2), settings=settings)) == pytest.approx(1.0)


def test_traces_have_the_steps_of_every_input(tmp_path: Path, things: Any, settings: Settings) -> None:
    model = manifest(tmp_path, PIXELS, sizes("original_height", "original_width"))
    _, trace = profile(model, things, Options(timed_runs=2), settings=settings)
    names = {span.name for span in trace.spans}
    assert {"decode", "resize", "sizes"} <= names


def test_a_mistake_in_the_first_input_is_found_beside_the_second(
    tmp_path: Path, things: Any, settings: Settings
) -> None:
    wrong = [{"boxes": {"order": "yxyx", "unit": "pixel", "of": "original"}}]
    model = manifest(tmp_path, PIXELS, sizes("original_height", "original_width"), answer=wrong)
    right = manifest(tmp_path, PIXELS, sizes("original_height", "original_width"))
    ap = evaluate(right, things, Options(timed_runs=2), settings=settings).metrics["ap"].value
    claim = parse_claim(f"ap={100 * ap:.2f}@things")
    done = replicate(model, things, Options(timed_runs=2), claim=claim, settings=settings)
    assert done.found is not None and done.found.candidates[0].variant.pitfalls == ("box-order",)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ((PIXELS, {**sizes("height"), "layer_name": None}), r"inputs\[1\] has no `layer_name`"),
        ((PIXELS, {"type": "text", "layer_name": "sizes"}), "no step makes numbers of an input of type text"),
    ],
)
def test_what_is_left_open_is_refused(
    tmp_path: Path, things: Any, settings: Settings, inputs: Any, reason: str
) -> None:
    with pytest.raises(PlanError, match=reason):
        evaluate(manifest(tmp_path, *inputs), things, settings=settings)


def test_numbers_that_are_not_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="depth"):
        manifest(tmp_path, PIXELS, sizes("depth"))
