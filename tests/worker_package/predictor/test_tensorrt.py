"""TensorRT: how it refuses where there is no GPU, which runs everywhere; and the rest of it where there is one."""

import ctypes
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.predictor.cuda import Cuda, count_gpus
from mlmodelscope_worker.predictor.tensorrt import TensorRT
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Conformance, Files, batch


def reason() -> str:
    """Why TensorRT cannot run here, in one line; nothing when it can."""
    try:
        Cuda("TensorRT")
    except ModelError as error:
        return str(error)
    for name in ("tensorrt", "onnx"):
        found = subprocess.run([sys.executable, "-c", "import %s" % name], stderr=subprocess.DEVNULL)
        if found.returncode:
            return "%s cannot be imported" % name
    return ""


WHY_NOT = reason()
needs_gpu = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "there is a GPU")


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["tensorrt"].resolve(options)
    return open_predictor(PredictorTask("tensorrt", files, resolved))


def classifier(folder: Path, **changes: object) -> Files:
    from worker_package.predictor import onnx_models

    return onnx_models.classifier(folder, **changes)  # type: ignore[arg-type]


# Refusals, everywhere.


class Driver:
    """A libcuda that answers what it is told to."""

    def __init__(self, count: int = 0, code: int = 0) -> None:
        self.count, self.code = count, code

    def cuInit(self, flags: int) -> int:
        return self.code

    def cuDeviceGetCount(self, count: "ctypes._Pointer") -> int:
        count._obj.value = self.count
        return 0

    def cuGetErrorString(self, code: int, text: "ctypes._Pointer") -> int:
        text._obj.value = b"no CUDA-capable device is detected"
        return 0


def no_driver(*arguments: object, **options: object) -> None:
    raise OSError("libcuda.so.1: cannot open shared object file")


@pytest.mark.parametrize(
    ("driver", "options", "message"),
    [
        (no_driver, {}, r"needs an NVIDIA GPU and its driver; there is no driver here \(libcuda.so.1\)"),
        (lambda name: Driver(code=100), {}, "finds none: cuInit fails with 100, no CUDA-capable device is detected"),
        (lambda name: Driver(count=0), {}, "TensorRT has no device `cuda` here; it has none"),
        (lambda name: Driver(count=2), {"device": "cuda:2"}, "no device `cuda:2` here; it has cuda, cuda:1"),
    ],
)
def test_without_a_gpu_it_is_refused_before_tensorrt_is_imported(
    monkeypatch: pytest.MonkeyPatch, driver: object, options: dict, message: str
) -> None:
    """TensorRT 8.6 would end the process with a segmentation fault."""
    monkeypatch.setattr(ctypes, "CDLL", driver)
    monkeypatch.setitem(sys.modules, "tensorrt", None)  # importing it would be an ImportError
    with pytest.raises(ModelError, match=message):
        load({"graph": "model.onnx"}, **options)


def test_what_the_driver_says_is_true_here() -> None:
    """With whatever is really here: a refusal in words, or a GPU whose memory can be used."""
    try:
        cuda = Cuda("TensorRT")
    except ModelError as error:
        assert "TensorRT needs an NVIDIA GPU" in str(error)
        return
    cuda.use()
    stream, there = cuda.stream(), cuda.allocate(4000)
    back = np.zeros(1000, np.float32)
    cuda.copy_in(there, np.arange(1000, dtype=np.float32), stream)
    cuda.copy_out(back, there, stream)
    cuda.wait(stream)
    cuda.free(there)
    cuda.end_stream(stream)
    assert np.array_equal(back, np.arange(1000))


# A call, with an engine that stands in for TensorRT's: its one output is its one input.


class Host:
    """This process's own memory in the place of a GPU's, and a diary."""

    def __init__(self) -> None:
        self.held: Dict[int, Any] = {}
        self.diary: List[str] = []

    def use(self) -> None:
        pass

    def stream(self) -> int:
        return 1

    def end_stream(self, stream: int) -> None:
        self.diary.append("end")

    def wait(self, stream: int) -> None:
        self.diary.append("wait")

    def allocate(self, nbytes: int) -> int:
        memory = ctypes.create_string_buffer(nbytes)
        self.held[ctypes.addressof(memory)] = memory
        return ctypes.addressof(memory)

    def free(self, address: int) -> None:
        del self.held[address]

    def copy_in(self, address: int, array: np.ndarray, stream: int) -> None:
        self.diary.append("in")
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def copy_out(self, array: np.ndarray, address: int, stream: int) -> None:
        self.diary.append("out")
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def copy_over(self, target: int, source: int, nbytes: int, stream: int) -> None:
        self.diary.append("run")
        ctypes.memmove(target, source, nbytes)


class Gpu(Cuda):
    def copy_over(self, target: int, source: int, nbytes: int, stream: int) -> None:
        address, size = ctypes.c_uint64, ctypes.c_size_t(nbytes)
        self._ask("cuMemcpyDtoDAsync_v2", address(target), address(source), size, ctypes.c_void_p(stream))


class Engine:
    """As much of TensorRT 8.5 and later as a call asks for; a context of its own."""

    num_io_tensors = 2
    TensorIOMode = SimpleNamespace(INPUT="input", OUTPUT="output")

    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda
        self.shape: Tuple[int, ...] = ()
        self.addresses: Dict[str, int] = {}

    def get_tensor_name(self, place: int) -> str:
        return ("input", "scores")[place]

    def get_tensor_mode(self, name: str) -> str:
        return "input" if name == "input" else "output"

    def get_tensor_dtype(self, name: str) -> Any:
        return SimpleNamespace(name="FLOAT")

    def get_tensor_shape(self, name: str) -> Tuple[int, ...]:
        return self.shape or (-1, 3, 8, 8)

    def create_execution_context(self) -> "Engine":
        return self

    def set_input_shape(self, name: str, shape: Tuple[int, ...]) -> bool:
        self.shape = shape
        return shape[0] <= 8

    def set_tensor_address(self, name: str, address: int) -> None:
        self.addresses[name] = address

    def execute_async_v3(self, stream: int) -> bool:
        nbytes = 4 * int(np.prod(self.shape))
        self.cuda.copy_over(self.addresses["scores"], self.addresses["input"], nbytes, stream)
        return True


def stand_in(cuda: Any) -> TensorRT:
    return TensorRT(Engine, cuda, Engine(cuda), SimpleNamespace(complaints=[], is_engine=True))


@pytest.mark.parametrize("make", [Host, pytest.param(lambda: Gpu("TensorRT"), id="Gpu")])
def test_a_call_goes_there_and_back_whole_and_in_parts(make: Any) -> None:
    if make is not Host and not count_gpus():
        pytest.skip("not tried: no CUDA device here")
    with stand_in(make()) as predictor:
        for samples in (2, 5, 1):
            assert np.array_equal(predictor.run([batch(samples)])[0], batch(samples))
            outputs, spans = predictor.run_in_parts([batch(samples, seed=3)])
            assert np.array_equal(outputs[0], batch(samples, seed=3))
            assert [name for name, _, _ in spans] == ["copy to device", "run", "copy from device"]
        with pytest.raises(ModelError, match="was not built for `input` of the shape"):
            predictor.run([np.zeros((9, 3, 8, 8), "float32")])


def test_a_call_waits_once_and_its_parts_each() -> None:
    host = Host()
    with stand_in(host) as predictor:
        predictor.run([batch(2)])
        assert host.diary == ["in", "run", "out", "wait"]
        host.diary.clear()
        predictor.run_in_parts([batch(2)])
        assert host.diary == ["in", "wait", "run", "wait", "out", "wait"]
    assert host.diary[-1] == "end" and not host.held


# For real.


@needs_gpu
class TestTensorRT(Conformance):
    name = "tensorrt"
    exact = False
    repeatable = False
    tolerance = 1e-4

    def save(self, folder: Path, seed: int = 0) -> Files:
        return classifier(folder, seed=seed)

    def save_wide(self, folder: Path) -> Files:
        from worker_package.predictor import onnx_models

        return onnx_models.one_step(folder, "GlobalMaxPool", ("n", 3, 512, 512), ("n", 3, 1, 1))


@needs_gpu
def test_an_engine_runs_as_it_is(tmp_path: Path) -> None:
    import tensorrt as trt

    from mlmodelscope_worker.predictor.tensorrt_build import Builder

    files = classifier(tmp_path)
    plan = Builder(trt, Cuda("TensorRT"), files["graph"], "float32", 8, 256)._build(False)
    for name in ("model.engine", "model.bin"):  # known by its name, or by how it begins
        (tmp_path / name).write_bytes(bytes(plan))
        with load(files) as built, load({"graph": str(tmp_path / name)}) as engine:
            assert [tensor.describe() for tensor in engine.inputs] == [tensor.describe() for tensor in built.inputs]
            assert np.allclose(built.run([batch(5)])[0], engine.run([batch(5)])[0], rtol=1e-4, atol=1e-5)
            with pytest.raises(NotSupported, match="an engine passes nothing on but its outputs"):
                engine.intermediates([batch(1)])
    for content in (b"", b"garbage", bytes(plan)[: len(bytes(plan)) // 2]):
        (tmp_path / "broken.engine").write_bytes(content)
        with pytest.raises(ModelError):
            load({"graph": str(tmp_path / "broken.engine")})


@needs_gpu
def test_answers_are_those_of_the_arithmetic(tmp_path: Path) -> None:
    files = classifier(tmp_path)
    random = np.random.default_rng(0)
    filters, bias, last = random.normal(size=(6, 3, 3, 3)), random.normal(size=6), random.normal(size=(6, 10))
    padded = np.pad(batch(2).astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="constant")
    maps = sum(
        np.einsum("nchw,fc->nfhw", padded[:, :, y : y + 8, x : x + 8], filters[:, :, y, x])
        for y in range(3)
        for x in range(3)
    )
    expected = np.maximum(maps + bias[:, None, None], 0).mean((2, 3)) @ last
    for precision, tolerance in (("float32", 1e-4), ("tf32", 2e-2), ("float16", 2e-2)):
        with load(files, precision=precision) as predictor:
            assert np.allclose(predictor.run([batch(2)])[0], expected, rtol=tolerance, atol=tolerance)
    with load(files) as predictor:
        inside = predictor.intermediates([batch(2)])
    assert np.allclose(inside["maps"], maps + bias[:, None, None], rtol=1e-4, atol=1e-4)
    assert np.allclose(inside["active"], np.maximum(inside["maps"], 0))


@needs_gpu
def test_a_profile_names_the_layers_as_tensorrt_fused_them(tmp_path: Path) -> None:
    with load(classifier(tmp_path)) as predictor:
        layers = predictor.profile([batch(2)])
        again = predictor.profile([batch(2)])
    assert [layer.name for layer in layers] == [layer.name for layer in again]
    assert any("maps" in layer.name and "active" in layer.name for layer in layers)
    assert all(layer.kind != "layer" for layer in layers)


@needs_gpu
def test_a_quantised_model_takes_and_gives_whole_numbers(tmp_path: Path) -> None:
    from onnx import TensorProto

    from worker_package.predictor import onnx_models

    samples = (np.arange(12).reshape(4, 3, 1, 1) * 9).astype(np.int8)
    with load(onnx_models.quantised(tmp_path, TensorProto.INT8), precision="int8") as predictor:
        assert (predictor.inputs[0].element_type, predictor.outputs[0].element_type) == ("int8", "int8")
        answer = predictor.run([samples])[0]
    weight = np.random.default_rng(3).integers(-20, 20, (3, 10)) * 0.05
    real = (samples.reshape(4, 3).astype(float) * 0.1) @ weight
    assert abs(answer.astype(int) - np.clip(np.rint(real / 0.5), -128, 127)).max() <= 1


@needs_gpu
@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        ({"precision": "int8"}, {}, "int8 needs a quantised model"),
        ({}, {"shape": ("n", 3, "h", "w")}, r"input `input` is \[\?, 3, \?, \?\]: only the batch may be left open"),
    ],
)
def test_what_cannot_be_built_is_refused_with_words(tmp_path: Path, options: dict, changes: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(classifier(tmp_path, **changes), **options)


@needs_gpu
def test_a_batch_larger_than_it_was_built_for_is_refused(tmp_path: Path) -> None:
    with load(classifier(tmp_path), max_batch=4) as predictor:
        assert predictor.run([batch(4)])[0].shape == (4, 10)
        with pytest.raises(ModelError, match=r"was not built for `input` of the shape \[5, 3, 8, 8\]"):
            predictor.run([batch(5)])
