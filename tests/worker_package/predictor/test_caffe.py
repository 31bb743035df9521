"""Caffe, for real: Debian bullseye's python3-caffe. The models are written without it, as text and bare protobuf."""

from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch
from worker_package.predictor.nets.caffe import caffemodel, save

pytest.importorskip("caffe")

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402

NETWORK = """
name: "tiny"
layer { name: "data" type: "Input" top: "input" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "maps" type: "Convolution" bottom: "input" top: "maps"
        convolution_param { num_output: 6 kernel_size: 3 pad: 1 } }
layer { name: "active" type: "ReLU" bottom: "maps" top: "active" }
layer { name: "pooled" type: "Pooling" bottom: "active" top: "pooled" pooling_param { pool: AVE global_pooling: true } }
layer { name: "scores" type: "InnerProduct" bottom: "pooled" top: "scores" inner_product_param { num_output: 10 } }
"""
POOL = """
layer { name: "data" type: "Input" top: "input" input_param { shape { dim: 1 dim: 3 dim: 512 dim: 512 } } }
layer { name: "scores" type: "Pooling" bottom: "input" top: "scores" pooling_param { pool: MAX global_pooling: true } }
"""


def store(folder: Path, network: str = NETWORK, seed: int = 0) -> Files:
    random = np.random.default_rng(seed)
    layers = {
        "maps": [random.normal(size=(6, 3, 3, 3)), random.normal(size=6)],
        "scores": [random.normal(size=(10, 6)), random.normal(size=10)],
    }
    return save(folder, network, layers if "maps" in network else {})


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["caffe"].resolve(options)
    return open_predictor(PredictorTask("caffe", files, resolved))


class TestCaffe(Conformance):
    name = "caffe"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return store(folder, seed=seed)

    def save_wide(self, folder: Path) -> Files:
        return store(folder, POOL)

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """Caffe computes in blobs of its own, so the question is copied into one, once."""
        program = (
            "subject, x = predictor(), np.ones((32, 3, 512, 512), 'float32')\n"
            "subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps([x.nbytes >> 20, peak_mib() - before]))"
        )
        input_mib, grown_mib = self.elsewhere(program, self.save_wide(tmp_path))
        assert input_mib == 96 and grown_mib < input_mib * 1.5


def test_answers_are_those_of_the_arithmetic(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    filters, bias = random.normal(size=(6, 3, 3, 3)), random.normal(size=6)
    last, shift = random.normal(size=(10, 6)), random.normal(size=10)
    padded = np.pad(batch(2).astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="constant")
    maps = sum(
        np.einsum("nchw,fc->nfhw", padded[:, :, y : y + 8, x : x + 8], filters[:, :, y, x])
        for y in range(3)
        for x in range(3)
    )
    active = np.maximum(maps + bias[:, None, None], 0)
    with load(store(tmp_path)) as predictor:
        assert np.allclose(predictor.run([batch(2)])[0], active.mean((2, 3)) @ last.T + shift, atol=1e-5)
        inside = predictor.intermediates([batch(2)])
    assert list(inside) == ["maps", "active", "pooled", "scores"]
    assert np.allclose(inside["active"], active, atol=1e-5)


def test_a_blob_that_is_overwritten_has_both_its_values(tmp_path: Path) -> None:
    with load(store(tmp_path, NETWORK.replace('"active"', '"maps"', 2).replace('"active"', '"maps"', 1))) as predictor:
        inside = predictor.intermediates([batch(3)])
    overwritten = [name for name in inside if name.startswith("maps/")]
    assert len(overwritten) == 1 and inside["maps"].min() < 0
    assert np.array_equal(inside[overwritten[0]], np.maximum(inside["maps"], 0))


def test_a_profile_names_the_layers(tmp_path: Path) -> None:
    with load(store(tmp_path)) as predictor:
        layers = predictor.profile([batch(2)])
    assert [(layer.name, layer.kind) for layer in layers] == [
        ("maps", "Convolution"),
        ("active", "ReLU"),
        ("pooled", "Pooling"),
        ("scores", "InnerProduct"),
    ]
    assert layers[0].shapes == [[2, 6, 8, 8]]


def test_the_older_way_of_naming_an_input_is_read(tmp_path: Path) -> None:
    inline = 'input: "input" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }'
    lines = [line for line in NETWORK.splitlines() if '"Input"' not in line]
    with load(store(tmp_path, "\n".join([inline] + lines))) as predictor:
        assert predictor.inputs[0].shape == (None, 3, 8, 8)


def test_a_fixed_batch_size_is_known(tmp_path: Path) -> None:
    """A Reshape to sizes that hold for one batch only: Caffe would end the process when asked for another."""
    reshape = """layer { name: "fixed" type: "Reshape" bottom: "pooled" top: "fixed"
                         reshape_param { shape { dim: 1 dim: 6 } } }"""
    network = NETWORK.replace(
        'layer { name: "scores" type: "InnerProduct" bottom: "pooled"',
        reshape + 'layer { name: "scores" type: "InnerProduct" bottom: "fixed"',
    )
    with load(store(tmp_path, network)) as predictor:
        assert predictor.inputs[0].shape == (1, 3, 8, 8)
        assert predictor.run([batch(1)])[0].shape == (1, 10)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ReLU"', '"Wibble"', r"Caffe 1\.\S+ cannot load the model: .*Unknown layer type: Wibble"),
        ('bottom: "active"', 'bottom: "nothing"', "Unknown bottom blob 'nothing'"),
        ("kernel_size: 3", "kernel_size: 5", "Cannot copy param 0 weights from layer 'maps'"),
        ('"ReLU"', '"Python"', "reaches outside the model with a layer of type `Python`"),
        ('"Input"', '"HDF5Data"', "reaches outside the model with a layer of type `HDF5Data`"),
        ("num_output", "num_outputs", r"Caffe 1\.\S+: the network is no prototxt: .*num_outputs"),
    ],
)
def test_what_would_end_the_process_is_refused_with_words(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(store(tmp_path, NETWORK.replace(old, new)))


@pytest.mark.parametrize("content", [b"garbage", bytes(range(256)) * 16])
def test_weights_that_are_none_are_refused(tmp_path: Path, content: bytes) -> None:
    files = store(tmp_path)
    Path(files["weights"]).write_bytes(content)
    with pytest.raises(ModelError, match=r"Caffe 1\.\S+: the weights are no caffemodel"):
        load(files)


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.95])
def test_half_the_weights_are_refused(tmp_path: Path, kept: float) -> None:
    files = store(tmp_path)
    content = Path(files["weights"]).read_bytes()
    Path(files["weights"]).write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ModelError):
        load(files)


def test_a_layer_without_weights_is_not_filled_with_random_numbers(tmp_path: Path) -> None:
    files = store(tmp_path)
    Path(files["weights"]).write_bytes(caffemodel({"maps": [np.ones((6, 3, 3, 3)), np.ones(6)]}))
    with pytest.raises(ModelError, match="the caffemodel has no weights for scores"):
        load(files)


def test_a_network_alone_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the network as `graph` .prototxt. and its `weights` .caffemodel."):
        load({"graph": store(tmp_path)["graph"]})


def test_threads_change_no_answer(tmp_path: Path) -> None:
    files = store(tmp_path)
    with load(files) as one:
        alone = one.run([batch(5)])[0]
    try:
        many = load(files, threads=2)
    except ModelError as error:
        pytest.skip(str(error))
    with many:
        assert np.allclose(alone, many.run([batch(5)])[0], rtol=1e-5, atol=1e-6)
