"""Leaderboards by dataset in the browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import DATASET, MODEL, PHONE, Site, Visit, visiting


def test_a_dataset_with_results_opens_to_its_table(visit: Visit, record: str) -> None:
    page = visit.to("/leaderboards")
    page.get_by_role("table", name="classification").get_by_role("link", name=re.compile(DATASET)).first.click()
    expect(page).to_have_url(re.compile(f"dataset={DATASET}"))
    row = page.get_by_role("table", name=f"Leaderboard of {DATASET}").get_by_role("row").filter(has_text=MODEL).first
    expect(row).to_contain_text(re.compile(r"82\.86 % \(\d\d\.\d – \d\d\.\d %\)"))
    expect(page.get_by_text("all samples").last).to_be_visible()
    page.get_by_role("searchbox").fill("no such model")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("searchbox").fill(MODEL)
    row.get_by_role("link", name=re.compile("82.86")).click()
    expect(page).to_have_url(re.compile("/records/"))


def test_a_dataset_without_results_says_so(visit: Visit) -> None:
    page = visit.to("/leaderboards?dataset=nowhere")
    expect(page.get_by_text("Nothing was measured on nowhere yet.")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/leaderboards", f"/leaderboards?dataset={DATASET}"])
def test_it_fits_a_phone(browser: Any, site: Site, record: str, path: str, scheme: Any) -> None:
    with visiting(browser, site, viewport=PHONE, color_scheme=scheme) as visit:
        page = visit.to(path)
        expect(page.get_by_role("table").first).to_be_visible()
        assert visit.sticks_out() == []
        assert visit.violations() == []
