"""Flips of tasks with shapes: both answers over the picture, with the truth and what it did to the sample's quality."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import squares
from browser import sticks_out
from mlmodelscope import Settings, load_manifest
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.replicate.evidence import evidence_json
from mlmodelscope.replicate.finding import Flip
from mlmodelscope.replicate.replication import Replication, replicate
from mlmodelscope.replicate.replication_page import render

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replication]:
    """A detector that is given other colors than it was trained with."""
    folder = tmp_path_factory.mktemp("overlaid")
    model = squares.model(folder)
    model["inputs"][0]["processing"]["decode"] = {"color_layout": "BGR"}
    settings = Settings(home=folder / "home", cache=folder / "cache")
    data = load_manifest(squares.dataset(folder, 30))
    yield replicate(load_manifest(model), data, claim=parse_claim("ap=100.0@squares"), settings=settings)


def test_both_answers_are_kept_with_the_truth(done: Replication) -> None:
    assert done.evidence is not None
    first = done.evidence.flips[0]
    assert first.quality is not None and first.quality[0] < first.quality[1]
    drawn = first.overlaid
    assert drawn is not None and drawn.size == (32, 32) and drawn.uri is not None
    assert {each.name for each in drawn.after} == {each.name for each in drawn.truth}
    assert {each.side for each in (*drawn.before, *drawn.after)} == {"answer"}


def test_programs_get_shapes_and_qualities(done: Replication) -> None:
    assert done.evidence is not None
    body = json.loads(json.dumps(evidence_json(done.evidence)))["flips"][0]
    assert body["quality"]["after"] > body["quality"]["before"] and body["overlaid"]["size"] == [32, 32]
    body.pop("seen", None)
    flip = Flip.model_validate(body)
    assert flip.overlaid is not None and flip.overlaid.before[0].kind == "box"


def test_the_page_draws_both_answers_over_the_picture(done: Replication, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "replication.html"
    path.write_text(render(done), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    card = page.locator(".exhibit").first
    assert card.locator(".overlays svg.seen").count() == 2
    assert card.get_by_text("Quality of the answer").is_visible() and page.get_by_text("The sample failed").count() == 0
    assert card.locator(".overlays svg.seen").first.locator(".of-truth rect").count() > 0
    assert sticks_out(page) == []
