"""One model or dataset in a screen, and its manifest as written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mlmodelscope.cli.manifest_summary import dataset_rows, model_rows
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.settings import Settings
from small_world import MODEL

from .conftest import Call


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", offline=True)


def test_a_model_is_summed_up_without_what_only_programs_need(call: Call) -> None:
    shown = call("models", "efficientnet-lite0")
    assert shown.startswith("efficientnet-lite0  1.0.0\n") and len(shown.splitlines()) < 25
    assert "image (`images`, float32): decode → crop → resize 224×224 → mean → rescale → layout" in shown
    assert "graphs/efficientnet-lite0.onnx, 38.1" in shown and "top1 75.1 % on imagenet-val: " in shown
    assert "Apache-2.0" in shown and "runs here" in shown and "{}" not in shown and "sha256" not in shown


def test_a_dataset_is_summed_up(call: Call) -> None:
    shown = call("datasets", "imagenet-val")
    assert "samples" in shown and "50,000, format imagenet" in shown and "not connected" in shown
    assert "1,000: n01440764 tench" in shown and "https://image-net.org/download-images.php" in shown


@pytest.mark.parametrize(("verb", "name"), [("models", "efficientnet-lite0"), ("datasets", "mnist-test")])
def test_yaml_is_the_manifest_as_its_author_wrote_it(call: Call, verb: str, name: str) -> None:
    written = (Path(__file__).parents[2] / "manifests" / verb / f"{name}.yml").read_text()
    assert call(verb, name, "--yaml").rstrip("\n") == written.rstrip("\n")
    assert json.loads(call(verb, name, "--json"))["name"] == name


def test_a_model_of_a_source_has_a_manifest_to_print(call: Call) -> None:
    assert yaml.safe_load(call("models", "timm:resnet50.a1_in1k", "--yaml"))["framework"]["name"] == "pytorch"
    shown = call("models", "timm:resnet50.a1_in1k")
    assert "more: mlmodelscope claims show timm:resnet50.a1_in1k" in shown


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("models", "--yaml"), "mlmodelscope models NAME --yaml"),
        (("datasets", "--yaml"), "mlmodelscope datasets show NAME --yaml"),
        (("models", "efficientnet-lite0", "--yaml", "--json"), "exclude each other"),
        (("datasets", "mnist-test", "--yaml", "--json"), "exclude each other"),
    ],
)
def test_yaml_is_of_one_thing_and_in_one_form(call: Call, words: tuple[str, ...], why: str) -> None:
    assert why in call(*words, code=2)


def test_what_a_manifest_leaves_out_has_no_line(settings: Settings) -> None:
    model = parse_manifest(MODEL.replace("toy.json", "https://host.example/many words.onnx"))
    assert isinstance(model, ModelManifest)
    rows = list(model_rows(model, "toy", settings, [], is_here=True))
    assert not {name for name, _ in rows} & {"license", "author", "claims", "references", "trained on"}
    assert all(text for _, text in rows)
    assert any(text.endswith("fetched when used") for _, text in rows)


def test_a_list_of_classes_that_cannot_be_read_is_named(settings: Settings) -> None:
    text = (
        "name: x\nversion: 1.0.0\nformat: list\nsources: [{url: 'https://host.example/a.zip'}]\nclasses_url: none.txt\n"
    )
    dataset = parse_manifest(text)
    assert isinstance(dataset, DatasetManifest)
    rows = dict(dataset_rows(dataset, settings, "", is_here=True))
    assert rows["classes"].endswith("none.txt") and rows["samples"] == "unspecified, format list"
