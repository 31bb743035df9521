"""The trainings of examples/training, in PyTorch, Keras and JAX: what they come to, and that a kill changes nothing.

Each framework gets an environment of its own, with wheels for processors. That downloads and takes minutes: at night.
"""

import json
import random
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from mlmodelscope.dataset.files import source_files
from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.input import plan_inputs
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.training import plan_training
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.statistic.welch import welch

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "tests" / "worker_package" / "training" / "one_training.py"
WHEELS = {
    "pytorch": ("torch==2.13.0+cpu", "numpy"),
    "keras": ("keras==3.15.1", "jax==0.10.2", "numpy"),
    "jax": ("jax==0.10.2", "numpy"),
}
INDEX = "https://download.pytorch.org/whl/cpu"
FRAMEWORKS = tuple(WHEELS)
Train = Callable[..., Any]


def manifest_of(framework: str) -> ModelManifest:
    found = load_manifest(ROOT / "examples" / "training" / f"mnist-{framework}.yml")
    assert isinstance(found, ModelManifest)
    return found


def task_of(framework: str, dataset: DatasetManifest, seed: int, **settings: Any) -> dict[str, Any]:
    """What a worker is told of the training."""
    model = manifest_of(framework)
    inputs = plan_inputs(model, dataset)
    loop = plan_training(model, Options(training=settings), inputs, 1)
    assert loop is not None and model.training is not None
    spec = {"code": model.functions["training"].code, "function": "train_step", "file": model.training.code, "line": 1}
    return {
        "inputs": [each.model_dump(mode="json") for each in inputs],
        "functions": {"training": spec},
        "hyperparameters": model.hyperparameters,
        "seed": seed,
        "training": loop.model_dump(mode="json"),
    }


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_example_can_be_planned_and_exported(framework: str) -> None:
    model, dataset = manifest_of(framework), find_manifest(DatasetManifest, "mnist")
    task = task_of(framework, dataset, 0)
    assert task["training"]["framework"] == framework and task["training"]["head"] == ["head"]
    assert {"build", "train_step", "training_data"} <= set(task["training"]["functions"].values())
    assert model.outputs and model.inputs


@pytest.fixture(scope="module")
def files() -> dict[str, list[str]]:
    dataset = find_manifest(DatasetManifest, "mnist")
    artifacts = ArtifactStore(Settings.from_environment())
    try:
        return source_files(plan_dataset(dataset, Options(), {}, "classification"), artifacts)
    except ArtifactError as error:
        pytest.skip(f"MNIST cannot be fetched: {error.message}")


@pytest.fixture(scope="module")
def train_in(tmp_path_factory: pytest.TempPathFactory, files: dict[str, list[str]]) -> Callable[[str], Train]:
    """A training in an environment of the framework's own, made once."""
    pythons: dict[str, Path] = {}

    def python_of(framework: str) -> Path:
        if framework not in pythons:
            place = tmp_path_factory.mktemp(framework)
            venv.create(place, with_pip=True)
            pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q", "--extra-index-url", INDEX]
            done = subprocess.run([*pip, *WHEELS[framework]], capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"the wheels of {framework} cannot be installed: {done.stderr[-300:]}")
            pythons[framework] = place / "bin" / "python"
        return pythons[framework]

    def make(framework: str) -> Train:
        python = python_of(framework)
        dataset = find_manifest(DatasetManifest, "mnist")

        def train(folder: Path, seed: int, killed_after: int = 0, **settings: Any) -> Any:
            task = json.dumps(task_of(framework, dataset, seed, **settings))
            words = [
                str(python),
                str(SCRIPT),
                str(ROOT / "src"),
                task,
                json.dumps(files),
                str(folder),
                str(killed_after),
            ]
            done = subprocess.run(words, capture_output=True, text=True)
            if killed_after:
                assert done.returncode == -9, done.stderr
                return None
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout.splitlines()[-1])

        return train

    return make


@pytest.mark.nightly
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_killed_at_ten_moments_it_ends_with_the_same_weights(
    framework: str, train_in: Callable[[str], Train], tmp_path: Path
) -> None:
    train, drawn = train_in(framework), random.Random(4)
    settings = {"steps": 120, "evaluate_every": 60, "checkpoint_every": 3}
    whole = train(tmp_path / "whole", 1, **settings)
    for _ in range(10):
        train(tmp_path / "killed", 1, drawn.randint(3, 11), **settings)
    resumed = train(tmp_path / "killed", 1, **settings)
    assert resumed["resumed"] == 10 and whole["resumed"] == 0
    assert resumed["weights"] == whole["weights"] and resumed["curve"] == whole["curve"]


@pytest.mark.nightly
def test_all_frameworks_come_to_the_same_accuracy(train_in: Callable[[str], Train], tmp_path: Path) -> None:
    """Over five seeds: the interval of the difference of any two holds 0."""
    found = {}
    for framework in FRAMEWORKS:
        train = train_in(framework)
        runs = [train(tmp_path / f"{framework}-{seed}", seed) for seed in range(1, 6)]
        found[framework] = [run["metrics"]["accuracy"] for run in runs]
    assert min(min(each) for each in found.values()) > 0.96, found
    for one in FRAMEWORKS:
        for other in FRAMEWORKS:
            tested = welch(found[one], found[other])
            assert tested is not None and tested.difference.low <= 0 <= tested.difference.high, found
