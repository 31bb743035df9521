"""What was trained becomes a manifest that `evaluate` takes, with or without its head."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.command import Run, command_in
from mlmodelscope import Settings, load_manifest
from mlmodelscope.errors import UsageError
from mlmodelscope.training import check_exportable
from small_world import DATASET, Once, write_pictures
from training_world import small_training

CODE = """
import os
import numpy as np

def training_data(files):
    paths = sorted(files["data"])
    return paths, [int(os.path.basename(os.path.dirname(each))[5:]) for each in paths]

evaluation_data = training_data

def build(seed):
    random = np.random.RandomState(seed)
    return {"hidden": random.standard_normal((192, 16)) * 0.1, "head": random.standard_normal((16, 3)) * 0.1}

def features(model, inputs):
    return np.maximum(inputs.reshape(len(inputs), -1) @ model["hidden"], 0)

def forward(model, inputs):
    return features(model, inputs) @ model["head"]

def train_step(model, state, inputs, targets):
    hidden = features(model, inputs)
    scores = hidden @ model["head"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.arange(len(targets))
    loss = -np.log(shares[rows, targets] + 1e-12).mean()
    shares[rows, targets] -= 1
    back = (shares @ model["head"].T) * (hidden > 0)
    model["head"] -= 0.02 * hidden.T @ shares
    model["hidden"] -= 0.02 * inputs.reshape(len(inputs), -1).T @ back
    return model, state, loss

def metrics(outputs, targets):
    return {"accuracy": (outputs.argmax(axis=1) == targets).mean()}
"""
MANIFEST = """\
name: colors
version: 1.2.0
task: classification
job_type: training
inputs:
  - type: image
    processing: {decode: {color_layout: RGB}, resize: {dimensions: [8, 8]}, mean: 127.5, rescale: 127.5, layout: NCHW}
outputs: [{type: logits, processing: {softmax: }}]
training: {code: colors.py, batch_size: 4, epochs: 40, evaluate_every: 60, head: [head], augmentation: [{noise: 0.01}]}
"""


def write_world(folder: Path) -> None:
    write_pictures(folder / "pictures")
    (folder / "pictures.yml").write_text(DATASET)
    (folder / "colors.py").write_text(CODE)
    (folder / "colors.yml").write_text(MANIFEST)


@pytest.fixture(scope="module")
def run(once: Once) -> Run:
    """In a folder where it was trained and exported both ways."""

    def make(place: Path) -> None:
        write_world(place)
        here = command_in(place)
        words = ("train", "colors.yml", "pictures.yml", "--trust", "--export")
        done = here(*words, "trained.yml")
        assert done.returncode == 0, done.stderr
        assert "wrote trained.yml" in done.stdout
        assert here(*words, "features.yml", "--without-head", "--json").returncode == 0

    return command_in(once("exported-training", make))


def answers(run: Run, *words: str) -> dict[str, Any]:
    done = run("evaluate", *words, "pictures.yml", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_trained_model_is_as_good_as_its_training_measured(run: Run) -> None:
    trained = json.loads(run("train", "colors.yml", "pictures.yml", "--trust", "--json").stdout)
    accuracy = trained["training"]["metrics"]["accuracy"]
    record = answers(run, "trained.yml")
    assert accuracy > 0.6 and record["metrics"]["top1"]["value"] == pytest.approx(accuracy, abs=1e-9)
    assert record["failed"] == 0 and record["plan"]["model"]["name"] == "colors-trained"
    assert answers(run, "trained.yml", "--batch-size", "5")["metrics"] == record["metrics"]


def test_without_its_head_it_gives_what_the_head_would_get(run: Run) -> None:
    record = answers(run, "features.yml")
    assert record["failed"] == 0 and record["samples"] == 12
    done = run("predict", "features.yml", "pictures/class0/0000.png", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert len(str(done.stdout).split(",")) >= 16


def test_another_file_of_weights_is_refused(run: Run, tmp_path: Path) -> None:
    folder = Path(json.loads(run("train", "colors.yml", "pictures.yml", "--trust", "--json").stdout)["id"])
    text = (place_of(run) / "trained.yml").read_text()
    np.savez(place_of(run) / "other.npz", hidden=np.zeros((192, 16)), head=np.zeros((16, 4)))
    kept = [line for line in text.splitlines() if "checksum" not in line]
    (place_of(run) / "other.yml").write_text("\n".join(kept).replace("trained.weights.npz", "other.npz") + "\n")
    done = run("evaluate", "other.yml", "pictures.yml", "--trust")
    said = done.stdout + done.stderr
    assert "the file of weights is not of this model: `head` differs" in said, (folder, said)


def place_of(run: Any) -> Path:
    found: Path = run.keywords["cwd"]
    return found


def test_what_cannot_be_exported_is_refused_before_it_is_trained(run: Run, settings: Settings) -> None:
    def refusal(destination: str = "a.yml", without_head: bool = False, **changes: Any) -> str:
        model: Any = load_manifest({**small_training(), **changes})
        with pytest.raises(UsageError) as raised:
            check_exportable(model, Path(destination), without_head)
        return raised.value.message

    inputs = [{"type": "image", "processing": {"mean": 1}}]
    assert "does not end in .yml" in refusal("a.json")
    assert "has no `inputs`" in refusal()
    assert "has no `outputs`" in refusal(inputs=inputs)
    assert "names no layers as its head" in refusal(inputs=inputs, without_head=True)
    assert "trained models of classification and regression" in refusal(inputs=inputs, task="translation")
    own = {"training": None, "run": "def run(ctx, data):\n    return 1\n"}
    assert "is a function of its own" in refusal(**own)
    alone = run("train", "colors.yml", "pictures.yml", "--trust", "--without-head")
    assert alone.returncode == 2 and "goes with --export" in alone.stderr
