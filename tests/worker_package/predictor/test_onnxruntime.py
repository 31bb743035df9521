"""ONNX Runtime, for real."""

from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from mlmodelscope_worker.messages import PredictorTask  # noqa: E402
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor  # noqa: E402
from mlmodelscope_worker.predictor import onnxruntime as module  # noqa: E402
from mlmodelscope_worker.predictor import onnxruntime as subject  # noqa: E402
from mlmodelscope_worker.predictor.cuda import count_gpus  # noqa: E402
from mlmodelscope_worker.predictor.predictor import pick  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402
from worker_package.predictor import onnx_models as models  # noqa: E402

GPU = "CUDAExecutionProvider" in onnxruntime.get_available_providers() and count_gpus() > 0
on_gpu = pytest.mark.skipif(not GPU, reason="not tried: no CUDA device here, or a build without CUDA")

RELEASE = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])


class TestOnnxRuntime(Conformance):
    name = "onnxruntime"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return models.classifier(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        return models.one_step(folder, "GlobalMaxPool", ("n", 3, 512, 512), ("n", 3, 1, 1))

    def test_an_answer_is_the_frameworks_own_memory(self, tmp_path: Path) -> None:
        if RELEASE <= (1, 17):
            pytest.skip("onnxruntime up to 1.17 copies its answers")
        with self.open(self.save(tmp_path)) as predictor:
            assert not predictor.run([batch(2)])[0].flags.owndata


@on_gpu
class TestOnnxRuntimeOnGpu(TestOnnxRuntime):
    """ONNX Runtime lets cuDNN and cuBLAS compute float32 with the ten bits of TF32."""

    options = {"device": "cuda"}
    tolerance = 1e-2

    def test_an_answer_is_the_frameworks_own_memory(self, tmp_path: Path) -> None:
        pytest.skip("it is a copy of the device's")


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["onnxruntime"].resolve(options)
    return open_predictor(PredictorTask("onnxruntime", files, resolved))


@pytest.mark.parametrize("options", [{"threads": 2}, {"threads": 4}, {"inter_op_threads": 2}])
def test_threads_change_no_answer(tmp_path: Path, options: dict) -> None:
    files = models.classifier(tmp_path)
    with load(files) as one, load(files, **options) as many:
        assert np.allclose(one.run([batch(5)])[0], many.run([batch(5)])[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("level", ["disabled", "basic", "extended", "all"])
def test_optimising_the_graph_changes_no_best_class(tmp_path: Path, level: str) -> None:
    files = models.classifier(tmp_path)
    with load(files) as plain, load(files, graph_optimization=level) as optimised:
        assert (plain.run([batch(7)])[0].argmax(1) == optimised.run([batch(7)])[0].argmax(1)).all()


@pytest.mark.parametrize("device", ["cuda", "cuda:99", "tensorrt"])
def test_a_missing_device_is_refused(tmp_path: Path, device: str) -> None:
    if GPU and device != "cuda:99":
        pytest.skip("there is one here")
    with pytest.raises(ModelError, match=r"onnxruntime \S+ has no device `%s` here; it has cpu.*build: " % device):
        load(models.classifier(tmp_path), device=device)


@pytest.fixture
def said_to_have_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: known)
    monkeypatch.setattr(subject, "count_gpus", lambda: 1)


@pytest.mark.usefixtures("said_to_have_cuda")
def test_a_device_and_a_provider_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the device `cuda` means CUDAExecutionProvider, the options also say CPUExec"):
        load(models.classifier(tmp_path), device="cuda", execution_provider="CPUExecutionProvider")


@pytest.mark.skipif(GPU, reason="there is one here")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("said_to_have_cuda")
def test_falling_back_is_refused(tmp_path: Path) -> None:
    # Before 1.8 it refuses by itself.
    words = "fell back from CUDAExecutionProvider to CPUExecutionProvider|'CUDAExecutionProvider' is unavailable"
    with pytest.raises(ModelError, match=words):
        load(models.classifier(tmp_path), device="cuda")


@on_gpu
@pytest.mark.parametrize("options", [{"device": "cuda"}, {"execution_provider": "CUDAExecutionProvider"}])
def test_a_graphics_card_gives_the_same_answers(tmp_path: Path, options: dict) -> None:
    files = models.classifier(tmp_path)
    with load(files) as cpu, load(files, **options) as cuda:
        assert np.allclose(cpu.run([batch(5)])[0], cuda.run([batch(5)])[0], rtol=1e-2, atol=1e-2)
        assert [name for name, _ in cuda.parts()] == ["copy to device", "run", "copy from device"]


def test_copies_and_run_come_to_the_answer(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path)) as predictor:
        assert [name for name, _ in predictor.parts()] == ["run"]
        predictor._memory = ("cpu", 0)  # type: ignore[attr-defined]
        outputs, spans = predictor.run_in_parts([batch(3)])
        assert [name for name, _, _ in spans] == ["copy to device", "run", "copy from device"]
        assert np.array_equal(outputs[0], predictor.run([batch(3)])[0])


def test_an_unknown_execution_provider_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"onnxruntime \S+ has no WarpDrive; it has .*CPUExecutionProvider"):
        load(models.classifier(tmp_path), execution_provider="WarpDrive")


def test_a_float16_model_takes_and_gives_float16(tmp_path: Path) -> None:
    files = models.classifier(tmp_path, kind=TensorProto.FLOAT16)
    with load(files) as half, load(models.classifier(tmp_path, name="full.onnx")) as full:
        assert (half.inputs[0].element_type, half.outputs[0].element_type) == ("float16", "float16")
        half.check([batch(3).astype(np.float16)])
        answer = half.run([batch(3).astype(np.float16)])[0]
        assert answer.dtype == np.float16
        assert np.allclose(answer, full.run([batch(3)])[0], atol=0.02)


@pytest.mark.parametrize(("kind", "name", "zero"), [(TensorProto.UINT8, "uint8", 128), (TensorProto.INT8, "int8", 0)])
def test_a_quantised_model_takes_and_gives_whole_numbers(tmp_path: Path, kind: int, name: str, zero: int) -> None:
    samples = (np.arange(12).reshape(4, 3, 1, 1) * 9).astype(name)
    with load(models.quantised(tmp_path, kind)) as predictor:
        assert (predictor.inputs[0].element_type, predictor.outputs[0].element_type) == (name, name)
        answer = predictor.run([samples])[0]
    weight = np.random.default_rng(3).integers(-20, 20, (3, 10)) * 0.05
    real = (samples.reshape(4, 3).astype(float) - zero) * 0.1 @ weight
    expected = np.clip(np.rint(real / 0.5) + zero, *((0, 255) if name == "uint8" else (-128, 127)))
    assert abs(answer.astype(int) - expected).max() <= 1


def test_a_fixed_batch_size_is_known(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path, shape=(4, 3, 8, 8))) as predictor:
        assert predictor.inputs[0].shape == (4, 3, 8, 8)
        with pytest.raises(ModelError, match=r"takes the shape \[4, 3, 8, 8\], the tensor has \[3, 3, 8, 8\]"):
            predictor.check([batch(3)])


def test_height_and_width_may_be_left_open(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path, shape=("n", 3, "h", "w"))) as predictor:
        assert predictor.inputs[0].shape == (None, 3, None, None)
        for sides in ((8, 8), (5, 21)):
            tensor = np.ones((2, 3, *sides), np.float32)
            predictor.check([tensor])
            assert predictor.run([tensor])[0].shape == (2, 10)
        with pytest.raises(ModelError, match="end the processing with `layout: NCHW`"):
            predictor.check([np.ones((2, 5, 21, 3), np.float32)])


def test_even_the_rank_may_be_left_open(tmp_path: Path) -> None:
    loose = [onnx.ValueInfoProto(name=name) for name in ("input", "scores")]
    for value in loose:
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    files = models.save(tmp_path, [helper.make_node("Neg", ["input"], ["scores"])], loose[:1], loose[1:])
    with load(files) as predictor:
        assert predictor.inputs[0].describe() == {"name": "input", "element_type": "float32", "shape": None}
        for tensor in (np.ones(3, np.float32), batch(2)):
            predictor.check([tensor])
            assert np.array_equal(predictor.run([tensor])[0], -tensor)


def test_an_output_is_chosen_by_name_or_number(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path, names=("scores", "negated", "495"))) as predictor:
        outputs = predictor.run([batch(2)])
        assert np.array_equal(outputs[pick(predictor.outputs, "negated", "output")], -outputs[0])
        assert [pick(predictor.outputs, reference, "output") for reference in ("scores", 1, 495, "495")] == [0, 1, 2, 2]


def test_outputs_that_are_no_tensors_are_passed_over(tmp_path: Path) -> None:
    nodes = [helper.make_node("SequenceConstruct", ["input"], ["list"]), helper.make_node("Neg", ["input"], ["scores"])]
    sequence = helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, ["n", 3])
    files = models.save(
        tmp_path, nodes, [models.tensor("input", ("n", 3))], [sequence, models.tensor("scores", ("n", 3))]
    )
    with load(files) as predictor:
        assert [output.name for output in predictor.outputs] == ["scores"]
        assert predictor.run([np.ones((1, 3), np.float32)])[0].tolist() == [[-1.0, -1.0, -1.0]]


def test_an_input_of_words_is_refused(tmp_path: Path) -> None:
    words = [models.tensor(name, ("n",), TensorProto.STRING) for name in ("input", "scores")]
    files = models.save(tmp_path, [helper.make_node("Identity", ["input"], ["scores"])], words[:1], words[1:])
    with pytest.raises(ModelError, match=r"input `input` is a tensor\(string\), which is not a tensor of numbers"):
        load(files)


def test_not_a_number_comes_out_as_it_is(tmp_path: Path) -> None:
    with load(models.one_step(tmp_path, "Log", ("n", 3), ("n", 3))) as predictor:
        assert np.isnan(predictor.run([np.full((1, 3), -1, np.float32)])[0]).all()


# Files that are newer than the runtime.


def refused(folder: Path, opset: int, ir_version: int) -> str:
    nodes = [helper.make_node("Relu", ["input"], ["scores"])]
    ends = [models.tensor(name, ("n", 3)) for name in ("input", "scores")]
    with pytest.raises(ModelError) as error:
        load(models.save(folder, nodes, ends[:1], ends[1:], opset=opset, ir_version=ir_version))
    return str(error.value)


@pytest.mark.skipif(RELEASE != (1, 17), reason="this is about ONNX Runtime 1.17")
@pytest.mark.parametrize("opset, ir_version, able", [(21, 9, "1.18"), (13, 10, "1.18"), (24, 12, "1.24")])
def test_a_file_that_is_too_new_says_what_reads_it(tmp_path: Path, opset: int, ir_version: int, able: str) -> None:
    assert refused(tmp_path, opset, ir_version) == (
        "the ONNX file is too new for onnxruntime %s: it has IR version %d and operator set %d, and this release reads "
        "up to IR version 9 and operator set 20. onnxruntime %s and newer read it, such as the stack onnxruntime-1.31; "
        "or export it for operator set 20 and older" % (onnxruntime.__version__, ir_version, opset, able)
    )


def test_a_file_that_is_too_new_for_everybody_says_so(tmp_path: Path) -> None:
    message = refused(tmp_path, 13, 99)
    assert "it has IR version 99 and operator set 13, and this release reads up to IR version" in message
    assert "no release up to that of the stack onnxruntime-1.31 reads it" in message


def test_limits_are_those_of_the_runtime(tmp_path: Path) -> None:
    """The newest that we say it reads it does read."""
    limits = [limit for since, limit in module._READS if since <= RELEASE]
    nodes = [helper.make_node("Relu", ["input"], ["scores"])]
    ends = [models.tensor(name, ("n", 3)) for name in ("input", "scores")]
    ir_version, opset = limits[-1]
    load(models.save(tmp_path, nodes, ends[:1], ends[1:], opset=opset, ir_version=ir_version)).close()
    assert "too new" in refused(tmp_path, opset + 1, ir_version)
    assert "too new" in refused(tmp_path, opset, ir_version + 1)


# Inside the model.


def test_layers_pass_on_what_the_arithmetic_says(tmp_path: Path) -> None:
    with load(models.classifier(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(2)])
        answer = predictor.run([batch(2)])[0]
    assert list(inside) == ["scores", "maps", "active", "pooled", "flat"]
    assert np.array_equal(inside["active"], np.maximum(inside["maps"], 0))
    assert np.allclose(inside["active"].mean((2, 3)), inside["flat"], atol=1e-5)
    assert np.allclose(inside["scores"], answer, rtol=1e-5, atol=1e-5)


def test_an_unoptimised_profile_has_the_models_own_names(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Neg", ["input"], ["less"], name="first"),
        helper.make_node("Abs", ["less"], ["scores"], name="second"),
    ]
    files = models.save(tmp_path, nodes, [models.tensor("input", ("n", 3))], [models.tensor("scores", ("n", 3))])
    with load(files, graph_optimization="disabled") as predictor:
        layers = predictor.profile([np.ones((2, 3), np.float32)])
    shapes = [[2, 3]] if RELEASE > (1, 8) else []  # of which 1.8 says nothing
    assert [(layer.name, layer.kind, layer.shapes) for layer in layers] == [
        ("first", "Neg", shapes),
        ("second", "Abs", shapes),
    ]


@pytest.mark.skipif(RELEASE <= (1, 8), reason="of shapes 1.8 says nothing")
def test_weights_that_were_packed_away_are_told_all_the_same(tmp_path: Path) -> None:
    """ONNX Runtime packs a product's weights when a model is opened, and its profile knows nothing of them any more."""
    nodes = [
        helper.make_node("MatMul", ["input", "first"], ["middle"], name="product"),
        helper.make_node("Gemm", ["middle", "second", "bias"], ["scores"], name="layer", transB=1),
    ]
    weights = {name: np.ones(shape, np.float32) for name, shape in (("first", (3, 5)), ("second", (7, 5)), ("bias", 7))}
    files = models.save(
        tmp_path, nodes, [models.tensor("input", ("n", 3))], [models.tensor("scores", ("n", 7))], weights
    )
    with load(files) as predictor:
        product, layer = predictor.profile([np.ones((2, 3), np.float32)])
    assert product.inputs == [[2, 3], [3, 5]] and product.moved_bytes == 4 * (6 + 15 + 10)
    assert layer.inputs == [[2, 5], [7, 5], [7]] and layer.moved_bytes == 4 * (10 + 35 + 7 + 14)
    assert layer.element_type == "float32" and layer.outputs == [[2, 7]]


def test_profiling_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    with load(models.classifier(tmp_path / "model")) as predictor:
        predictor.profile([batch(2)])
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_lists_inside_a_model_are_passed_over(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["input"], ["list"]),
        helper.make_node("ConcatFromSequence", ["list"], ["again"], axis=0),
        helper.make_node("Neg", ["again"], ["scores"]),
    ]
    files = models.save(tmp_path, nodes, [models.tensor("input", ("n", 3))], [models.tensor("scores", ("n", 3))])
    with load(files) as predictor:
        assert list(predictor.intermediates([np.ones((1, 3), np.float32)])) == ["scores", "again"]


def test_weights_beside_the_model_are_said_to_be_in_the_way(tmp_path: Path) -> None:
    files = models.classifier(tmp_path)
    onnx.save(
        onnx.load(files["graph"]),
        files["graph"],
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
        convert_attribute=False,
    )
    with load(files) as predictor:
        try:
            inside = predictor.intermediates([batch(2)])
        except NotSupported as error:
            assert "cannot open this model with every output" in str(error)
        else:
            assert "maps" in inside
