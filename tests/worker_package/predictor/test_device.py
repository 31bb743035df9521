"""The words for devices: what may be written, what it becomes, and how a device that is missing is refused."""

import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.predictor import PREDICTORS, ModelError
from mlmodelscope_worker.predictor.device import Device, choose

WITH_A_DEVICE = ["cntk", "jax", "mxnet", "onnxruntime", "pytorch", "tensorflow", "tensorrt"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("cpu", "cpu"), ("CUDA", "cuda"), ("cuda:0", "cuda"), ("cuda:1", "cuda:1"), ("gpu", "cuda"), ("gpu:2", "cuda:2")],
)
def test_a_device_has_one_spelling(written: str, meant: str) -> None:
    assert Device().check(written) == meant


@pytest.mark.parametrize("written", ["", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "tpu", "WarpDrive", 0, None, ["cpu"]])
def test_what_is_no_device_is_refused_with_examples(written: object) -> None:
    with pytest.raises(ParameterError, match="is not a device") as refused:
        Device().check(written)
    assert refused.value.known == ("cpu", "cuda", "cuda:1")


@pytest.mark.parametrize("name", WITH_A_DEVICE)
def test_every_framework_with_a_gpu_takes_the_same_words(name: str) -> None:
    assert PREDICTORS[name].resolve({"device": "cuda:1"})["device"] == "cuda:1"
    assert PREDICTORS[name].resolve(None)["device"] == ("cuda" if name == "tensorrt" else "cpu")


def test_a_device_that_is_there_is_taken() -> None:
    assert choose("Framework 1", "cuda:1", {"cpu": 1, "cuda": 2}) == ("cuda", 1)
    assert choose("Framework 1", "gpu", {"cpu": 1, "cuda": 2}) == ("cuda", 0)


@pytest.mark.parametrize(
    ("device", "counts", "why", "message"),
    [
        ("cuda", {"cpu": 1, "cuda": 0}, "a reason", "has no device `cuda` here; it has cpu (a reason)"),
        ("cuda:2", {"cpu": 1, "cuda": 2}, "", "has no device `cuda:2` here; it has cpu, cuda, cuda:1"),
        ("cuda", {"cuda": 0}, "", "has no device `cuda` here; it has none"),
        ("WarpDrive", {"cpu": 1}, "", "has no device `WarpDrive` here; it has cpu"),
    ],
)
def test_a_device_that_is_missing_is_refused_with_those_that_are_there(
    device: str, counts: dict, why: str, message: str
) -> None:
    with pytest.raises(ModelError) as refused:
        choose("Framework 1", device, counts, why)
    assert str(refused.value) == "Framework 1 " + message
