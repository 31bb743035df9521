"""ncnn, for real. Its files are a text and a row of numbers, so they are written here."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor import ultraface
from worker_package.predictor.conformance import Conformance, Files, batch
from worker_package.predictor.nets.ncnn import save

framework = pytest.importorskip("ncnn")
crashes_before_2026 = pytest.mark.skipif(
    framework.__version__ < "1.0.2026", reason="this ncnn crashes on it, and its worker with it"
)

CLASSIFIER = """7767517
5 5
Input        input  0 1 input 0=8 1=8 2=3
Convolution  maps   1 1 input maps 0=6 1=3 4=1 5=1 6=162
ReLU         active 1 1 maps active
Pooling      pooled 1 1 active pooled 0=1 4=1
InnerProduct scores 1 1 pooled scores 0=10 1=1 2=60
"""
WIDE = """7767517
2 2
Input        input  0 1 input 0=512 1=512 2=3
Pooling      scores 1 1 input scores 0=0 4=1
"""


def weights(seed: int) -> list:
    random = np.random.default_rng(seed)
    return [random.normal(size=shape).astype(np.float32) for shape in ((6, 3, 3, 3), 6, (10, 6), 10)]


def classifier(folder: Path, seed: int = 0) -> Files:
    kernel, bias, last, last_bias = weights(seed)
    plain = b"\0\0\0\0"  # float32 follows
    parts = [plain, kernel.tobytes(), bias.tobytes(), plain, last.tobytes(), last_bias.tobytes()]
    return save(folder, CLASSIFIER, b"".join(parts))


class TestNcnn(Conformance):
    name = "ncnn"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        return save(folder, WIDE, b"")

    def test_inputs_and_outputs_have_names_types_and_shapes(self, tmp_path: Path) -> None:
        """The shape of an output is not known before it is there."""
        with self.open(self.save(tmp_path)) as predictor:
            described = [tensor.describe() for tensor in [*predictor.inputs, *predictor.outputs]]
        assert described == [
            {"name": "input", "element_type": "float32", "shape": [None, 3, 8, 8]},
            {"name": "scores", "element_type": "float32", "shape": None},
        ]


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["ncnn"].resolve(options)
    return open_predictor(PredictorTask("ncnn", files, resolved))


def test_answers_are_those_of_the_arithmetic(tmp_path: Path) -> None:
    kernel, bias, last, last_bias = weights(0)
    padded = np.pad(batch(4), ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
    maps = sum(
        np.einsum("nchw,oc->nohw", padded[:, :, y : y + 8, x : x + 8], kernel[:, :, y, x])
        for y in range(3)
        for x in range(3)
    )
    expected = np.maximum(maps + bias[:, None, None], 0).mean((2, 3)) @ last.T + last_bias
    with load(classifier(tmp_path)) as predictor:
        assert np.allclose(predictor.run([batch(4)])[0], expected, atol=1e-4)


@pytest.mark.parametrize("options", [{"threads": 2}, {"winograd": False}])
def test_threads_and_methods_change_no_answer(tmp_path: Path, options: dict) -> None:
    files = classifier(tmp_path)
    with load(files) as plain, load(files, **options) as other:
        assert np.allclose(plain.run([batch(5)])[0], other.run([batch(5)])[0], rtol=1e-4, atol=1e-5)


def test_a_network_without_sizes_takes_any_shape(tmp_path: Path) -> None:
    files = classifier(tmp_path)
    Path(files["graph"]).write_text(CLASSIFIER.replace(" 0=8 1=8 2=3", ""))
    with load(files) as predictor:
        assert predictor.inputs[0].shape is None
        assert predictor.run([np.ones((2, 3, 5, 21), np.float32)])[0].shape == (2, 10)


@crashes_before_2026
@pytest.mark.parametrize("kept", [0, 1, 3, 100, 648, 672, 700])
def test_weights_that_are_cut_off_are_refused(tmp_path: Path, kept: int) -> None:
    files = classifier(tmp_path)
    content = Path(files["weights"]).read_bytes()
    Path(files["weights"]).write_bytes(content[:kept])
    with pytest.raises(ModelError, match=r"ncnn \S+ cannot load the model: the weights do not fit"):
        load(files)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("5 5\n", "4 5\n", "says 4 layers and 5 blobs and has 5 and 5"),
        pytest.param("Convolution ", "Convolvulus ", "does not take the .param file", marks=crashes_before_2026),
        ("1 1 maps active", "1 1 nothing active", "`active` takes a blob that no layer before it makes"),
        ("1 1 maps active", "9 9 maps active", "line 5 describes no layer"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    files = classifier(tmp_path)
    Path(files["graph"]).write_text(CLASSIFIER.replace(old, new))
    with pytest.raises(ModelError, match=message):
        load(files)


def test_layers_are_named_as_in_the_file(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        layers = predictor.profile([batch(2)])
        inside = predictor.intermediates([batch(2)])
    assert [(layer.name, layer.kind) for layer in layers][:2] == [("maps", "Convolution"), ("active", "ReLU")]
    assert list(inside) == ["maps", "active", "pooled", "scores"]
    assert np.array_equal(inside["active"], np.maximum(inside["maps"], 0))


@ultraface.needed
def test_a_published_network_sees_the_known_faces() -> None:
    files = {"graph": str(ultraface.FOLDER / "RFB-320.param"), "weights": str(ultraface.FOLDER / "RFB-320.bin")}
    with load(files) as predictor:
        assert ultraface.agrees(ultraface.faces(predictor), 1e-4)
