"""Caffe2, for real: it came with PyTorch until 1.12, for instance with 1.7.1 on Python 3.8."""

from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch

pytest.importorskip("caffe2.python.workspace")

from caffe2.proto import caffe2_pb2  # noqa: E402
from caffe2.python.core import CreateOperator  # noqa: E402

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402
from worker_package.predictor.nets.caffe2 import save  # noqa: E402


def classifier(folder: Path, seed: int = 0, placeholder: tuple = (1, 3, 8, 8), active: str = "active") -> Files:
    random = np.random.default_rng(seed)
    weights = {
        "filter": random.normal(size=(6, 3, 3, 3)),
        "bias": random.normal(size=6),
        "last": random.normal(size=(10, 6)),
        "shift": random.normal(size=10),
    }
    operators = [
        CreateOperator("Conv", ["input", "filter", "bias"], ["maps"], kernel=3, pad=1),
        CreateOperator("Relu", ["maps"], [active]),
        CreateOperator("AveragePool", [active], ["pooled"], global_pooling=1),
        CreateOperator("FC", ["pooled", "last", "shift"], ["scores"]),
    ]
    return save(folder, operators, weights, placeholder)


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["caffe2"].resolve(options)
    return open_predictor(PredictorTask("caffe2", files, resolved))


class TestCaffe2(Conformance):
    name = "caffe2"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        pool = CreateOperator("MaxPool", ["input"], ["scores"], global_pooling=1)
        return save(folder, [pool], {}, (1, 3, 512, 512))

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """Caffe2 feeds by copying, and has no other way; twice would be too often."""
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert input_mib == 96 and grown_mib < input_mib * 1.5


def test_intermediate_outputs_are_those_of_the_layers(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(3)])
    assert list(inside) == ["maps", "active", "pooled", "scores"]
    assert inside["maps"].min() < 0
    assert np.array_equal(inside["active"], np.maximum(inside["maps"], 0))


def test_a_blob_that_is_overwritten_has_both_its_values(tmp_path: Path) -> None:
    with load(classifier(tmp_path, active="maps")) as predictor:
        inside = predictor.intermediates([batch(3)])
    assert list(inside) == ["maps", "maps/Relu", "pooled", "scores"]
    assert inside["maps"].min() < 0
    assert np.array_equal(inside["maps/Relu"], np.maximum(inside["maps"], 0))


def test_a_profile_names_the_operators(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        layers = predictor.profile([batch(2)])
    assert [(layer.name, layer.kind) for layer in layers] == [
        ("maps", "Conv"),
        ("active", "Relu"),
        ("pooled", "AveragePool"),
        ("scores", "FC"),
    ]
    assert layers[0].shapes == [[2, 6, 8, 8]]


def test_a_net_without_a_placeholder_takes_any_shape(tmp_path: Path) -> None:
    with load(classifier(tmp_path, placeholder=())) as predictor:
        assert predictor.inputs[0].describe() == {"name": "input", "element_type": "float32", "shape": None}
        for sides in ((8, 8), (5, 21)):
            assert predictor.run([np.ones((2, 3) + sides, np.float32)])[0].shape == (2, 10)


def test_a_lost_weight_is_named(tmp_path: Path) -> None:
    files = classifier(tmp_path)
    init = caffe2_pb2.NetDef.FromString(Path(files["weights"]).read_bytes())
    del init.op[1]
    Path(files["weights"]).write_bytes(init.SerializeToString())
    with pytest.raises(ModelError, match="the init net makes no value for bias"):
        load(files)


@pytest.mark.parametrize("content", [b"", b"garbage", bytes(range(256)) * 16])
def test_an_init_net_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    files = classifier(tmp_path)
    Path(files["weights"]).write_bytes(content)
    with pytest.raises(ModelError, match=r"Caffe2 \(torch 1\.\S+\): the init net"):
        load(files)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
def test_half_an_init_net_is_refused(tmp_path: Path, kept: float) -> None:
    files = classifier(tmp_path)
    content = Path(files["weights"]).read_bytes()
    Path(files["weights"]).write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ModelError):
        load(files)


def change(files: Files, kind: str) -> None:
    net = caffe2_pb2.NetDef.FromString(Path(files["graph"]).read_bytes())
    net.op[1].type = kind
    Path(files["graph"]).write_bytes(net.SerializeToString())


def test_an_unknown_operator_is_named(tmp_path: Path) -> None:
    files = classifier(tmp_path)
    change(files, "Wibble")
    with pytest.raises(ModelError, match=r"Caffe2 \(torch 1\.\S+\) cannot use the model: .*Wibble"):
        load(files)


@pytest.mark.parametrize("kind", ["Save", "Load", "Python", "CreateDB"])
def test_an_operator_that_reaches_outside_is_refused(tmp_path: Path, kind: str) -> None:
    files = classifier(tmp_path)
    change(files, kind)
    with pytest.raises(ModelError, match="reaches outside the model with the operator `%s`" % kind):
        load(files)


def test_a_predict_net_alone_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the predict net as `graph` and the init net as `weights`"):
        load({"graph": classifier(tmp_path)["graph"]})


def test_threads_are_set_once(tmp_path: Path) -> None:
    files = classifier(tmp_path)
    with load(files), pytest.raises(ModelError, match="sets its threads once in a process: here to 1, not to 2"):
        load(files, threads=2)
