"""A detector in the browser: its measures, its worst samples with truth and answer over each other, and trying it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from detector_world import write_detector
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings

from .conftest import PHONE, Site, Visit, visiting


@pytest.fixture(scope="module")
def things(site: Site) -> Path:
    place = site.place / "detector"
    place.mkdir()
    write_detector(place)
    return place


@pytest.fixture(scope="module")
def detected(site: Site, things: Path) -> str:
    settings = Settings.from_environment(site.environment("server"))
    made = evaluate(things / "finder.yml", things / "things.yml", Options(timed_runs=3), settings=settings)
    return made.id


def test_all_measures_are_there_and_none_of_a_classifier(visit: Visit, detected: str) -> None:
    page = visit.to(f"/records/{detected}")
    expect(page.get_by_role("heading", name="AP50")).to_be_visible()
    expect(page.get_by_role("table", name="All measures").get_by_text("AR100")).to_be_visible()
    expect(page.get_by_role("heading", name="Precision and recall")).to_be_visible()
    assert "op-1" not in page.inner_text("main") and "Confidence" not in page.inner_text("main")
    assert visit.violations() == []


def test_samples_come_the_worst_first_and_are_sorted_and_searched(visit: Visit, detected: str) -> None:
    page = visit.to(f"/records/{detected}?tab=samples")
    rows = page.get_by_role("table", name="Samples").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("cat, dog")
    expect(page.get_by_role("button", name="wrong", exact=True)).to_have_count(0)
    page.get_by_label("Order of the samples").select_option("in the dataset's order")
    expect(rows.nth(1)).to_contain_text("0000.png")
    expect(page).to_have_url(re.compile("sort=order"))
    page.get_by_label("Find samples").fill("dog")
    expect(page.get_by_text("4 of 12 samples")).to_be_visible()


def test_truth_and_answer_lie_over_the_picture(visit: Visit, detected: str) -> None:
    page = visit.to(f"/records/{detected}?tab=samples&sample=0003.png")
    dialog = page.get_by_role("dialog")
    drawn = dialog.get_by_role("img", name=re.compile("boxes: .*truth: cat"))
    expect(drawn).to_be_visible()
    assert drawn.get_attribute("viewBox") == "0 0 64 48"
    slider = dialog.get_by_role("slider", name="Score from")
    slider.fill("0")
    expect(drawn.locator("rect")).to_have_count(6)
    slider.fill("1")
    expect(drawn.locator("rect")).to_have_count(2)
    expect(dialog.get_by_text("4 hidden")).to_be_visible()
    dialog.get_by_role("checkbox", name="Truth").uncheck()
    expect(dialog.locator("rect")).to_have_count(0)
    assert visit.violations() == []


def test_each_class_has_its_measures_and_leads_to_its_samples(visit: Visit, detected: str) -> None:
    page = visit.to(f"/records/{detected}?tab=classes")
    rows = page.get_by_role("table", name="Classes").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("dog")
    expect(rows.nth(0)).to_contain_text("AP50")
    page.get_by_role("link", name="dog").click()
    expect(page.get_by_text("4 of 12 samples")).to_be_visible()


def test_it_fits_a_phone(browser: object, site: Site, detected: str) -> None:
    for path in ("", "?tab=samples", "?tab=classes", "?tab=samples&sample=0003.png"):
        with visiting(browser, site, viewport=PHONE) as visit:
            visit.to(f"/records/{detected}{path}")
            assert visit.sticks_out() == []


def test_a_detector_is_tried_and_draws_what_it_found(visit: Visit, site: Site, things: Path) -> None:
    graph = things / "finder.json"
    digest = site.client().upload(graph).removeprefix("artifact:").removeprefix("sha256:").partition("/")[0]
    text = (things / "finder.yml").read_text()
    site.client().put_manifest(text.replace(str(graph), f"finder.json, graph_checksum: 'sha256:{digest}'"))
    page = visit.to("/models/finder")
    page.locator("input[type=file]").set_input_files(things / "things" / "0003.png")
    slider = page.get_by_role("slider", name="Score from")
    slider.fill("0")
    drawn = page.get_by_role("img", name=re.compile("^4 boxes: class [01] "))
    expect(drawn).to_be_visible()
    expect(page.get_by_role("list", name="Answers").get_by_role("listitem")).to_have_count(4)
    slider.fill("1")
    expect(page.get_by_role("list", name="Answers")).to_have_count(0)
