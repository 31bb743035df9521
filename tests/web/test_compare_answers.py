"""Two records of one task side by side: the truth and both answers over the picture of every sample that changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, expect

import squares
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings
from seen_world import WORLDS

from .conftest import PHONE, Site, Visit, visiting

pytest.importorskip("onnxruntime")
pytest.importorskip("faster_coco_eval")

Model = dict[str, Any]
FINDER = """
name: finder
version: 1.0.0
task: token_classification
files: {names: {url: NAMES}}
inputs: [{type: text}]
preprocess: |
  def preprocess(ctx, data):
      return data
run: |
  def run(ctx, data):
      import json, re
      with open(ctx["files"]["names"]) as file:
          names = json.load(file)
      return [[(word, names[word.group()]) for word in re.finditer("[a-zA-Z]+", text) if word.group() in names]
              for text in data["data"]]
postprocess: |
  def postprocess(ctx, data):
      return [{"spans": [[word.start(), word.end(), kind] for word, kind in found]} for found in data]
"""


def write_detector(folder: Path) -> tuple[Path, Path]:
    (folder / "model.yml").write_text(yaml.safe_dump(squares.model(folder), sort_keys=False))
    (folder / "dataset.yml").write_text(yaml.safe_dump(squares.dataset(folder, 20), sort_keys=False))
    return folder / "model.yml", folder / "dataset.yml"


def write_finder(folder: Path) -> tuple[Path, Path]:
    place = folder / "news" / "devset"
    place.mkdir(parents=True)
    (place / "a.txt").write_text("Rome saw <b>Bob</b>")
    (place / "a.spans").write_text("1 loc_name 0 4\n2 name 12 3\n")
    (place / "a.objects").write_text("10 Location 1\n11 Person 2\n")
    (folder / "names.json").write_text(json.dumps({"Rome": "LOC", "Bob": "PER"}))
    (folder / "fewer.json").write_text(json.dumps({"saw": "LOC", "Bob": "PER"}))
    (folder / "model.yml").write_text(FINDER.replace("NAMES", str(folder / "names.json")))
    dataset = {"name": "news", "version": "1.0.0", "task": "token_classification", "format": "factrueval"}
    (folder / "dataset.yml").write_text(yaml.safe_dump({**dataset, "sources": [{"url": str(folder / "news")}]}))
    return folder / "model.yml", folder / "dataset.yml"


def _steps(model: Model) -> list[Any]:
    steps: list[Any] = model["inputs"][0]["processing"]
    return steps


def _other_colors(model: Model) -> None:
    model["inputs"][0]["processing"]["decode"] = {"color_layout": "BGR"}


def _other_classes(model: Model) -> None:
    for output in model["outputs"]:
        if output["type"] == "classes":
            output["label_offset"] = 1


def _other_points(model: Model) -> None:
    model["answer"] = [{"keypoints": "yx"}]


def _coarser(model: Model) -> None:
    _steps(model).insert(1, {"resize": {"dimensions": [6, 8], "method": "nearest"}})


def _nothing_lost(model: Model) -> None:
    model["inputs"][0]["processing"] = [each for each in _steps(model) if "scale" not in each]


def _fewer_names(model: Model) -> None:
    model["files"]["names"]["url"] = model["files"]["names"]["url"].replace("names.json", "fewer.json")


MADE: dict[str, tuple[Callable[[Path], tuple[Path, Path]], Callable[[Model], None]]] = {
    "object_detection": (write_detector, _other_colors),
    "instance_segmentation": (WORLDS["instance_segmentation"], _other_classes),
    "keypoint_detection": (WORLDS["keypoint_detection"], _other_points),
    "semantic_segmentation": (WORLDS["semantic_segmentation"], _coarser),
    "image_enhancement": (WORLDS["image_enhancement"], _nothing_lost),
    "token_classification": (write_finder, _fewer_names),
}


@pytest.fixture(scope="module")
def pairs(site: Site) -> dict[str, str]:
    """The address of a comparison for each task."""
    settings, found = Settings.from_environment(site.environment("server")), {}
    for task, (write, change) in MADE.items():
        place = site.place / "compared" / task
        place.mkdir(parents=True)
        model, dataset = write(place)
        changed = yaml.safe_load(model.read_text())
        change(changed)
        other = model.with_name("other.yml")
        other.write_text(yaml.safe_dump(changed, sort_keys=False))
        records = [
            evaluate(each, dataset, Options(timed_runs=3), settings=settings, trust=True) for each in (model, other)
        ]
        found[task] = f"/compare?records={','.join(each.id for each in records)}"
    return found


def changed(visit: Visit, address: str) -> Locator:
    page = visit.to(address)
    return page.get_by_role("region", name="Samples that changed").locator("ul > li:has(figure)")


def test_samples_that_got_worse_come_first_and_kinds_are_chosen(visit: Visit, pairs: dict[str, str]) -> None:
    cards = changed(visit, pairs["object_detection"])
    expect(cards).to_have_count(6)
    lost = []
    for card in cards.all():
        expect(card.get_by_text("worse", exact=True)).to_be_visible()
        before, after = (float(each) for each in re.findall(r"Quality ([\d.]+) %", card.inner_text()))
        lost.append(before - after)
    assert lost == sorted(lost, reverse=True) and lost[0] > 0
    visit.page.get_by_role("button", name="More samples").click()
    expect(cards.nth(6)).to_be_visible()
    visit.page.get_by_role("button", name=re.compile("^better")).click()
    expect(visit.page.get_by_text("None of this kind.")).to_be_visible()


def test_boxes_of_both_answers_lie_over_the_truth(visit: Visit, pairs: dict[str, str]) -> None:
    card = changed(visit, pairs["object_detection"]).first
    drawn = card.get_by_role("img", name=re.compile("boxes: .*truth: "))
    expect(drawn).to_have_count(2)
    assert [each.get_attribute("viewBox") for each in drawn.all()] == ["0 0 32 32"] * 2
    truth = card.locator("g[stroke-dasharray] rect")
    seen = truth.count()
    assert seen > 0 and seen % 2 == 0  # the same things twice
    visit.page.get_by_role("checkbox", name="Truth").first.uncheck()
    expect(truth).to_have_count(0)
    visit.page.get_by_role("slider", name="Score from").first.fill("1")
    expect(card.locator("rect")).to_have_count(0)
    assert visit.violations() == []


def test_masks_points_and_maps_lie_over_the_truth(visit: Visit, pairs: dict[str, str]) -> None:
    card = changed(visit, pairs["instance_segmentation"]).first
    expect(card.get_by_role("img", name="truth: <b>dog</b>", exact=True)).to_have_count(2)
    expect(card.get_by_role("img", name="answer: <b>dog</b>", exact=True)).to_have_count(1)
    # The first has found a less sure cat as well; in the second the dog is one.
    expect(card.get_by_role("img", name="answer: cat", exact=True)).to_have_count(2)
    card = changed(visit, pairs["keypoint_detection"]).first
    expect(card.get_by_role("img", name=re.compile("things: .*truth: cat"))).to_have_count(2)
    expect(card.locator("circle").first).to_be_visible()
    card = changed(visit, pairs["semantic_segmentation"]).first
    for side in ("truth", "answer"):
        expect(card.get_by_role("img", name=f"{side}: cat, <b>dog</b>", exact=True)).to_have_count(2)


def test_enhanced_pictures_are_moved_over_the_true_one(visit: Visit, pairs: dict[str, str]) -> None:
    card = changed(visit, pairs["image_enhancement"]).first
    expect(card.get_by_text("better", exact=True)).to_be_visible()
    lines = card.get_by_role("slider", name="Line between truth and answer")
    expect(lines).to_have_count(2)
    lines.nth(1).press("End")
    expect(lines.nth(1)).to_have_attribute("aria-valuetext", "100 % truth")
    expect(lines.nth(0)).to_have_attribute("aria-valuetext", "50 % truth")


def test_texts_are_marked_and_stay_texts(visit: Visit, pairs: dict[str, str]) -> None:
    card = changed(visit, pairs["token_classification"]).first
    said = card.get_by_role("region", name="What it says")
    expect(said).to_have_count(2)
    expect(said.nth(0)).to_contain_text("saw <b>Bob")
    expect(said.nth(0).locator("mark").first).to_contain_text("Rome")
    expect(said.nth(1).locator("mark").first).to_contain_text("saw")
    expect(card.get_by_role("region", name="What is true")).to_have_count(2)


def test_a_card_leads_to_the_sample_in_its_record(visit: Visit, pairs: dict[str, str]) -> None:
    card = changed(visit, pairs["keypoint_detection"]).first
    name = card.get_by_role("heading").inner_text()
    card.get_by_role("link").nth(1).click()
    expect(visit.page.get_by_role("dialog").get_by_role("heading", name=name)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_it(visit: Visit, pairs: dict[str, str], scheme: Any) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    for address in pairs.values():
        expect(changed(visit, address).first.locator("figcaption").first).to_be_visible()
        assert visit.violations() == [], address


@pytest.mark.parametrize("task", MADE)
def test_it_fits_phones_and_screens(browser: object, site: Site, pairs: dict[str, str], task: str) -> None:
    for screen in ({"width": 320, "height": 900}, PHONE, {"width": 1440, "height": 900}):
        with visiting(browser, site, viewport=screen) as visit:
            expect(changed(visit, pairs[task]).first).to_be_visible()
            assert visit.sticks_out() == []


def test_shapes_stay_where_the_pictures_have_gone(visit: Visit, site: Site) -> None:
    place = site.place / "compared-and-gone"
    place.mkdir()
    model, dataset = WORLDS["keypoint_detection"](place)
    settings, records = Settings.from_environment(site.environment("server")), []
    for change in (lambda _: None, _other_points):
        written = yaml.safe_load(model.read_text())
        change(written)
        model.write_text(yaml.safe_dump(written, sort_keys=False))
        records.append(evaluate(model, dataset, Options(timed_runs=3), settings=settings).id)
    for picture in (place / "pictures").iterdir():
        picture.unlink()
    card = changed(visit, f"/compare?records={','.join(records)}").first
    expect(card.get_by_role("img", name=re.compile("things?: "))).to_have_count(2)
