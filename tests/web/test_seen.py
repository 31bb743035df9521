"""Masks, instances, keypoints, labels and pictures in the browser: truth and answer over each other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings
from seen_world import WORLDS

from .conftest import PHONE, Site, Visit, visiting

pytest.importorskip("onnxruntime")
pytest.importorskip("faster_coco_eval")


@pytest.fixture(scope="module")
def records(site: Site) -> dict[str, str]:
    """The record of each task."""
    settings, found = Settings.from_environment(site.environment("server")), {}
    for task, write in WORLDS.items():
        place = site.place / "seen" / task
        place.mkdir(parents=True)
        model, dataset = write(place)
        found[task] = evaluate(model, dataset, Options(timed_runs=3), settings=settings).id
    return found


def test_a_class_map_lies_over_the_outlines_of_the_truth(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['semantic_segmentation']}?tab=samples&sample=2.png")
    dialog = page.get_by_role("dialog")
    for side in ("truth", "answer"):
        expect(dialog.get_by_role("img", name=f"{side}: cat, <b>dog</b>", exact=True)).to_be_visible()
    expect(dialog.get_by_role("list", name="Classes of the mask").get_by_text("background")).to_be_visible()
    dialog.get_by_role("checkbox", name="Truth").press("Space")
    expect(dialog.get_by_role("img", name="truth: cat, <b>dog</b>", exact=True)).to_have_count(0)
    assert visit.violations() == []


def test_instances_are_masks_with_names(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['instance_segmentation']}?tab=samples&sample=2.png")
    dialog = page.get_by_role("dialog")
    drawn = dialog.get_by_role("img", name=re.compile("^3 things: .*truth: <b>dog"))
    expect(drawn).to_be_visible()
    assert drawn.get_attribute("viewBox") == "0 0 80 60" and drawn.locator("b").count() == 0
    expect(dialog.get_by_role("img", name="answer: cat", exact=True)).to_be_visible()
    dialog.get_by_role("slider", name="Score from").fill("0")
    expect(dialog.get_by_role("img", name="answer: cat", exact=True)).to_have_count(2)
    assert visit.violations() == []


def test_keypoints_have_their_skeleton(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['keypoint_detection']}?tab=samples&sample=2.png")
    drawn = page.get_by_role("dialog").get_by_role("img", name=re.compile("^2 things: .*truth: cat"))
    expect(drawn.locator("circle")).to_have_count(3 + 4)
    expect(drawn.locator("line")).to_have_count(2 + 3)


def test_labels_are_listed_with_their_scores(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['multilabel_classification']}?tab=samples&sample=0.png")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Answers").get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_text("fish", exact=True)).to_be_visible()


def test_a_line_between_truth_and_enhanced_picture_is_moved_with_keys(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['image_enhancement']}?tab=samples&sample=2.png")
    dialog = page.get_by_role("dialog")
    slider = dialog.get_by_role("slider", name="Line between truth and answer")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "100 % truth")
    expect(dialog.get_by_role("img", name="2.png: answer")).to_be_visible()
    assert visit.violations() == []


def test_quality_curves_and_confusions_have_their_cards(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['instance_segmentation']}")
    expect(page.get_by_role("heading", name="Quality of samples")).to_be_visible()
    page.get_by_label("Class of the curve").select_option("<b>dog</b>")
    assert visit.violations() == []
    page = visit.to(f"/records/{records['semantic_segmentation']}?tab=classes")
    pairs = page.get_by_role("list", name="Most confused pairs").get_by_role("listitem")
    expect(pairs.first).to_contain_text("background as cat")
    expect(pairs.first).to_contain_text("360")
    assert visit.violations() == []


@pytest.mark.parametrize("task", WORLDS)
def test_it_fits_phones_and_screens(browser: object, site: Site, records: dict[str, str], task: str) -> None:
    for screen in ({"width": 320, "height": 900}, PHONE, {"width": 1280, "height": 900}):
        for path in ("", "?tab=samples&sample=2.png"):
            with visiting(browser, site, viewport=screen) as visit:
                visit.to(f"/records/{records[task]}{path}")
                assert visit.sticks_out() == []


def test_shapes_stay_where_the_dataset_has_gone(visit: Visit, site: Site) -> None:
    place: Path = site.place / "gone"
    place.mkdir()
    model, dataset = WORLDS["keypoint_detection"](place)
    settings = Settings.from_environment(site.environment("server"))
    record = evaluate(model, dataset, Options(timed_runs=3), settings=settings)
    shutil.rmtree(place / "pictures")
    page = visit.to(f"/records/{record.id}?tab=samples&sample=2.png")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name=re.compile("^2 things"))).to_be_visible()
    assert visit.violations() == []
