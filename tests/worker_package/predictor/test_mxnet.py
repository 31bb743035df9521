"""MXNet, for real; it has wheels for Python 3.11 and older, and wants numpy below 1.24."""

import json
from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor import nets
from worker_package.predictor.conformance import Conformance, Files, batch, generator
from worker_package.predictor.nets.network import conformance

mx = pytest.importorskip("mxnet")

from mlmodelscope_worker.messages import PredictorTask  # noqa: E402
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.predictor.mxnet import can_fuse  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402

fuses = pytest.mark.skipif(not can_fuse(mx), reason="this MXNet cannot fuse operators")


PICTURES = np.random.RandomState(0).uniform(-1, 1, (2, 3, 64, 64)).astype(np.float32)


def store(folder: Path, symbol: "mx.sym.Symbol", shape: tuple, seed: int = 0, label: str = "") -> Files:
    random = generator(seed)
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(input=shape)[0]))
    weights = {
        "arg:" + name: mx.nd.array(random.normal(size=size))
        for name, size in shapes.items()
        if name not in ("input", label)
    }
    files = {"graph": str(folder / "model-symbol.json"), "weights": str(folder / "model-0000.params")}
    symbol.save(files["graph"])
    mx.nd.save(files["weights"], weights)
    return files


def maps(declared: tuple = (0, 3, 8, 8)) -> "mx.sym.Symbol":
    given = mx.sym.Variable("input", shape=declared) if declared else mx.sym.Variable("input")
    filtered = mx.sym.Convolution(given, kernel=(3, 3), pad=(1, 1), num_filter=6, name="maps")
    return mx.sym.Activation(filtered, act_type="relu", name="active")


def scores(active: "mx.sym.Symbol") -> "mx.sym.Symbol":
    pooled = mx.sym.Pooling(active, global_pool=True, pool_type="avg", kernel=(1, 1), name="pooled")
    return mx.sym.FullyConnected(mx.sym.Flatten(pooled, name="flat"), num_hidden=10, name="scores")


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["mxnet"].resolve(options)
    return open_predictor(PredictorTask("mxnet", files, resolved))


class TestMXNet(Conformance):
    name = "mxnet"
    output_name = "scores_output"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return store(folder, scores(maps()), (1, 3, 8, 8), seed)

    def save_wide(self, folder: Path) -> Files:
        given = mx.sym.Variable("input", shape=(0, 3, 512, 512))
        pooled = mx.sym.Pooling(given, global_pool=True, pool_type="max", kernel=(1, 1), name="scores")
        return store(folder, pooled, (1, 3, 512, 512))

    @pytest.mark.skipif(not hasattr(mx.nd, "from_numpy"), reason="MXNet before 1.5 copies what it is given")
    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        super().test_a_large_input_is_not_copied(tmp_path)


def test_intermediate_outputs_are_those_of_the_layers(tmp_path: Path) -> None:
    """The defect of MXNet's MKLDNN fusion: a ReLU's output that is negative."""
    for options in ({}, {"subgraph_backend": "MKLDNN"}) if can_fuse(mx) else ({},):
        with load(store(tmp_path, scores(maps()), (1, 3, 8, 8)), **options) as predictor:
            inside = predictor.intermediates([batch(3)])
        assert sorted(inside) == ["active_output", "flat_output", "maps_output", "pooled_output", "scores_output"]
        assert inside["maps_output"].min() < 0
        assert np.array_equal(inside["active_output"], np.maximum(inside["maps_output"], 0))
        assert np.allclose(inside["pooled_output"], inside["active_output"].mean((2, 3), keepdims=True), atol=1e-5)


def test_a_profile_names_the_nodes_of_the_symbol(tmp_path: Path) -> None:
    with load(store(tmp_path, scores(maps()), (1, 3, 8, 8))) as predictor:
        layers = [(layer.name, layer.kind) for layer in predictor.profile([batch(2)])]
        again = [(layer.name, layer.kind) for layer in predictor.profile([batch(2)])]
    assert layers == again
    assert [each for each in layers if each[0] != each[1]] == [
        ("maps", "Convolution"),
        ("active", "Activation"),
        ("pooled", "Pooling"),
        ("flat", "Flatten"),
        ("scores", "FullyConnected"),
    ]


@fuses
def test_fusion_changes_no_answer(tmp_path: Path) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    with load(files) as plain, load(files, subgraph_backend="MKLDNN") as fused:
        assert np.allclose(plain.run([batch(5)])[0], fused.run([batch(5)])[0], rtol=1e-4, atol=1e-5)
        kinds = [layer.kind for layer in fused.profile([batch(2)])]
        assert "_sg_mkldnn_conv" in kinds and "Activation" not in kinds


DEFECT = "known defect: its MKLDNN fusion computes a model wrongly where .* In this one it changes `%s` by up to"


@fuses
def test_fusion_is_refused_where_an_output_would_be_wrong(tmp_path: Path) -> None:
    files = nets.write("mxnet-inside", conformance(), tmp_path)
    names = ["conv2_output", "relu2_output", "probabilities_output"]
    with load(files) as plain:
        assert [tensor.name for tensor in plain.outputs] == names
        seen, truth = plain.run([PICTURES]), conformance().values(PICTURES)
    for name, answer in zip(names, seen):
        assert np.allclose(answer, truth[name[: -len("_output")]], atol=1e-5)
    with pytest.raises(ModelError, match=DEFECT % "relu2_output"):
        load(files, subgraph_backend="MKLDNN")


@fuses
def test_fusion_is_refused_where_a_layer_inside_would_be_wrong(tmp_path: Path) -> None:
    """One output alone is no safety: this adds a convolution to its own ReLU."""
    given = maps()
    filtered = given.get_internals()["maps_output"]
    files = store(tmp_path, scores(mx.sym.elemwise_add(filtered, given, name="sum")), (1, 3, 8, 8))
    with pytest.raises(ModelError, match=DEFECT % "scores_output"):
        load(files, subgraph_backend="MKLDNN")


@fuses
def test_fusion_is_used_where_several_outputs_are_right(tmp_path: Path) -> None:
    active = maps()
    files = store(tmp_path, mx.sym.Group([active, scores(active)]), (1, 3, 8, 8))
    with load(files) as plain, load(files, subgraph_backend="MKLDNN") as fused:
        for right, seen in zip(plain.run([batch(2)]), fused.run([batch(2)])):
            assert np.allclose(right, seen, rtol=1e-4, atol=1e-5)


@fuses
def test_fusion_that_cannot_be_tried_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="fusion must be tried out, and the symbol does not say its inputs' shapes"):
        load(store(tmp_path, scores(maps(declared=())), (1, 3, 8, 8)), subgraph_backend="MKLDNN")


@fuses
def test_the_defect_of_fusion_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What we avoid, provoked: MXNet binds by itself, with the backend that is its default.

    Nothing of that reaches the predictor, whatever the environment says.
    """
    files = nets.write("mxnet-inside", conformance(), tmp_path)
    np.save(str(tmp_path / "pictures.npy"), PICTURES)
    program = (
        "import mxnet as mx; symbol, weights = mx.sym.load(files['graph']), mx.nd.load(files['weights'])\n"
        "x = np.load(%r)\n"
        "bound = symbol.simple_bind(mx.cpu(), grad_req='null', input=x.shape)\n"
        "bound.copy_params_from({name[4:]: value for name, value in weights.items()})\n"
        "raw = [each.asnumpy() for each in bound.forward(is_train=False, input=mx.nd.array(x))]\n"
        "ours = predictor().run([x])\n"
        "print(json.dumps([[each.tolist() for each in answers] for answers in (raw, ours)]))"
    ) % str(tmp_path / "pictures.npy")
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "MKLDNN")
    raw, ours = TestMXNet().elsewhere(program, files)
    truth = conformance().values(PICTURES)
    assert np.min(raw[1]) < 0  # a ReLU's output
    assert abs(raw[2] - truth["probabilities"]).max() > 0.1
    for place, name in enumerate(("conv2", "relu2", "probabilities")):
        assert np.allclose(ours[place], truth[name], atol=1e-5)


def test_a_training_symbol_needs_no_labels(tmp_path: Path) -> None:
    """Most published symbols end in the loss that they were trained with."""
    symbol = mx.sym.SoftmaxOutput(scores(maps()), name="softmax")
    with load(store(tmp_path, symbol, (1, 3, 8, 8), label="softmax_label")) as predictor:
        assert [tensor.name for tensor in predictor.inputs] == ["input"]
        assert np.allclose(predictor.run([batch(3)])[0].sum(1), 1, atol=1e-5)
        assert "softmax_output" in predictor.intermediates([batch(3)])


def test_a_symbol_that_says_no_shape_takes_any(tmp_path: Path) -> None:
    with load(store(tmp_path, scores(maps(declared=())), (1, 3, 8, 8))) as predictor:
        assert predictor.inputs[0].shape is None and predictor.outputs[0].shape is None
        for sides in ((8, 8), (5, 21)):
            assert predictor.run([np.ones((2, 3) + sides, np.float32)])[0].shape == (2, 10)


def test_the_memory_that_is_handed_over_stays_writable(tmp_path: Path) -> None:
    question = batch(2)
    with load(store(tmp_path, scores(maps()), (1, 3, 8, 8))) as predictor:
        predictor.run([question])
    assert question.flags.writeable


def test_memory_that_is_filled_anew_is_read_anew(tmp_path: Path) -> None:
    """The worker stacks one batch after the other in the same memory."""
    held = batch(2).copy()
    with load(store(tmp_path, scores(maps()), (1, 3, 8, 8))) as predictor:
        before = predictor.run([held])[0]
        held[...] = batch(2, seed=1)
        after, expected = predictor.run([held])[0], predictor.run([batch(2, seed=1)])[0]
    assert np.array_equal(after, expected) and not np.array_equal(before, after)


@pytest.mark.parametrize("content", [b"", b"garbage", bytes(range(256)) * 16])
def test_parameters_that_are_none_are_refused(tmp_path: Path, content: bytes) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    Path(files["weights"]).write_bytes(content)
    with pytest.raises(ModelError, match=r"MXNet \S+ cannot load the parameters: "):
        load(files)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
def test_half_the_parameters_are_refused(tmp_path: Path, kept: float) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    content = Path(files["weights"]).read_bytes()
    Path(files["weights"]).write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ModelError):
        load(files)


def test_a_missing_weight_is_named(tmp_path: Path) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    kept = {name: value for name, value in mx.nd.load(files["weights"]).items() if name != "arg:maps_bias"}
    mx.nd.save(files["weights"], kept)
    with pytest.raises(ModelError, match="the parameters have no value for maps_bias"):
        load(files)


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    text = json.loads(Path(files["graph"]).read_text())
    for node in text["nodes"]:
        if node["op"] == "Convolution":
            node["attrs"]["kernel"] = "(5, 5)"
    Path(files["graph"]).write_text(json.dumps(text))
    with pytest.raises(ModelError, match=r"MXNet \S+ cannot use the model: .*maps"):
        load(files)


def test_a_symbol_alone_is_not_enough(tmp_path: Path) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    with pytest.raises(ModelError, match="the symbol as `graph` and the parameters as `weights`"):
        load({"graph": files["graph"]})


def test_threads_change_no_answer(tmp_path: Path) -> None:
    files = store(tmp_path, scores(maps()), (1, 3, 8, 8))
    with load(files) as one, load(files, threads=2) as many:
        assert np.allclose(one.run([batch(5)])[0], many.run([batch(5)])[0], rtol=1e-5, atol=1e-6)


def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path) -> None:
    if mx.context.num_gpus():
        pytest.skip("there is a GPU")
    with pytest.raises(ModelError, match=r"MXNet \S+ has no device `cuda` here; it has cpu"):
        load(store(tmp_path, scores(maps()), (1, 3, 8, 8)), device="gpu")
