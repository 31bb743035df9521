"""What stands in the way of a check, found without fetching, building or running anything."""

import re

import pytest

from claim.claim_world import HELD, write_claims
from mlmodelscope.claim.obstacle import Obstacles


@pytest.fixture
def own(tmp_path, monkeypatch):
    folder = write_claims(tmp_path / "own", {"ready": [HELD]})
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(folder))
    monkeypatch.setattr("socket.socket.connect", lambda *given: pytest.fail("the network was asked"))
    return folder


def variant(own, name, *changes):
    text = (own / "ready.yml").read_text().replace("name: ready", f"name: {name}")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (own / f"{name}.yml").write_text(text)
    return name


def test_what_is_here_has_no_obstacle(own, settings):
    place = Obstacles(settings)
    assert place.of_dataset("pictures") is None and place.of_dataset("pictures@^1.0") is None
    assert place.of_model("ready", "pictures") is None


def test_weights_and_data_that_are_elsewhere_may_be_fetched(own, settings):
    far = variant(own, "far", ("toy.json", "https://host.example/toy.json"))
    text = (own / "pictures.yml").read_text()
    (own / "away.yml").write_text(
        text.replace("name: pictures", "name: away").replace("url: pictures", "url: s3://a/b")
    )
    place = Obstacles(settings)
    assert place.of_model(far, "pictures") == "its weights are not on this machine"
    assert place.of_dataset("away") == "the data of away is not on this machine"
    fetching = Obstacles(settings, may_fetch=True)
    assert fetching.of_model(far, "pictures") is None and fetching.of_dataset("away") is None


def test_a_dataset_that_nothing_describes_is_said_by_its_name(own, settings):
    said = Obstacles(settings).of_dataset("Imagenet-Val:test")
    assert said == "no manifest here describes the dataset imagenet-val"


def test_a_stack_that_is_not_built_is_an_obstacle(own, settings):
    old = variant(own, "old", ("{name: fake}", "{name: tensorflow, version: ~1.13}"))
    assert "the stack tensorflow-1.13" in (Obstacles(settings).of_model(old, "pictures") or "")
    none = variant(own, "none", ("{name: fake}", "{name: tensorflow, version: ~0.3}"))
    assert Obstacles(settings).of_model(none, "pictures") == "no stack here runs tensorflow ~0.3"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("task: classification", "task: object_detection", "odd is for object_detection"),
        ("source: {", "source: [", "expected|flow"),
        ("top5", "psnr", "claims nothing"),
    ],
)
def test_what_an_evaluation_would_refuse_is_refused_before(own, settings, before, after, said):
    why = Obstacles(settings).of_model(variant(own, "odd", (before, after)), "pictures")
    assert why is not None and "\n" not in why and re.search(said, why), why


def test_a_model_that_is_gone_is_said(own, settings):
    assert "there is no model `gone`" in (Obstacles(settings).of_model("gone", "pictures") or "")
