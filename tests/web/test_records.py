"""The table of all records: filters, order, pages and columns in the address, saved views, several at once, remarks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import DATASET, MODEL, PHONE, Site, Visit, visiting


@pytest.fixture(scope="module")
def few(site: Site, record: str) -> list[str]:
    """Three records of a model that no other test has."""
    name = site.add_model("tabled")
    return [site.evaluated(name, "pictures", options={"limit": limit, "timed_runs": 1}) for limit in (2, 3, 4)]


def rows(page: Any) -> Any:
    return page.get_by_role("table", name="Records").get_by_role("row")


def test_filters_order_and_columns_are_in_the_address(visit: Visit, few: list[str], record: str) -> None:
    page = visit.to("/records?q=tabled")
    expect(rows(page)).to_have_count(4)
    page.get_by_role("columnheader", name="Samples").get_by_role("button").click()
    expect(page).to_have_url(re.compile("sort=samples"))
    expect(rows(page).nth(1)).to_contain_text("4 (part)")
    page.get_by_role("columnheader", name="Samples").get_by_role("button").click()
    expect(rows(page).nth(1)).to_contain_text("2 (part)")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Machine", exact=True).check()
    page.get_by_text("Filters", exact=True).click()
    page.get_by_role("combobox", name="Dataset", exact=True).select_option("pictures")
    expect(page).to_have_url(re.compile("dataset=pictures"))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("columnheader", name="Machine")).to_be_visible()
    expect(rows(page).nth(1)).to_contain_text("2 (part)")
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").first.fill(f"{MODEL} {DATASET}")
    found = rows(page).filter(has=page.locator(f"a[href='/records/{record}']"))
    expect(found).to_contain_text(re.compile(r"82\.86 % \(\d\d\.\d – \d\d\.\d %\)"))


def test_a_saved_view_comes_back_by_its_name(visit: Visit, few: list[str]) -> None:
    page = visit.to("/records?q=tabled&sort=samples&order=up")
    page.get_by_text("Save this view").click()
    page.get_by_label("Name of the view").fill("few samples")
    page.get_by_role("button", name="Save", exact=True).click()
    page = visit.to("/records")
    page.get_by_role("list", name="Saved views").get_by_role("link", name="few samples").click()
    expect(page).to_have_url(re.compile("q=tabled.*sort=samples"))
    expect(rows(page).nth(1)).to_contain_text("2 (part)")
    page.get_by_role("button", name="Remove the view few samples").click()
    expect(page.get_by_role("list", name="Saved views")).to_have_count(0)


def test_several_are_tagged_pinned_and_compared(visit: Visit, few: list[str]) -> None:
    page = visit.to("/records?q=tabled")
    for name in few[:2]:
        page.get_by_role("checkbox", name=re.compile(name)).check()
    bar = page.get_by_role("region", name="Selected records")
    expect(bar).to_contain_text("2 records selected")
    expect(bar.get_by_role("button", name="Delete")).to_have_count(0)  # who is local may not
    bar.get_by_label("Tag").fill("paper")
    bar.get_by_role("button", name="Add tag").click()
    bar.get_by_role("button", name="Pin", exact=True).click()
    expect(rows(page).filter(has_text="paper")).to_have_count(2)
    expect(rows(page).filter(has_text="pinned")).to_have_count(2)
    bar.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile("/compare"))
    expect(page.get_by_role("main").get_by_text(re.compile("tabled")).first).to_be_visible()


def test_notes_are_written_beside_a_record_and_taken_away(visit: Visit, few: list[str]) -> None:
    page = visit.to(f"/records/{few[2]}")
    page.get_by_label("New note").fill("<b>as published</b>")
    page.get_by_role("button", name="Add note").click()
    expect(page.get_by_role("article")).to_contain_text("<b>as published</b>")
    page.get_by_label("New tag").fill("a/b")
    page.get_by_role("button", name="Add tag").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be a tag")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("article").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("article")).to_have_count(0)


def test_admins_delete_after_a_question(visit: Visit, site: Site, few: list[str]) -> None:
    doomed = site.evaluated("tabled", "pictures", options={"limit": 5, "timed_runs": 1})
    visit.sign_in(site, "admin")
    page = visit.to("/records?q=tabled")
    page.get_by_role("checkbox", name=re.compile(doomed)).check()
    said: list[str] = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("checkbox", name=re.compile(doomed))).to_have_count(0)
    expect(rows(page)).to_have_count(4)
    assert said == ["Delete 1 record with all files? This cannot be undone."]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_with_everything_open(browser: Any, site: Site, few: list[str], scheme: Any) -> None:
    with visiting(browser, site, viewport=PHONE, color_scheme=scheme) as visit:
        page = visit.to("/records?q=tabled&tag=paper")
        page.get_by_text("Columns", exact=True).click()
        page.get_by_text("Save this view").click()
        page = visit.to("/records?q=tabled")
        page.get_by_role("checkbox", name=re.compile("Select tabled")).first.check()
        assert visit.sticks_out() == []
        assert visit.violations() == []
