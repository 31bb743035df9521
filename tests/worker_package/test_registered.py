"""Whatever is registered has a test that carries its name, and a place in the docs."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from mlmodelscope.author.importer import IMPORTERS
from mlmodelscope.dataset.format import FORMATS
from mlmodelscope.lint.rule import all_rules
from mlmodelscope.manifest.formats import BUILT_IN
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.task.measure import MEASURES
from mlmodelscope_worker.output import OUTPUT_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import OURS, PREDICTORS
from mlmodelscope_worker.training.augmentation import AUGMENTATIONS

HERE = Path(__file__).parent
TESTS = HERE.parent
DOCS = TESTS.parent / "docs"


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


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_every_augmentation_has_a_section(augmentation: str) -> None:
    """Each is tested by the cases of test_augmentation.py, which take all of them."""
    assert f"\n## {augmentation}\n" in (DOCS / "reference" / "augmentation.md").read_text()


@pytest.mark.parametrize("predictor", OURS)
def test_every_predictor_is_in_the_module_of_its_name(predictor: str) -> None:
    assert PREDICTORS[predictor].function.__module__ == f"mlmodelscope_worker.predictor.{predictor}"


def test_every_module_that_has_a_predictor_is_known_by_its_name() -> None:
    folder = HERE.parent.parent / "src" / "mlmodelscope_worker" / "predictor"
    assert {path.stem for path in folder.glob("*.py") if "\n@predictor(" in path.read_text()} == set(OURS)


# These take no tensors. What was recorded is looked at from end to end, in tests/test_recorded.py; an n-gram model and
# a server that takes words have tests of their own, other language models a suite of theirs.
@pytest.mark.parametrize("predictor", [each for each in OURS if each not in ("recorded", "ngram", "openai")])
def test_every_predictor_passes_the_conformance_suite(predictor: str) -> None:
    path = HERE / "predictor" / f"test_{predictor}.py"
    assert (
        path.exists()
        and re.search(r"\((Tabular|Language)?Conformance\b", path.read_text())
        and f'name = "{predictor}"' in path.read_text()
    )


def mentioned(name: str, *places: str) -> bool:
    files = [path for place in places for path in ([TESTS / place] if "." in place else (TESTS / place).rglob("*.py"))]
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", path.read_text()) for path in files)


@pytest.mark.parametrize("name", MEASURES.all())
def test_every_measure_has_a_test_and_a_section(name: str) -> None:
    assert mentioned(f'"{name}"', "task") or mentioned(f'"{name}"', "measure")
    assert f"\n## {name}\n" in (DOCS / "reference" / "metrics.md").read_text()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_dataset_format_has_a_test_and_a_row(name: str) -> None:
    assert mentioned(f'"{name}"', "dataset")
    assert re.search(rf"^\| [^|]*`{name}`", (DOCS / "manifest-dataset.md").read_text(), re.MULTILINE)


def test_every_dataset_format_is_in_the_module_that_the_table_names() -> None:
    for name, module in BUILT_IN.items():
        importlib.import_module(module)
        assert FORMATS.things[name].read.__module__ == module and FORMATS.things[name].meaning.endswith(".")
    assert FORMATS.things.keys() == BUILT_IN.keys(), "a line in manifest/formats.py is missing"


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_importer_has_a_test_and_a_row(name: str) -> None:
    assert mentioned(name, "author")
    assert f"\n| `{name}` |" in (DOCS / "init.md").read_text()


@pytest.mark.parametrize("code", [rule.code for rule in all_rules()])
def test_every_lint_has_a_section_whose_examples_are_tests(code: str) -> None:
    """`tests/lint/test_pages.py` takes the examples of a page for what they say."""
    assert re.search(rf"\n## {code} .*?\nWrong:\n.*?\nRight:\n", (DOCS / "lints.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("name", PITFALLS)
def test_every_pitfall_has_a_test_and_a_section(name: str) -> None:
    assert mentioned(name, "replicate", "acceptance/faults.yml")
    assert f"\n`{name}`" in (DOCS / "pitfalls.md").read_text()
