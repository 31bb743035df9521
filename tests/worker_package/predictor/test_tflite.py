"""TensorFlow Lite, for real: LiteRT, tflite-runtime, or TensorFlow's own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor import ultraface
from worker_package.predictor.arithmetic import LAST, picture, reference
from worker_package.predictor.conformance import Conformance, Files, batch


def is_installed() -> bool:
    for module in ("ai_edge_litert", "tflite_runtime", "tensorflow"):
        try:
            __import__(module)
            return True
        except ImportError:
            continue
    return False


if not is_installed():
    pytest.skip("there is no TensorFlow Lite here", allow_module_level=True)

FILES = Path(__file__).parent / "files"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).resolve().parents[4] / "shared") / "models"


class TestTflite(Conformance):
    name = "tflite"
    input_name = "serving_default_input:0"
    output_name = "PartitionedCall:0"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        content = (FILES / "classifier.tflite").read_bytes()
        weights = LAST.T.tobytes()
        assert weights in content
        other = np.random.default_rng(seed).normal(size=(10, 6)).astype(np.float32).tobytes()
        (folder / "model.tflite").write_bytes(content.replace(weights, other))
        return {"graph": str(folder / "model.tflite")}

    def save_wide(self, folder: Path) -> Files:
        (folder / "wide.tflite").write_bytes((FILES / "wide.tflite").read_bytes())
        return {"graph": str(folder / "wide.tflite")}

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """It is copied once, into the interpreter's own memory: there is no other way in."""
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert grown_mib < 1.5 * input_mib

    @pytest.fixture(autouse=True)
    def _large_blocks_go_back_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By itself glibc keeps some of the interpreters' large blocks in pieces, of LiteRT alone just as of ours:
        up to five inputs in fifty lives. So told it keeps none, and whatever grows is a leak."""
        monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(1 << 20))


def load(path: Path, **options: object) -> Predictor:
    resolved = PREDICTORS["tflite"].resolve(options)
    return open_predictor(PredictorTask("tflite", {"graph": str(path)}, resolved))


def test_answers_are_those_of_the_arithmetic() -> None:
    with load(FILES / "fixed.tflite") as predictor:
        assert np.allclose(predictor.run([picture()])[0], reference(picture()), atol=1e-5)


def test_a_batch_size_that_the_model_fixes_is_fixed() -> None:
    with load(FILES / "fixed.tflite") as predictor:
        assert predictor.inputs[0].shape == (1, 8, 8, 3)
        with pytest.raises(ModelError, match=r"takes the shape \[1, 8, 8, 3\], the tensor has \[2, 8, 8, 3\]"):
            predictor.check([np.zeros((2, 8, 8, 3), np.float32)])


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_a_quantised_model_takes_and_gives_whole_numbers(kind: str) -> None:
    with load(FILES / (kind + ".tflite")) as predictor:
        assert (predictor.inputs[0].element_type, predictor.outputs[0].element_type) == (kind, kind)
        answer = predictor.run([np.zeros((1, 8, 8, 3), kind)])[0]
        assert answer.dtype == kind
        with pytest.raises(ModelError, match="takes %s, the tensor is float32" % kind):
            predictor.check([picture()])


@pytest.mark.parametrize("options", [{"threads": 2}, {"xnnpack": False}, {"xnnpack": False, "threads": 4}])
def test_threads_and_kernels_change_no_answer(tmp_path: Path, options: dict) -> None:
    path = Path(TestTflite().save(tmp_path)["graph"])
    with load(path) as plain, load(path, **options) as other:
        assert np.allclose(plain.run([batch(5)])[0], other.run([batch(5)])[0], rtol=1e-5, atol=1e-5)


def test_batches_may_change_their_size_back_and_forth(tmp_path: Path) -> None:
    with load(Path(TestTflite().save(tmp_path)["graph"])) as predictor:
        answers = [predictor.run([batch(samples)])[0] for samples in (3, 1, 3, 7, 1)]
    assert np.allclose(answers[0], answers[2]) and np.allclose(answers[3][:1], answers[4], rtol=1e-5, atol=1e-6)


def test_layers_pass_on_what_the_arithmetic_says() -> None:
    with load(FILES / "fixed.tflite") as predictor:
        inside = predictor.intermediates([picture()])
    assert len(inside) == 3  # convolution with ReLU, mean, scores
    maps, pooled, scores = inside.values()
    assert maps.shape == (1, 8, 8, 6) and np.allclose(maps.mean((1, 2)), pooled.reshape(1, 6), atol=1e-5)
    assert np.allclose(scores, reference(picture()), atol=1e-5)


def test_layers_are_the_kernels_that_ran() -> None:
    with load(FILES / "fixed.tflite") as fast, load(FILES / "fixed.tflite", xnnpack=False) as plain:
        if not fast._version.startswith("LiteRT"):
            with pytest.raises(NotSupported, match="LiteRT alone profiles layers"):
                fast.profile([picture()])
            return
        kinds = [layer.kind for layer in fast.profile([picture()])]
        assert any("Convolution" in kind for kind in kinds) and any("Fully Connected" in kind for kind in kinds)
        assert [layer.kind for layer in plain.profile([picture()])] == ["CONV_2D", "MEAN", "FULLY_CONNECTED"]


def test_noise_in_a_file_ends_no_process(tmp_path: Path) -> None:
    """tflite-runtime follows offsets unchecked: without our look at them first most of these are its last."""
    program = (
        "import sys\n"
        "from mlmodelscope_worker.predictor import PREDICTORS, ModelError\n"
        "for path in sys.argv[1:]:\n"
        "    try: PREDICTORS['tflite'].function({'graph': path})\n"
        "    except ModelError: pass\n"
        "print('alive')"
    )
    content, paths = (FILES / "fixed.tflite").read_bytes(), []
    random = np.random.default_rng(1)
    for number in range(20):
        noisy = np.frombuffer(content, np.uint8).copy()
        noisy[random.integers(8, len(noisy), 20)] = random.integers(0, 256, 20)
        paths.append(tmp_path / ("%d.tflite" % number))
        paths[-1].write_bytes(noisy.tobytes())
    command = [sys.executable, "-c", program] + [str(path) for path in paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True)
    assert (done.returncode, done.stdout.strip()) == (0, "alive")


@pytest.mark.skipif(not (SHARED / "coral").is_dir(), reason="needs the development data folder")
@pytest.mark.parametrize("side, width, least", [(128, "0.25", 5), (192, "0.75", 10)])
def test_published_quantised_models_know_what_they_see(side: int, width: str, least: int) -> None:
    image = pytest.importorskip("PIL.Image")
    pictures = sorted((SHARED.parent / "data" / "imagenet-sample-images").glob("*.[jJ]*"))
    right = 0
    with load(SHARED / "coral" / ("mobilenet_v1_%s_%d_quant.tflite" % (width, side))) as predictor:
        assert predictor.inputs[0].describe() == {"name": "input", "element_type": "uint8", "shape": [1, side, side, 3]}
        for index in range(0, 1000, 50):  # one picture a class, sorted; class 0 is the background
            with image.open(str(pictures[index])) as opened:
                across, down = opened.size
                box = (across / 16, down / 16, across * 15 / 16, down * 15 / 16)
                seen = opened.convert("RGB").resize((side, side), image.BILINEAR, box)
            scores = predictor.run([np.asarray(seen)[None]])[0]
            assert scores.shape == (1, 1001) and scores.dtype == np.uint8
            right += int(scores[0].argmax() == index + 1)
    assert right >= least


@ultraface.needed
def test_a_published_network_sees_the_known_faces() -> None:
    with load(ultraface.FOLDER / "version-RFB-320_without_postprocessing.tflite") as predictor:
        assert predictor.inputs[0].shape == (None, 240, 320, 3)
        assert ultraface.agrees(ultraface.faces(predictor, "NHWC"), 1e-4)
