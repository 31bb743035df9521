"""CNTK, for real: it needs Python 3.6 and OpenMPI's libraries by their old names; see the predictor."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of Linux distributions that it does not know, and of missing GPU libraries
    C = pytest.importorskip("cntk")

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402


def weight(random: np.random.Generator, *shape: int) -> "C.Parameter":
    return C.parameter(shape, init=random.normal(size=shape).astype(np.float32))


def classifier(folder: Path, seed: int = 0, two: bool = False) -> Files:
    random = np.random.default_rng(seed)
    given = C.input_variable((3, 8, 8), name="input")
    filtered = C.convolution(weight(random, 6, 3, 3, 3), given, auto_padding=[False, True, True], name="filtered")
    active = C.relu(C.plus(filtered, weight(random, 6, 1, 1), name="maps"), name="active")
    pooled = C.reshape(C.reduce_mean(active, axis=(1, 2), name="pooled"), (6,), name="flat")
    scores = C.times(pooled, weight(random, 6, 10), name="scores")
    model = C.combine([scores, C.negate(scores, name="negated")]) if two else scores
    return store(folder, model)


def store(folder: Path, model: "C.Function") -> Files:
    model.save(str(folder / "model.dnn"))
    return {"graph": str(folder / "model.dnn")}


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["cntk"].resolve(options)
    return open_predictor(PredictorTask("cntk", files, resolved))


class TestCNTK(Conformance):
    name = "cntk"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        given = C.input_variable((3, 512, 512), name="input")
        return store(folder, C.reduce_max(given, axis=(1, 2), name="scores"))

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """CNTK copies what it is given into a Value and packs that, whichever call is used."""
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert input_mib == 96 and grown_mib < input_mib * 2.5


def test_intermediate_outputs_are_those_of_the_layers(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(3)])
    assert list(inside) == ["filtered", "maps", "active", "pooled", "flat", "scores"]
    assert inside["maps"].min() < 0
    assert np.array_equal(inside["active"], np.maximum(inside["maps"], 0))
    assert np.allclose(inside["flat"], inside["active"].mean((2, 3)), atol=1e-5)


def test_a_profile_names_the_functions(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        layers = [(layer.name, layer.kind) for layer in predictor.profile([batch(2)])]
    assert layers == [
        ("filtered", "Convolution"),
        ("maps", "Plus"),
        ("active", "ReLU"),
        ("pooled", "ReduceElements"),
        ("flat", "Reshape"),
        ("scores", "Times"),
    ]


def test_a_model_may_have_several_outputs(tmp_path: Path) -> None:
    with load(classifier(tmp_path, two=True)) as predictor:
        assert [tensor.name for tensor in predictor.outputs] == ["scores", "negated"]
        scores, negated = predictor.run([batch(2)])
        assert np.array_equal(scores, -negated)
        assert {"scores", "negated"} <= set(predictor.intermediates([batch(2)]))


def test_a_refusal_names_the_release(tmp_path: Path) -> None:
    (tmp_path / "model.dnn").write_bytes(b"garbage")
    with pytest.raises(ModelError, match=r"CNTK 2\.\S+ cannot load the model: Failed to parse"):
        load({"graph": str(tmp_path / "model.dnn")})


def test_threads_are_set_once(tmp_path: Path) -> None:
    """Changing them kills the process."""
    files = classifier(tmp_path)
    with load(files):
        assert C.cntk_py.get_max_num_cputhreads() == 1
        with pytest.raises(ModelError, match="sets its threads once in a process: here to 1, not to 2"):
            load(files, threads=2)


def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path) -> None:
    if any(device.type() == C.device.DeviceKind.GPU for device in C.device.all_devices()):
        pytest.skip("there is a GPU")
    with pytest.raises(ModelError, match=r"CNTK 2\.\S+ has no device `cuda` here; it has cpu"):
        load(classifier(tmp_path), device="gpu")
