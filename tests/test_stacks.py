"""The predictors that install in seconds, each in its real stack; `make test-stacks` runs all of them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from mlmodelscope.settings import Settings

ROOT = Path(__file__).parent.parent
MADE = (
    "tensorflow@1.12",
    "tensorflow@1.14.0",
    "tensorflow@2.16",
    "mxnet@1.4.0",
    "mxnet@1.7.0",
    "mxnet@1.8.0",
    "onnxruntime@1.7.0",
    "onnxruntime@1.8.0",
    "pytorch@1.8.1",
    "pytorch@2.5",
    "sklearn@1.5",
    "xgboost@2.0",
)
"""Constraints of public manifests, and releases just above a stack of the catalog."""
QUICK = ("onnxruntime-1.17", "onnxruntime-1.31", "litert-2.3", "openvino-2026", "opencv-4")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("test_stacks_tool", ROOT / "tools" / "test_stacks.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.slow(reason="a stack is built, and a predictor's tests run inside it")
@pytest.mark.parametrize("name", QUICK)
def test_a_predictor_passes_its_tests_inside_its_stack(tool: ModuleType, name: str) -> None:
    (software,) = tool.stacks([name])
    verdict, said = tool.run(software, Settings.from_environment())
    if verdict == "NOT BUILT":
        pytest.skip(f"{name} cannot be built here: {said}")
    assert verdict == "passed", said


@pytest.mark.nightly
@pytest.mark.parametrize("asked", MADE)
def test_a_predictor_passes_its_tests_inside_a_stack_that_is_made(tool: ModuleType, asked: str) -> None:
    (software,) = tool.stacks([asked])
    verdict, said = tool.run(software, Settings.from_environment())
    if verdict == "NOT BUILT":
        pytest.skip(f"{asked} cannot be built here: {said}")
    assert verdict == "passed", said


def test_every_shipped_stack_has_tests_for_its_predictor(tool: ModuleType) -> None:
    for software in tool.stacks([]):
        assert tool.tests_of(software).exists(), software.name
