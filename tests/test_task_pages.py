"""The examples of the pages on segmentation and enhancement run, by models that are made on the spot."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope import Settings, evaluate, load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, Framework, ModelManifest
from test_tasks_evaluated import HEIGHT, WIDTH, manifests

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.usefixtures("few_calls")


def write_model(path: Path, nodes: list[Any], given: Any, told: Any, known: Any = None) -> None:
    weights = [onnx.numpy_helper.from_array(known, "known")] if known is not None else []
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "made", [given], [told], weights),
        opset_imports=[onnx.helper.make_opsetid("", 13)],
    )
    model.ir_version = 8
    onnx.save(model, path)


def example(place: Path, name: str, graph: str) -> ModelManifest:
    """A page's model, with a file that was made here."""
    found = load_manifest(place / name)
    assert isinstance(found, ModelManifest) and found.source is not None
    source = found.source.model_copy(update={"graph_path": str(place / graph), "graph_checksum": None})
    return found.model_copy(update={"source": source, "framework": Framework(name="onnxruntime", version="*")})


def dataset(place: Path, name: str) -> DatasetManifest:
    found = load_manifest(place / name)
    assert isinstance(found, DatasetManifest)
    return found


def test_the_example_of_segmentation_runs(tmp_path: Path, settings: Settings) -> None:
    from zipfile import ZipFile

    from PIL import Image

    manifests("segmentation.md", tmp_path)
    (tmp_path / "images").mkdir()
    Image.new("RGB", (WIDTH, HEIGHT), (40, 90, 200)).save(tmp_path / "images/0.png")
    mask = Image.new("L", (WIDTH, HEIGHT), 99)  # another value: background
    mask.paste(1, (0, 0, WIDTH // 2, HEIGHT))  # a person, which VOC calls 15
    mask.paste(0, (0, 0, WIDTH, 3))  # void
    mask.save(tmp_path / "0.png")
    with ZipFile(tmp_path / "masks.zip", "w") as packed:
        packed.write(tmp_path / "0.png", "masks/0.png")
    (tmp_path / "voc-classes.txt").write_text("".join(f"class {number}\n" for number in range(21)))
    found = np.zeros((1, 513, 513), np.int64)
    found[:, :, :257] = 15  # the left half of the picture, which covers the input's width
    helper, kind = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Cast", ["x"], ["whole"], to=kind.INT64),
        helper.make_node("ReduceMax", ["whole"], ["most"], keepdims=0),
        helper.make_node("Sub", ["most", "most"], ["zero"]),
        helper.make_node("Add", ["known", "zero"], ["y"]),
    ]
    given = helper.make_tensor_value_info("x", kind.UINT8, [1, 513, 513, 3])
    told = helper.make_tensor_value_info("y", kind.INT64, [1, 513, 513])
    write_model(tmp_path / "halves.onnx", nodes, given, told, found)
    record = evaluate(
        example(tmp_path, "deeplabv3.yml", "halves.onnx"), dataset(tmp_path, "voc-like.yml"), settings=settings
    )
    assert record.failed == 0, record.failures
    assert record.metrics["miou"].value == 1 and record.class_names[15] == "class 15"


def test_the_example_of_enhancement_runs(tmp_path: Path, settings: Settings) -> None:
    """A model that answers with its input scores what bicubic enlargement does."""
    from PIL import Image

    manifests("enhancement.md", tmp_path)
    (tmp_path / "Set5").mkdir()
    across, down = np.meshgrid(np.arange(48), np.arange(40))
    waves = (127.5 + 100 * np.sin(across / 5) * np.cos(down / 7)).astype(np.uint8)
    Image.fromarray(np.stack([waves] * 3, axis=-1)).save(tmp_path / "Set5/waves.png")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    sides = [1, 1, "height", "width"]
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    write_model(
        tmp_path / "same.onnx",
        nodes,
        helper.make_tensor_value_info("x", kind, sides),
        helper.make_tensor_value_info("y", kind, sides),
    )
    record = evaluate(example(tmp_path, "vdsr-x2.yml", "same.onnx"), dataset(tmp_path, "set5.yml"), settings=settings)
    assert record.failed == 0, record.failures
    assert 35 < record.metrics["psnr"].value < 60 and record.metrics["ssim"].value > 0.95
