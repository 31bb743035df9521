"""OpenVINO, for real."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor import ultraface
from worker_package.predictor.arithmetic import picture, reference
from worker_package.predictor.conformance import Conformance, Files, batch

ov = pytest.importorskip("openvino")
pytest.importorskip("onnx")

from worker_package.predictor import onnx_models as models  # noqa: E402

FILES = Path(__file__).parent / "files"


class TestOnnx(Conformance):
    name = "openvino"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return models.classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        return models.one_step(folder, "GlobalMaxPool", ("n", 3, 512, 512), ("n", 3, 1, 1))


class TestIr(TestOnnx):
    """The same models in OpenVINO's own form."""

    def save(self, folder: Path, seed: int = 0) -> Files:
        return as_ir(folder, models.classifier(folder, seed)["graph"])

    def save_wide(self, folder: Path) -> Files:
        return as_ir(folder, TestOnnx.save_wide(self, folder)["graph"])

    def test_half_of_the_weights_is_refused(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        content = Path(files["weights"]).read_bytes()
        Path(files["weights"]).write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError):
            self.open(files)


def as_ir(folder: Path, path: str) -> Files:
    ov.save_model(ov.Core().read_model(path), str(folder / "ir.xml"), compress_to_fp16=False)
    return {"graph": str(folder / "ir.xml"), "weights": str(folder / "ir.bin")}


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["openvino"].resolve(options)
    return open_predictor(PredictorTask("openvino", files, resolved))


@pytest.mark.parametrize("options", [{"threads": 2}, {"threads": 2, "streams": 2}])
def test_threads_change_no_answer(tmp_path: Path, options: dict) -> None:
    files = models.classifier(tmp_path)
    with load(files) as one, load(files, **options) as many:
        assert np.allclose(one.run([batch(5)])[0], many.run([batch(5)])[0], rtol=1e-5, atol=1e-6)


def test_an_unknown_device_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"openvino 20\S+ has no device WarpDrive; it has .*CPU"):
        load(models.classifier(tmp_path), device="WarpDrive")


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    files = as_ir(tmp_path, models.classifier(tmp_path)["graph"])
    Path(files["weights"]).unlink()
    with pytest.raises(ModelError, match=r"the weights \(.bin\) of this OpenVINO IR are missing"):
        load({"graph": files["graph"]})


def test_files_need_no_names(tmp_path: Path) -> None:
    """In the cache a file is called by its digest."""
    files = as_ir(tmp_path, models.classifier(tmp_path)["graph"])
    anonymous = {"graph": tmp_path / "ab12", "weights": tmp_path / "cd34"}
    for role, path in anonymous.items():
        path.write_bytes(Path(files[role]).read_bytes())
    with load(files) as named, load({role: str(path) for role, path in anonymous.items()}) as plain:
        assert np.array_equal(named.run([batch(2)])[0], plain.run([batch(2)])[0])


@pytest.mark.parametrize("name", ["fixed.tflite", "frozen.pb", "saved_model"])
def test_models_of_tensorflow_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    path = FILES / name
    if path.is_file():
        path = tmp_path / "digest"
        path.write_bytes((FILES / name).read_bytes())
    with load({"graph": str(path)}) as predictor:
        assert predictor.inputs[0].element_type == "float32" and predictor.inputs[0].shape[1:] == (8, 8, 3)
        predictor.check([picture()])
        assert np.allclose(predictor.run([picture()])[0], reference(picture()), atol=1e-5)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_a_quantised_model_takes_and_gives_whole_numbers(kind: str) -> None:
    with load({"graph": str(FILES / (kind + ".tflite"))}) as predictor:
        assert (predictor.inputs[0].element_type, predictor.outputs[0].element_type) == (kind, kind)
        assert predictor.run([np.zeros((1, 8, 8, 3), kind)])[0].dtype == kind


def test_layers_pass_on_what_the_arithmetic_says(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(2)])
    active = next(value for value in inside.values() if value.shape == (2, 6, 8, 8) and value.min() >= 0)
    pooled = next(value for value in inside.values() if value.shape == (2, 6))
    assert np.allclose(active.mean((2, 3)), pooled, atol=1e-5)


@ultraface.needed
@pytest.mark.parametrize("name, layout", [("onnx", "NCHW"), ("tflite", "NHWC")])
def test_a_published_network_sees_the_known_faces(name: str, layout: str) -> None:
    path = ultraface.FOLDER / ("version-RFB-320_without_postprocessing." + name)
    with load({"graph": str(path)}) as predictor:
        assert ultraface.agrees(ultraface.faces(predictor, layout), 1e-4)


def test_layers_of_an_onnx_file_have_its_kinds_and_attributes(tmp_path: Path) -> None:
    """A comparison with another framework that reads the file sees what each layer was told, and its weights."""
    with load(models.classifier(tmp_path)) as predictor:
        layers = {passed.kind: passed for passed in predictor.layers([batch(2)])}
        assert layers["Conv"].attributes["pads"] == [1, 1, 1, 1] and layers["Conv"].takes == ["input"]
        node = predictor.graph().named(layers["Conv"].name)
        assert predictor.graph().weight(node.inputs[1]).shape == (6, 3, 3, 3)
        (end,) = predictor.ends().values()
        assert end in {passed.name for passed in layers.values()}


def test_layers_of_other_files_are_openvinos_own(tmp_path: Path) -> None:
    with load(as_ir(tmp_path, models.classifier(tmp_path)["graph"])) as predictor:
        assert "Convolution" in {passed.kind for passed in predictor.layers([batch(2)])}
        with pytest.raises(NotSupported):
            predictor.graph()
