"""The list of evaluations in the browser: what came of each, found again, and tidied."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .conftest import DATASET, MODEL, Site, Visit


def test_the_model_leads_to_the_model_and_the_number_to_its_record(visit: Visit, record: str) -> None:
    page = visit.to(f"/evaluations?q={MODEL}")
    row = page.get_by_role("table", name="Evaluations").get_by_role("row").filter(has_text=DATASET).first
    expect(row).to_contain_text(re.compile(r"82\.86 % \(\d\d\.\d – \d\d\.\d %\)"))
    row.get_by_role("link", name=MODEL, exact=True).click()
    expect(page).to_have_url(re.compile(f"/models/{MODEL}"))
    page.go_back()
    row.get_by_role("link", name=re.compile("82.86")).click()
    expect(page).to_have_url(re.compile("/records/"))
    page.go_back()
    row.get_by_role("link", name=re.compile(": finished")).click()
    expect(page).to_have_url(re.compile("/evaluations/e"))


def test_one_that_has_ended_is_deleted_and_its_record_stays(visit: Visit, site: Site) -> None:
    made = site.evaluated(site.add_model("tidied"), "pictures", options={"limit": 2, "timed_runs": 1})
    page = visit.to("/evaluations?q=tidied")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=re.compile("Delete evaluation")).click()
    expect(page.get_by_text("No matches.")).to_be_visible()
    expect(visit.to(f"/records/{made}").get_by_role("heading", level=1)).to_contain_text("tidied")
