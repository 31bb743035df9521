"""Releases that public manifests pin are resolved against the real index, as `evaluate` does; nothing is downloaded."""

from pathlib import Path

import pytest

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework, SoftwareManifest
from mlmodelscope.provision.stack.interpreter import find_uv
from mlmodelscope.provision.stack.lock import package_of, pinned_version
from mlmodelscope.provision.stack.made import make_software
from mlmodelscope.provision.stack.relaxed import relaxed_framework
from mlmodelscope.provision.stack.releases import list_releases
from mlmodelscope.settings import Settings

pytestmark = pytest.mark.slow(reason="asks the package index, whose answer takes as long as it takes")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    if find_uv() is None:
        pytest.skip("without uv, releases of another Python cannot be resolved without fetching them")
    return Settings(tmp_path / "home", tmp_path / "cache")


def reached(name: str) -> None:
    try:
        found = list_releases(Framework(name=name, version="*"))
    except StackError as error:
        pytest.skip(error.message)
    if len(found) < 5:
        pytest.skip(f"the index of this machine has {len(found)} releases of {name}")


def pins(made: SoftwareManifest | None) -> dict[str, str]:
    assert made is not None and made.stack is not None
    assert all("--hash=sha256:" in line for line in made.stack.requirements)
    return {package_of(line): pinned_version(line) for line in made.stack.requirements}


@pytest.mark.parametrize(
    ("name", "version", "package", "python"),
    [
        ("TensorFlow", "1.14.0", "tensorflow", "3.7"),  # wants a TensorBoard that came after that of 1.13
        ("TensorFlow", ">=1.10.x and <1.13", "tensorflow", "3.6"),
        ("TensorFlow", "2.16", "tensorflow", "3.11"),
        ("JAX", "0.5", "jax", "3.11"),
        ("JAX", "0.6", "jax", "3.11"),
        ("PyTorch", "2.5", "torch", "3.11"),
        ("PyTorch", "1.2", "torch", "3.7"),
        ("MXNet", "1.4.0", "mxnet", "3.7"),
    ],
)
def test_a_release_between_catalogued_ones_gets_a_stack(
    settings: Settings, name: str, version: str, package: str, python: str
) -> None:
    reached(name)
    made = make_software(Framework(name=name, version=version), settings, print)
    found = pins(made)
    assert {package, "numpy", "pillow"} <= found.keys()
    assert made is not None and made.stack is not None and made.stack.python == python
    if name == "TensorFlow" and found[package].startswith("1."):
        assert found["protobuf"].startswith("3.")  # it does not say that 4 breaks it; its neighbors know


def test_onnx_runtime_1_7_1_was_never_published(settings: Settings) -> None:
    reached("onnxruntime")
    framework = Framework(name="Onnxruntime", version="1.7.1")
    with pytest.raises(StackError, match=r"satisfies 1\.7\.1; the nearest release that runs is 1\.7\.0"):
        make_software(framework, settings, print)
    near = relaxed_framework(framework, settings)
    assert near is not None and pins(make_software(near, settings, print))["onnxruntime"] == "1.7.0"


def test_what_the_predictor_cannot_run_is_refused_before_anything_is_built(settings: Settings) -> None:
    reached("mxnet")
    with pytest.raises(StackError, match=r"MXNet 1\.3 means mxnet 1\.3\.1, and the predictor `mxnet` runs >=1\.4"):
        make_software(Framework(name="MXNet", version="1.3"), settings, print)
    reached("openvino")
    with pytest.raises(
        StackError, match=r"OpenVINO 2022\.3 means openvino 2022\.3\.2, .* runs >=2023\.1; .* 2023\.1\.0"
    ):
        make_software(Framework(name="OpenVINO", version="2022.3"), settings, print)
