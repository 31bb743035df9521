"""Which stack a model runs in."""

from pathlib import Path

import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.provision.stack.known import known_software
from mlmodelscope.provision.stack.lock import package_of

STACK = """
name: {name}
version: 1.0.0
framework: {{name: {framework}, version: "*"}}
stack: {{python: "3.11", requirements: [{requirements}]}}
"""


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "manifests" / "software"
    folder.mkdir(parents=True)
    for name, framework, requirements in (
        ("old", "TensorFlow", "tensorflow==1.13.1, numpy==1.16.4"),
        ("middle", "tensorflow", "tensorflow==1.15.5, numpy==1.18.5"),
        ("new", "TensorFlow", "tensorflow-cpu==2.21.0, numpy==2.0.0"),
        ("runtime", "tflite", "tflite-runtime==2.14.0, numpy==1.26.4"),
        ("litert", "TensorFlow Lite", "ai-edge-litert==2.3.0, numpy==2.0.0"),
    ):
        (folder / f"{name}.yml").write_text(STACK.format(name=name, framework=framework, requirements=requirements))
    (folder / "broken.yml").write_text("name: broken\nversion: [")
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(tmp_path / "manifests"))
    monkeypatch.setattr("mlmodelscope.manifest.folders.catalog_folders", lambda: [tmp_path / "manifests"])
    return folder


def model(framework: str, version: str) -> ModelManifest:
    found = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": framework, "version": version},
            "inputs": [{"type": "image"}],
            "outputs": [{"type": "probability"}],
            "source": {"graph_path": "net.pb"},
        }
    )
    assert isinstance(found, ModelManifest)
    return found


@pytest.mark.parametrize(
    ("version", "chosen"),
    [("^1.x", "middle"), (">=1.10.x <=1.13.1", "old"), (">=1.10.x and <=1.13.1", "old"), (">=2", "new"), ("^3", None)],
)
def test_a_constraint_finds_the_newest_stack_that_satisfies_it(stacks: Path, version: str, chosen: str | None) -> None:
    found = known_software(model("TensorFlow", version))
    assert (found.name if found else None) == chosen


def test_a_stack_for_another_machine_is_not_chosen_by_itself(stacks: Path) -> None:
    (stacks / "elsewhere.yml").write_text(
        STACK.format(name="elsewhere", framework="tensorflow", requirements="tensorflow==3.0.0").replace(
            'python: "3.11"', 'python: "3.11", architecture: s390x'
        )
    )
    assert known_software(model("TensorFlow", "^3")) is None


def test_a_framework_that_a_system_packages_is_found_by_its_package(stacks: Path) -> None:
    (stacks / "system.yml").write_text(
        "name: system\nversion: 1.0.0\nframework: {name: caffe, version: '>=1.0 <1.1'}\n"
        "stack: {root: 'debian:bullseye', system_packages: [python3-caffe]}\n"
    )
    found = known_software(model("Caffe", "^1.0"))
    assert found is not None and found.name == "system"


def test_of_packages_whose_versions_cannot_be_compared_the_first_choice_wins(stacks: Path) -> None:
    found = known_software(model("tflite", "*"))
    assert found is not None and found.name == "litert"


def test_the_stack_of_tensorflow_lite_models_has_what_their_steps_name() -> None:
    """Most of them are published with pictures that OpenCV resized."""
    found = known_software(model("tflite", "*"))
    assert found is not None and found.stack is not None
    names = {line.partition("==")[0] for line in found.stack.requirements}
    assert {"pillow", "opencv-python-headless"} <= names


@pytest.mark.parametrize("version", ["*", ">=5", "^5.0"])
def test_a_language_model_of_transformers_finds_its_stack_by_itself(version: str) -> None:
    found = known_software(model("transformers", version))
    assert found is not None and found.stack is not None
    names = {package_of(line) for line in found.stack.requirements}
    assert {"torch", "transformers", "safetensors", "gguf", "tokenizers", "jinja2", "sentencepiece"} <= names


def test_models_of_pytorch_do_not_get_the_stack_of_language_models() -> None:
    found = known_software(model("pytorch", "*"))
    assert found is not None and found.framework is not None and framework_word(found.framework) == "pytorch"
