"""JAX, for real."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
pytest.importorskip("flatbuffers")

from mlmodelscope_worker.messages import PredictorTask  # noqa: E402
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.predictor.predictor import pick  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402

OLD = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 5)


def classifier(seed: int = 0) -> Any:
    """Convolution, ReLU, mean over the picture, ten scores."""
    random = np.random.default_rng(seed)
    filters = random.normal(size=(6, 3, 3, 3)).astype("float32")
    bias = random.normal(size=(6, 1, 1)).astype("float32")
    last = random.normal(size=(6, 10)).astype("float32")

    def call(input: Any) -> Any:
        maps = jax.lax.conv_general_dilated(input, filters, (1, 1), "SAME") + bias
        return {"scores": jax.nn.relu(maps).mean((2, 3)) @ last}

    return call


def save(folder: Path, function: Any, *shapes: Any, element_type: str = "float32", **options: Any) -> Files:
    """A shape is a tuple, or words such as "n, 3, 8, 8"."""
    scope = export.SymbolicScope()
    arguments = [
        jax.ShapeDtypeStruct(
            export.symbolic_shape(shape, scope=scope) if isinstance(shape, str) else shape, element_type
        )
        for shape in shapes
    ]
    options.setdefault("platforms", ["cpu", "cuda"])
    (folder / "model.jax").write_bytes(export.export(jax.jit(function), **options)(*arguments).serialize())
    return {"graph": str(folder / "model.jax")}


class TestJax(Conformance):
    name = "jax"
    exact = False

    def save(self, folder: Path, seed: int = 0) -> Files:
        return save(folder, classifier(seed), "n, 3, 8, 8")

    def save_wide(self, folder: Path) -> Files:
        return save(folder, lambda input: input.max((2, 3)), "n, 3, 512, 512")

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        if OLD:
            pytest.skip("JAX 0.4 may keep one input until the next comes: no leak, though it looks like one")
        super().test_memory_comes_back(tmp_path)

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """If it is aligned to 64 bytes: JAX copies other memory, and numpy's is aligned to 16."""
        program = (
            "memory = np.ones((96 << 20) + 64, 'uint8'); start = -memory.ctypes.data % 64\n"
            "x = memory[start:start + (96 << 20)].view('float32').reshape(32, 3, 512, 512)\n"
            "subject = predictor(); subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps(peak_mib() - before))"
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 48


on_gpu = pytest.mark.skipif(jax.default_backend() != "gpu", reason="not tried: no CUDA device here")


@on_gpu
class TestJaxOnGpu(TestJax):
    """XLA races kernels when it compiles, and computes float32 with the ten bits of TF32 where that is faster."""

    options = {"device": "cuda"}
    repeatable = False
    tolerance = 1e-2


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["jax"].resolve(options)
    return open_predictor(PredictorTask("jax", files, resolved))


def refusal(files: Files, **options: object) -> str:
    with pytest.raises(ModelError) as refused:
        load(files, **options)
    return str(refused.value)


def test_the_answer_is_jaxs_own(tmp_path: Path) -> None:
    with load(save(tmp_path, classifier(), "n, 3, 8, 8")) as predictor:
        answer = predictor.run([batch(5)])[0]
    assert np.allclose(answer, classifier()(batch(5))["scores"], rtol=1e-5, atol=1e-5)


def test_threads_are_taken_once_for_a_process(tmp_path: Path) -> None:
    files = save(tmp_path, classifier(), "n, 3, 8, 8")
    load(files).close()
    message = refusal(files, threads=2)
    assert message.endswith("computes with 1 threads in this process already, and takes no other number")


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="not tried: no /proc here")
@pytest.mark.parametrize("threads", [1, 3])
def test_the_pool_has_as_many_threads_as_asked_for(tmp_path: Path, threads: int) -> None:
    if OLD:
        pytest.skip("the threads of JAX 0.4 have no names to count them by")
    program = (
        "import os\n"
        "subject = declaration.function(files, **declaration.resolve({'threads': %d}))\n"
        "subject.run([np.zeros((1, 3, 8, 8), 'float32')])\n"
        "names = [open('/proc/self/task/%%s/comm' %% each).read() for each in os.listdir('/proc/self/task')]\n"
        "print(json.dumps(sum('XLAEigen' in name for name in names)))"
    ) % threads
    assert TestJax().elsewhere(program, save(tmp_path, classifier(), "n, 3, 8, 8")) == threads


def test_a_missing_device_is_refused(tmp_path: Path) -> None:
    if jax.default_backend() == "gpu":
        pytest.skip("there is one here")
    message = refusal(save(tmp_path, classifier(), "n, 3, 8, 8"), device="cuda")
    assert "has no device `cuda` here; it has cpu (" in message


@on_gpu
def test_a_graphics_card_too_many_is_refused(tmp_path: Path) -> None:
    message = refusal(save(tmp_path, classifier(), "n, 3, 8, 8"), device="cuda:99")
    assert "has no device `cuda:99` here; it has cpu, cuda" in message


def test_copies_and_run_come_to_the_answer(tmp_path: Path) -> None:
    with load(save(tmp_path, classifier(), "n, 3, 8, 8")) as predictor:
        answer = predictor._copy_out(predictor._compute(predictor._copy_in([batch(3)])))  # type: ignore[attr-defined]
        assert np.array_equal(answer[0], predictor.run([batch(3)])[0])


@on_gpu
def test_a_graphics_card_gives_the_same_answers(tmp_path: Path) -> None:
    files = save(tmp_path, classifier(), "n, 3, 8, 8")
    with load(files) as cpu, load(files, device="cuda") as cuda:
        answer = cuda.run([batch(5)])[0]
        assert np.allclose(cpu.run([batch(5)])[0], answer, rtol=1e-2, atol=1e-2)
        assert cuda.profile([batch(5)])
        inside = cuda.intermediates([batch(5)])
        assert np.allclose(inside["dot_general"], answer, rtol=1e-2, atol=1e-2)


def test_a_model_for_another_platform_is_refused(tmp_path: Path) -> None:
    files = save(tmp_path, classifier(), "n, 3, 8, 8", platforms=["tpu"])
    assert refusal(files) == "the model was exported for tpu, not for cpu"


def test_inputs_and_outputs_are_named_by_keys_and_numbered_otherwise(tmp_path: Path) -> None:
    with load(save(tmp_path, lambda left, right: (left + right, left - right), "n", "n")) as predictor:
        assert [tensor.name for tensor in predictor.inputs] == ["input0", "input1"]
        assert [tensor.name for tensor in predictor.outputs] == ["output0", "output1"]
        answers = predictor.run([np.float32([3, 4]), np.float32([1, 1])])
        assert [answer.tolist() for answer in answers] == [[4, 5], [2, 3]]


def test_an_output_is_chosen_by_its_key(tmp_path: Path) -> None:
    with load(save(tmp_path, lambda x: {"b": {"twice": x * 2}, "a": x * 3}, "n")) as predictor:
        assert [tensor.name for tensor in predictor.outputs] == ["a", "b.twice"]
        assert predictor.run([np.float32([1])])[pick(predictor.outputs, "b.twice", "output")].tolist() == [2]


def test_a_fixed_shape_is_known(tmp_path: Path) -> None:
    with load(save(tmp_path, classifier(), (4, 3, 8, 8))) as predictor:
        assert predictor.inputs[0].shape == (4, 3, 8, 8)
        assert predictor.run([batch(4)])[0].shape == (4, 10)


@pytest.mark.parametrize("element_type", ["float16", "uint8", "int32", "bool"])
def test_other_types_go_in_and_come_out(tmp_path: Path, element_type: str) -> None:
    with load(save(tmp_path, lambda x: x[::-1], (3,), element_type=element_type)) as predictor:
        assert predictor.inputs[0].element_type == element_type
        answer = predictor.run([np.array([1, 0, 0], element_type)])[0]
        assert answer.dtype.name == element_type and answer.tolist() == [0, 0, 1]


def test_double_precision_stays_double(tmp_path: Path) -> None:
    files = save(tmp_path, lambda x: x * 1, (2,))
    program = (
        "import jax; from jax import export; jax.config.update('jax_enable_x64', True)\n"
        "made = export.export(jax.jit(lambda x: x / 3), platforms=['cpu'])(jax.ShapeDtypeStruct((1,), 'float64'))\n"
        "open(files['graph'], 'wb').write(made.serialize()); jax.config.update('jax_enable_x64', False)\n"
        "answer = predictor().run([np.ones(1)])[0]\n"
        "print(json.dumps([answer.dtype.name, bool(answer[0] == 1 / 3)]))"
    )
    assert TestJax().elsewhere(program, files) == ["float64", True]


def test_intermediate_outputs_are_what_the_operators_give(tmp_path: Path) -> None:
    """Exported for one platform: for several, JAX 0.4 hides operators in a choice between them."""
    with load(save(tmp_path, classifier(), "n, 3, 8, 8", platforms=["cpu"])) as predictor:
        inside = predictor.intermediates([batch(2)])
        answer = predictor.run([batch(2)])[0]
    filters = np.random.default_rng(0).normal(size=(6, 3, 3, 3)).astype("float32")
    maps = np.asarray(jax.lax.conv_general_dilated(batch(2), filters, (1, 1), "SAME"))
    assert np.allclose(inside["convolution"], maps, rtol=1e-5, atol=1e-5)
    assert np.allclose(inside["maximum"], inside["add"].clip(0))
    assert np.allclose(inside["dot_general"], answer, rtol=1e-5, atol=1e-5)


def test_layers_are_what_xla_runs(tmp_path: Path) -> None:
    with load(save(tmp_path, classifier(), "n, 3, 8, 8")) as predictor:
        layers = predictor.profile([batch(2)])
    assert any("conv" in layer.name for layer in layers)
    assert [layer.start_ns for layer in layers] == sorted(layer.start_ns for layer in layers)


def test_a_refusal_names_the_release(tmp_path: Path) -> None:
    (tmp_path / "model.jax").write_bytes(b"garbage")
    assert refusal({"graph": str(tmp_path / "model.jax")}).startswith("JAX %s cannot load" % jax.__version__)
