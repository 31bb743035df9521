"""The first page: what this is, where to begin, and what happened lately."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect

from replicate.scenes import describe_colours, describe_seer

from .conftest import PHONE, Site, Visit, visiting

WAYS = {
    "Check a claim": "/replications",
    "Try a model": "/models",
    "Evaluate a model": "/new",
    "Add a model": "/manifests/edit",
}


@pytest.mark.parametrize(("name", "address"), WAYS.items())
def test_every_way_in_leads_there(visit: Visit, name: str, address: str) -> None:
    page = visit.to("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Does the published number hold?")
    page.get_by_role("main").get_by_role("link", name=name, exact=True).click()
    expect(page).to_have_url(re.compile(f"{re.escape(address)}(\\?.*)?$"))
    page.get_by_role("link", name="MLModelScope", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Does the published number hold?")


def test_what_was_measured_lately_is_there(visit: Visit, record: str) -> None:
    page = visit.to("/")
    expect(page.get_by_text(re.compile(r"^[\d,]+ published numbers: "))).to_be_visible()
    page.get_by_role("table", name="Records").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/records/"))


def test_every_page_names_the_version_and_the_license(visit: Visit, site: Site) -> None:
    footer = visit.to("/stacks").get_by_role("contentinfo")
    expect(footer).to_contain_text(f"MLModelScope {site.client().get('/health')['version']}")
    expect(footer).to_contain_text("Apache-2.0")
    with visit.page.expect_navigation():
        footer.get_by_role("link", name="API (OpenAPI)").click()
    assert '"openapi"' in visit.page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_has_nothing_serious(browser: Any, site: Site, record: str, scheme: Any) -> None:
    with visiting(browser, site, viewport=PHONE, color_scheme=scheme) as visit:
        page = visit.to("/")
        expect(page.get_by_role("table", name="Records")).to_be_visible()
        assert visit.sticks_out() == []
        assert visit.violations() == []


@pytest.mark.slow(reason="a claim is checked and its cause sought, in a browser")
def test_from_here_to_a_verdict_with_its_cause_in_three_clicks_and_one_field(visit: Visit, site: Site) -> None:
    folder = site.place / "manifests"
    claims = [{"metric": "top1", "value": "100.0", "dataset": "shades"}]
    (folder / "shades.yml").write_text(yaml.safe_dump({**describe_colours(folder, each=20), "name": "shades"}))
    (folder / "prophet.yml").write_text(yaml.safe_dump({**describe_seer(folder), "name": "prophet", "claims": claims}))
    page = visit.to("/")
    page.get_by_role("main").get_by_role("link", name="Check a claim").click()
    page.get_by_role("main").get_by_role("link", name="Check a claim").click()
    page.get_by_label("Model").fill("prophet")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_text("not reproduced", exact=True)).to_be_visible()
    expect(page.get_by_role("list", name="Change of the manifest").get_by_role("listitem")).to_have_text(
        [re.compile("BGR"), re.compile("RGB")]
    )
    visit.to("/")
    lately = page.get_by_role("table", name="Latest verdicts").get_by_role("row").filter(has_text="prophet")
    expect(lately).to_contain_text("not reproduced")
    expect(lately).to_contain_text("RGB instead of BGR")
