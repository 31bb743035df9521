"""Whatever is registered has a test that carries its name."""

import ast
import re
from pathlib import Path

import pytest

from mlmodelscope_worker.output import OUTPUT_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS

HERE = Path(__file__).parent


def names_of_tests(folder: str) -> list[str]:
    trees = [ast.parse(path.read_text()) for path in sorted((HERE / folder).glob("test_*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node.name for node in nodes if node.name.startswith("test_")]


@pytest.mark.parametrize("step", STEPS)
def test_every_step_has_a_test(step: str) -> None:
    # Decoding has a file of its own.
    assert (HERE / "pipeline" / f"test_{step}.py").exists() or any(
        re.search(f"_{step}(_|$)", name) for name in names_of_tests("pipeline")
    )


@pytest.mark.parametrize("step", OUTPUT_STEPS)
def test_every_output_step_has_a_test(step: str) -> None:
    assert any(re.search(f"_{step}(_|$)", name) for name in names_of_tests("output"))


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_every_predictor_passes_the_conformance_suite(predictor: str) -> None:
    path = HERE / "predictor" / f"test_{predictor}.py"
    assert (
        path.exists()
        and re.search(r"\((Tabular)?Conformance\b", path.read_text())
        and f'name = "{predictor}"' in path.read_text()
    )
