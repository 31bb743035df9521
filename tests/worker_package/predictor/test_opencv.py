"""OpenCV's DNN module, for real: OpenCV 4 and 5."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor import nets, ultraface
from worker_package.predictor.arithmetic import LAST_BIAS, picture, reference
from worker_package.predictor.conformance import Conformance, Files, batch
from worker_package.predictor.nets.caffe import save as caffe
from worker_package.predictor.nets.network import conformance

cv2 = pytest.importorskip("cv2")
pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from worker_package.predictor import onnx_models as models  # noqa: E402

FILES = Path(__file__).parent / "files"
IS_OLD = int(cv2.__version__.split(".")[0]) < 5
old_only = pytest.mark.skipif(not IS_OLD, reason="OpenCV 5 reads no Caffe models")
READS_TFLITE = hasattr(cv2.dnn, "readNetFromTFLite")
new_only = pytest.mark.skipif(IS_OLD, reason="this is about OpenCV 5")


class OpenCvConformance(Conformance):
    name = "opencv"
    exact = False

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """It is copied once, into the net's own memory: `setInput` does nothing else."""
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert grown_mib < 1.5 * input_mib


class TestOnnx(OpenCvConformance):
    def save(self, folder: Path, seed: int = 0) -> Files:
        return models.classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        return models.one_step(folder, "GlobalMaxPool", ("n", 3, 512, 512), ("n", 3, 1, 1))


PROTOTXT = """
name: "classifier"  # by hand
layer { name: "input" type: "Input" top: "input" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "maps" type: "Convolution" bottom: "input" top: "maps"
  convolution_param { num_output: 6 kernel_size: 3 pad: 1 } }
layer { name: "active" type: "ReLU" bottom: "maps" top: "active" }
layer { name: "pooled" type: "Pooling" bottom: "active" top: "pooled" pooling_param { pool: AVE global_pooling: true } }
layer { name: "scores" type: "InnerProduct" bottom: "pooled" top: "scores" inner_product_param { num_output: 10 } }
"""
WIDE_PROTOTXT = """
input: "input" input_dim: 1 input_dim: 3 input_dim: 512 input_dim: 512
layer { name: "scores" type: "Pooling" bottom: "input" top: "scores" pooling_param { pool: MAX global_pooling: true } }
"""


@old_only
class TestCaffe(OpenCvConformance):
    def save(self, folder: Path, seed: int = 0) -> Files:
        random = np.random.default_rng(seed)
        shapes = {"maps": [(6, 3, 3, 3), (6,)], "scores": [(10, 6), (10,)]}
        return caffe(folder, PROTOTXT, {key: [random.normal(size=each) for each in shapes[key]] for key in shapes})

    def save_wide(self, folder: Path) -> Files:
        return caffe(folder, WIDE_PROTOTXT, {})

    def test_half_of_the_weights_is_refused(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        content = Path(files["weights"]).read_bytes()
        Path(files["weights"]).write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError):
            self.open(files)

    def test_layers_are_named_as_in_the_file(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        with self.open(files) as predictor:
            inside = predictor.intermediates([batch(2)])
        assert list(inside) == ["maps", "active", "pooled", "scores"]
        assert np.array_equal(inside["active"], np.maximum(inside["maps"], 0))


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["opencv"].resolve(options)
    return open_predictor(PredictorTask("opencv", files, resolved))


def channels_first() -> np.ndarray:
    return np.ascontiguousarray(picture().transpose(0, 3, 1, 2))


@new_only
def test_caffe_models_are_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="OpenCV 5.* does not read Caffe models any more; OpenCV 4 does"):
        load(caffe(tmp_path, WIDE_PROTOTXT, {}))


def test_a_frozen_graph_takes_pictures_channels_first() -> None:
    with load({"graph": str(FILES / "frozen.pb")}) as predictor:
        assert predictor.inputs[0].describe() == {"name": "input", "element_type": "float32", "shape": [None, 3, 8, 8]}
        assert np.allclose(predictor.run([channels_first()])[0], reference(picture()), atol=1e-4)


@pytest.mark.skipif(READS_TFLITE, reason="this is about OpenCV before 4.8")
def test_tensorflow_lite_models_are_refused_with_words() -> None:
    with pytest.raises(ModelError, match=r"OpenCV \S+ does not read TensorFlow Lite models; OpenCV 4.8 and newer do"):
        load({"graph": str(FILES / "fixed.tflite")})


@pytest.mark.skipif(not READS_TFLITE, reason="this OpenCV does not read TensorFlow Lite models")
def test_the_bias_that_opencv_4_drops_is_a_known_defect() -> None:
    files = {"graph": str(FILES / "fixed.tflite")}
    if IS_OLD:
        with pytest.raises(
            ModelError, match=r"OpenCV 4\S+ computes this model wrongly, a known defect: it drops the bias of FULLY"
        ):
            load(files)
    with load(files, allow_known_defects=True) as predictor:
        answer = predictor.run([channels_first()])[0]
    dropped = LAST_BIAS if IS_OLD else 0
    assert np.allclose(answer + dropped, reference(picture()), atol=1e-4)


@new_only
def test_the_wrong_layer_that_the_new_engine_answers_with_is_a_known_defect(tmp_path: Path) -> None:
    """What we avoid, provoked: we ask for the first ReLU, and the answer has the shape of a layer near the end."""
    network = conformance()
    files = nets.write("onnx", network, tmp_path)
    question = np.random.RandomState(0).uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32)
    truth = network.values(question)["relu1"]
    net = cv2.dnn.readNetFromONNX(files["graph"], engine=cv2.dnn.ENGINE_NEW)
    net.setInput(question)
    assert truth.shape == (1, 8, 64, 64) and net.forward("relu1").shape == (1, 16)
    for engine, name in (("auto", "relu1"), ("classic", "onnx_node!relu1"), ("new", "relu1")):
        with load(files, engine=engine) as predictor:
            inside = predictor.intermediates([question])
        assert np.allclose(inside[name], truth, atol=1e-4)


@new_only
def test_layers_are_read_from_the_engine_that_answers(tmp_path: Path) -> None:
    """The classic engine leaves padding out of an average whatever the file says; the new one does as it says."""
    options = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}
    nodes = [
        helper.make_node("AveragePool", ["input"], ["pooled"], "pool", **options),
        helper.make_node("Neg", ["pooled"], ["scores"]),
    ]
    files = models.save(
        tmp_path, nodes, [models.tensor("input", ("n", 3, 8, 8))], [models.tensor("scores", ("n", 3, 4, 4))], opset=15
    )
    with load(files) as new, load(files, engine="classic") as classic:
        (passed, last), (answer,) = new.layers([batch(2)]), new.run([batch(2)])
        assert (passed.name, passed.kind, passed.layer, passed.takes) == ("pooled", "AveragePool", "pool", ["input"])
        assert passed.attributes["count_include_pad"] == 1
        assert np.array_equal(last.value, answer) and np.array_equal(passed.value, -answer)
        assert not np.allclose(list(classic.intermediates([batch(2)]).values())[-1], answer, atol=1e-3)


@new_only
def test_a_model_for_the_new_engine_alone_is_looked_into(tmp_path: Path) -> None:
    nodes = [helper.make_node("Neg", ["input"], ["less"]), helper.make_node("CastLike", ["less", "input"], ["scores"])]
    shapes = [models.tensor(name, ("n", 3, 8, 8)) for name in ("input", "scores")]
    files = models.save(tmp_path, nodes, shapes[:1], shapes[1:], opset=15)
    with load(files) as predictor:
        assert np.array_equal(predictor.run([batch(2)])[0], -batch(2))
        assert np.array_equal(predictor.intermediates([batch(2)])["less"], -batch(2))


@new_only
def test_layers_that_neither_engine_shows_are_a_known_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new engine takes the file and not the same with all tensors declared, such as one above 2 GiB."""
    nodes = [helper.make_node("Neg", ["input"], ["less"]), helper.make_node("CastLike", ["less", "input"], ["scores"])]
    shapes = [models.tensor(name, ("n", 3, 8, 8)) for name in ("input", "scores")]
    files = models.save(tmp_path, nodes, shapes[:1], shapes[1:], opset=15)
    whole = cv2.dnn.readNetFromONNX

    def read(model: object, **options: object) -> object:
        if isinstance(model, str):
            return whole(model, **options)
        raise cv2.error("too large")

    monkeypatch.setattr(cv2.dnn, "readNetFromONNX", read)
    with load(files) as predictor:
        assert np.array_equal(predictor.run([batch(2)])[0], -batch(2))
        with pytest.raises(NotSupported, match=r"OpenCV 5\S+ has a known defect: `forward\(name\)`"):
            predictor.intermediates([batch(2)])


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_a_quantised_model_is_refused(kind: str) -> None:
    with pytest.raises(ModelError, match="computes in float32, input .* takes %s" % kind):
        load({"graph": str(FILES / (kind + ".tflite"))})


def test_threads_and_methods_change_no_answer(tmp_path: Path) -> None:
    files = models.classifier(tmp_path)
    for options in ({"threads": 2}, {"winograd": False}):
        with load(files) as plain, load(files, **options) as other:
            assert np.allclose(plain.run([batch(5)])[0], other.run([batch(5)])[0], rtol=1e-4, atol=1e-5)


@new_only
def test_engines_agree(tmp_path: Path) -> None:
    files = models.classifier(tmp_path)
    with load(files, engine="classic") as classic, load(files, engine="new") as new:
        assert np.allclose(classic.run([batch(5)])[0], new.run([batch(5)])[0], rtol=1e-4, atol=1e-5)


def test_opencv_4_has_one_engine(tmp_path: Path) -> None:
    if not IS_OLD:
        pytest.skip("this is about OpenCV 4")
    with pytest.raises(ModelError, match="has the classic engine only"):
        load(models.classifier(tmp_path), engine="new")


def test_intermediate_outputs_have_the_shapes_of_their_layers(tmp_path: Path) -> None:
    """With OpenCV 5's new engine `forward('maps')` has another shape; we declare it as an output."""
    with load(models.classifier(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(2)])
    maps, active = (next(value for name, value in inside.items() if end in name) for end in ("maps", "active"))
    assert maps.shape == (2, 6, 8, 8) and np.array_equal(active, np.maximum(maps, 0))


def test_outputs_keep_the_files_order(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path, names=("scores", "negated"))) as predictor:
        assert [output.name for output in predictor.outputs] == ["scores", "negated"]
        scores, negated = predictor.run([batch(2)])
    assert np.array_equal(scores, -negated)


@ultraface.needed
def test_a_published_network_sees_the_known_faces() -> None:
    files = {"graph": str(ultraface.FOLDER / "version-RFB-320_without_postprocessing.onnx")}
    with load(files) as predictor:
        assert [output.name for output in predictor.outputs] == ["scores", "boxes"]
        assert ultraface.agrees(ultraface.faces(predictor), 1e-4)


@old_only
@ultraface.needed
def test_a_published_network_of_caffe_sees_the_known_faces() -> None:
    files = {"graph": "RFB-320.prototxt", "weights": "RFB-320.caffemodel"}
    with load({role: str(ultraface.FOLDER / name) for role, name in files.items()}) as predictor:
        assert ultraface.agrees(ultraface.faces(predictor), 1e-4)
