"""Models to look through, and what is known of each."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import DATASET, MODEL, PHONE, Site, Visit, visiting


def test_a_model_is_found_by_a_word_and_a_facet(visit: Visit) -> None:
    page = visit.to("/models")
    expect(page.get_by_role("heading", name="Models", level=1)).to_be_visible()
    page.get_by_role("searchbox").fill(MODEL)
    page.get_by_role("link", name=MODEL, exact=True).click()
    expect(page).to_have_url(f"{visit.url}/models/{MODEL}")


def test_a_link_shows_others_the_same(visit: Visit) -> None:
    page = visit.to(f"/models?q={MODEL}")
    expect(page.get_by_role("searchbox")).to_have_value(MODEL)
    expect(page.get_by_role("link", name=MODEL, exact=True)).to_be_visible()


def test_a_models_page_shows_its_pipeline_and_its_records(visit: Visit, record: str) -> None:
    page = visit.to(f"/models/{MODEL}")
    expect(page.get_by_text("decode", exact=True)).to_be_visible()
    expect(page.get_by_role("table", name="Records").get_by_role("cell", name=DATASET)).to_be_visible()


@pytest.mark.parametrize(
    "path", ["/models", f"/models/{MODEL}", "/new", "/evaluations", "/records", "/agents", "/sign-in", "/no"]
)
def test_nobody_is_kept_out_by_how_a_page_is_made(visit: Visit, path: str, record: Any) -> None:
    visit.to(path)
    assert not visit.violations()


def test_records_are_listed_whoever_made_them(visit: Visit, site: Site, record: str) -> None:
    site.run("evaluate", "toy", "pictures", "--limit", "3", "--trust")  # on the command line
    page = visit.to("/records")
    rows = page.get_by_role("table", name="Records").get_by_role("row")
    expect(rows.filter(has_text="toy").first).to_contain_text("evaluation")
    found = rows.filter(has=page.locator(f"a[href='/records/{record}']"))
    expect(found).to_contain_text(re.compile(r"82\.86 % \(\d\d\.\d – \d\d\.\d %\)"))
    page = visit.to("/models")
    page.get_by_role("navigation").get_by_role("link", name="Records").click()
    expect(page.get_by_role("heading", name="Records", level=1)).to_be_visible()


def test_every_tab_has_a_name_of_its_own(visit: Visit, record: str) -> None:
    page = visit.to(f"/models/{MODEL}")
    expect(page).to_have_title(re.compile(f"^{MODEL} .* – MLModelScope$"))
    page = visit.to(f"/records/{record}")
    expect(page).to_have_title(f"{MODEL} on {DATASET} – MLModelScope")
    page.get_by_role("navigation").get_by_role("link", name="Datasets").click()
    expect(page).to_have_title("Datasets – MLModelScope")
    page = visit.to("/manifests/edit")
    expect(page).to_have_title("New manifest – MLModelScope")


def test_a_phone_shows_where_one_is_and_how_far_things_are(browser: Any, site: Site, record: str) -> None:
    with visiting(browser, site, viewport=PHONE) as visit:
        page = visit.to("/evaluations")
        for link in page.get_by_role("navigation").get_by_role("link").all():
            box = link.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"], link.inner_text()
        expect(page.get_by_role("navigation").locator("[aria-current=page]")).to_have_text("Evaluations")
        row = page.get_by_role("table", name="Evaluations").get_by_role("row").filter(has_text=MODEL).first
        for title in ("State", "Agent", "Requested"):
            cell = row.locator(f"[data-title={title}]").bounding_box()
            assert cell["x"] >= 0 and cell["x"] + cell["width"] <= PHONE["width"]
        assert not visit.violations()


def test_filters_stay_in_their_column(visit: Visit) -> None:
    page = visit.to("/datasets")
    column = page.get_by_role("complementary", name="Filters").bounding_box()
    for facet in page.get_by_role("complementary", name="Filters").get_by_role("group").all():
        box = facet.bounding_box()
        assert box["x"] + box["width"] <= column["x"] + column["width"], facet.inner_text()


def test_the_ring_around_a_tab_is_not_cut_off(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}")
    tab = page.get_by_role("tab", name="Overview")
    tab.focus()
    page.keyboard.press("ArrowRight")  # with the keyboard, so that there is a ring
    ring = page.get_by_role("tab", name="Samples").evaluate(
        "it => { const {outlineStyle, outlineOffset} = getComputedStyle(it); return [outlineStyle, outlineOffset]; }"
    )
    assert ring == ["solid", "-2px"]
