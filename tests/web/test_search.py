"""Search over everything, and keys that lead to pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import DATASET, MODEL, PHONE, Site, Visit, visiting


def test_a_key_searches_models_datasets_records_claims_and_pages(visit: Visit, record: str) -> None:
    page = visit.to("/stacks")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search everything")
    expect(box).to_be_focused()
    box.fill(MODEL)
    results = page.get_by_role("listbox", name="Results").get_by_role("option")
    for kind in ("model", "record", "claim"):
        expect(results.filter(has=page.get_by_text(kind, exact=True)).first).to_be_visible()
    expect(results.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/models/{MODEL}$"))
    page.keyboard.press("Control+k")
    box.fill(DATASET)
    results.filter(has=page.get_by_text("dataset", exact=True)).first.click()
    expect(page).to_have_url(re.compile(f"/datasets/{DATASET}$"))
    page.keyboard.press("/")
    box.fill("no such thing at all")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_letters_lead_to_pages_unless_somebody_writes(visit: Visit) -> None:
    page = visit.to("/models")
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Records")
    page.get_by_role("searchbox").press_sequentially("gm/?")
    expect(page.get_by_role("searchbox")).to_have_value("gm/?")
    expect(page.get_by_role("heading", level=1)).to_have_text("Records")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Go to Leaderboards")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works_by_touch_on_a_phone(browser: Any, site: Site, record: str, scheme: Any) -> None:
    with visiting(browser, site, viewport=PHONE, color_scheme=scheme, has_touch=True) as visit:
        page = visit.to("/models")
        page.get_by_role("button", name="Search", exact=True).tap()
        page.get_by_role("combobox", name="Search everything").fill(MODEL)
        found = page.get_by_role("listbox", name="Results").get_by_role("option").first
        expect(found).to_contain_text(MODEL)
        assert visit.sticks_out() == []
        assert visit.violations() == []
        found.tap()
        expect(page).to_have_url(re.compile("/models/"))
        page.get_by_role("button", name="Keyboard shortcuts").tap()
        assert visit.violations() == []
