"""From a claim on a dataset that is not connected to its verdict, by the commands that messages show."""

import json
import os
import shlex
from functools import partial
from pathlib import Path

import pytest
import yaml

from cli.command import Run, run_command
from connection.small_data import imagenet_flat, shipped, shrunk, write_files, write_manifest
from mlmodelscope.manifest.folders import shipped_folder
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.output import plan_outputs
from small_world import dataset_of, write_model

NAMES = [f"ILSVRC2012_val_{number:08d}.JPEG" for number in (1, 2, 3, 4)]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command, with `imagenet-val` of four real pictures, which lie in `flat`, and a model that claims about it."""
    from PIL import Image

    write_manifest(tmp_path / "manifests", shrunk("imagenet-val", 4, numbers=[1, 4], folders=2, in_each=2))
    folder = write_files(tmp_path / "flat", {name: b"" for name in imagenet_flat()})
    for number, name in enumerate(NAMES):
        Image.new("RGB", (9, 9), (60 * number, 10, 200)).save(folder / name, "JPEG")
    (folder / "val.txt").write_text("".join(f"{name} {number}\n" for number, name in enumerate(NAMES)))
    claims = [{"metric": "top1", "value": "75.0", "dataset": "imagenet-val"}]
    write_model(tmp_path / "toy.json", {"classes": 1000})
    manifest = {
        "name": "toy",
        "version": "1.0.0",
        "task": "classification",
        "framework": {"name": "fake"},
        "inputs": [
            {
                "type": "image",
                "processing": {"decode": {"color_layout": "RGB"}, "resize": {"dimensions": [8, 8]}, "layout": "NCHW"},
            }
        ],
        "outputs": [{"type": "logits", "processing": {"softmax": None}}],
        "source": {"graph_path": "toy.json"},
        "claims": claims,
    }
    (tmp_path / "toy.yml").write_text(yaml.safe_dump(manifest))
    variables = {
        "MLMODELSCOPE_HOME": str(tmp_path / "home"),
        "MLMODELSCOPE_CACHE": str(tmp_path / "cache"),
        "MLMODELSCOPE_MANIFESTS": str(tmp_path / "manifests"),
    }
    return partial(run_command, cwd=tmp_path, environment={**os.environ, **variables})


@pytest.mark.parametrize(
    "verb",
    ["evaluate toy.yml imagenet-val", "replicate toy.yml", "plan toy.yml imagenet-val", "bench toy.yml imagenet-val"],
)
def test_what_is_not_connected_is_refused_before_anything_runs(verb: str, run: Run, tmp_path: Path) -> None:
    done = run(*verb.split())
    said = done.stdout + done.stderr  # `plan` prints JSON
    assert done.returncode in (1, 3) and "datasets connect imagenet-val FOLDER" in said
    assert "license: ImageNet's terms" in said and "1. register at" in said
    assert "Traceback" not in said and not (tmp_path / "home" / "records").exists()


def test_the_hint_works_when_it_is_followed(run: Run) -> None:
    refused = run("replicate", "toy.yml")
    hint = refused.stderr.rpartition("hint: ")[2].strip()
    words = shlex.split(hint.replace("FOLDER", "flat"))
    done = run(*words[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("imagenet-val is connected: 4 samples in ")
    verdict = run("replicate", "toy.yml", "--no-explain")
    assert "4 samples" in verdict.stdout and "imagenet-val" in verdict.stdout, verdict.stderr


def test_records_tell_the_same_dataset(run: Run, tmp_path: Path) -> None:
    assert run("datasets", "connect", "imagenet-val", "flat").returncode == 0
    done = run("evaluate", "toy.yml", "imagenet-val", "--json")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)
    (tmp_path / "flat").rename(tmp_path / "moved")
    assert "is not there now" in run("evaluate", "toy.yml", "imagenet-val").stderr
    assert run("datasets", "connect", "imagenet-val", "moved").returncode == 0
    again = json.loads(run("evaluate", "toy.yml", "imagenet-val", "--json").stdout)
    assert again["id"] == first["id"]  # the same bytes: the answer is in the store


def test_the_list_shows_what_is_connected(run: Run, tmp_path: Path) -> None:
    def line() -> str:
        return next(each for each in run("datasets").stdout.splitlines() if each.startswith("imagenet-val "))

    assert "not connected" in line()
    run("datasets", "connect", "imagenet-val", "flat")
    assert "connected: " in line()  # a long name of a folder goes on in the next lines
    shown = run("datasets", "imagenet-val")
    assert "on this machine" in shown.stdout and str(tmp_path / "flat") in shown.stdout
    assert yaml.safe_load(run("datasets", "imagenet-val", "--yaml").stdout)["name"] == "imagenet-val"
    assert f"connected from {tmp_path / 'flat'}" in shown.stderr
    assert json.loads(run("datasets", "imagenet-val", "--json").stdout)["size"] == 4
    (tmp_path / "flat").rename(tmp_path / "gone")
    assert "missing: " in line()
    (tmp_path / "home" / "datasets" / "imagenet-val.json").write_text("{")
    assert "connected, damaged" in line()
    assert run("datasets", "disconnect", "imagenet-val").returncode == 0
    assert "not connected" in line()


def test_connecting_prints_what_was_seen(run: Run) -> None:
    done = run("datasets", "connect", "imagenet-val", "flat", "--json")
    found = json.loads(done.stdout)
    assert found["samples"] == 4 and found["layout"] == "flat"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("datasets connect imagenet-val none", "does not exist"),
        ("datasets connect imagenet-vla flat", "did you mean `imagenet-val`"),
        ("datasets connect imagenet-70 flat", "needs no folder"),
        ("datasets disconnect imagenet-val", "is not connected"),
        ("datasets connect imagenet-val flat --server http://localhost:1", "is done where the folder is"),
        ("datasets connect imagenet-val manifests", "holds nothing of it"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(words: str, said: str, run: Run) -> None:
    done = run(*words.split())
    assert done.returncode in (1, 2) and said in done.stderr and "Traceback" not in done.stderr


def test_two_writers_leave_one_whole_connection(run: Run, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from mlmodelscope.connection.connect import connect
    from mlmodelscope.connection.kept import find_connection
    from mlmodelscope.manifest.schema import DatasetManifest
    from mlmodelscope.settings import Settings

    settings = Settings(tmp_path / "home", tmp_path / "cache")
    manifest = load_manifest(tmp_path / "manifests" / "datasets" / "imagenet-val.yml")
    assert isinstance(manifest, DatasetManifest)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: connect(manifest, tmp_path / "flat", settings), range(8)))
    kept = find_connection(settings, "imagenet-val")
    assert kept is not None and {each.digest for each in found} == {kept.digest}
    assert [path.name for path in (tmp_path / "home" / "datasets").iterdir() if path.name.startswith(".")] == []


def test_only_the_classes_of_a_dataset_compete(tmp_path: Path) -> None:
    """ImageNet-A and -R have 200 of the thousand classes, and published numbers let no other be the answer."""
    folder = shipped_folder()
    assert folder is not None
    model = write_model(tmp_path / "toy.json", outputs=[{"type": "logits", "processing": {"softmax": None}}])
    shipped = load_manifest(folder / "datasets" / "imagenet-a.yml")
    (planned,) = plan_outputs(model, shipped)  # type: ignore[arg-type]
    assert [step.name for step in planned.steps] == ["only_classes", "softmax"]
    classes = planned.steps[0].parameters["classes"]
    assert len(classes) == 200 and classes[0] == 6
    (plain,) = plan_outputs(model, dataset_of(tmp_path))
    assert [step.name for step in plain.steps] == ["softmax"]
    shifted = write_model(
        tmp_path / "toy.json", outputs=[{"type": "logits", "label_offset": 1, "processing": {"softmax": None}}]
    )
    assert plan_outputs(shifted, shipped)[0].steps[0].parameters["classes"][0] == 7  # type: ignore[arg-type]


def test_a_class_that_the_model_does_not_have_is_told(run: Run, tmp_path: Path) -> None:
    data = {"name": "few", "version": "1.0.0", "task": "classification", "format": "list", "labels": {"among": [3000]}}
    data |= {"sources": [{"url": "flat", "labels_url": "flat/val.txt"}], "include": "*.JPEG"}
    (tmp_path / "few.yml").write_text(yaml.safe_dump(data))
    done = run("evaluate", "toy.yml", "few.yml")
    assert done.returncode != 0 and "the class 3000 is wanted, and there are 1000 outputs" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_part_and_other_labels_of_the_same_folder_are_evaluated(run: Run, tmp_path: Path) -> None:
    """Where every class is right, every answer is."""
    part = shipped("imagenet-a-clean") | {"size": 2}
    part["labels"] = {**part["labels"], "among": [1, 2]}
    write_manifest(tmp_path / "manifests", part)
    write_manifest(tmp_path / "manifests", shrunk("imagenet-real", 3, numbers=[1, 4], folders=2, in_each=2))
    refused = run("evaluate", "toy.yml", "imagenet-a-clean").stderr
    assert "imagenet-a-clean is a part of imagenet-val" in refused and "connect imagenet-val FOLDER" in refused
    assert run("datasets", "connect", "imagenet-val", "flat").returncode == 0
    assert "imagenet-a-clean" in run("datasets").stdout
    found = json.loads(run("evaluate", "toy.yml", "imagenet-a-clean", "--json").stdout)
    assert found["samples"] == 2 and 0 <= found["metrics"]["top1"]["value"] <= 1

    everything = list(range(1000))
    (tmp_path / "flat" / "real.json").write_text(json.dumps([everything, [], everything, [*everything, 7]]))
    done = run("datasets", "connect", "imagenet-real", "flat")
    assert "3 samples" in done.stdout and "layout among-pictures" in done.stdout, done.stderr
    real = json.loads(run("evaluate", "toy.yml", "imagenet-real", "--json").stdout)
    assert real["samples"] == 3 and real["metrics"]["top1"]["value"] == 1
    verdict = run("replicate", "toy.yml", "imagenet-real", "--claim", "top1=99.0@imagenet-real", "--json")
    assert json.loads(verdict.stdout)["verdict"], verdict.stderr
