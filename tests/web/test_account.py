"""The account page: who one is, tokens that are shown once and revoked, and for admins everybody and the audit log."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visit, visiting


def test_a_token_is_made_shown_once_and_revoked(visit: Visit, site: Site) -> None:
    visit.sign_in(site, "read", "run")
    page = visit.to("/account")
    expect(page.get_by_role("heading", level=1)).to_have_text("Signed in as somebody")
    expect(page.get_by_role("checkbox", name="admin")).to_have_count(0)
    expect(page.get_by_text("Audit log")).to_have_count(0)
    page.get_by_label("Name").fill("laptop")
    page.get_by_label("Expires after").select_option("7")
    page.get_by_role("button", name="Make token").click()
    shown = page.get_by_role("status").filter(has_text="not shown again").locator("code")
    expect(shown).to_have_text(re.compile("^mlms_"))
    assert site.client(str(shown.text_content())).get("/whoami")["owner"] == "somebody"
    page.reload()
    row = page.get_by_role("table", name="Your tokens").get_by_role("row").filter(has_text="laptop")
    expect(row).to_contain_text("in 7 days")
    expect(page.get_by_text("not shown again")).to_have_count(0)
    page.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Revoke laptop").click()
    expect(row).to_have_count(0)


def change_something(site: Site) -> None:
    """The audit log has a row, whatever ran before."""
    client = site.client(site.token("admin"))
    client.post("/tokens", {"name": "brief", "owner": "somebody", "scopes": ["read"], "days": 1})


def test_admins_see_everybody_and_what_was_done(visit: Visit, site: Site) -> None:
    change_something(site)
    visit.sign_in(site, "admin")
    page = visit.to("/account")
    expect(page.get_by_role("table", name="People").get_by_role("row").filter(has_text="somebody")).to_be_visible()
    expect(page.get_by_role("table", name="Audit log").get_by_role("row").nth(1)).to_be_visible()
    assert not visit.violations()


def test_whoever_works_on_the_machine_itself_is_told_how(visit: Visit) -> None:
    page = visit.to("/models")
    page.get_by_role("link", name="local", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Signed in as local")
    expect(page.get_by_text("mlmodelscope token make")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser: Any, site: Site, scheme: Any) -> None:
    change_something(site)
    with visiting(browser, site, viewport=PHONE, color_scheme=scheme) as visit:
        visit.sign_in(site, "admin")
        page = visit.to("/account")
        expect(page.get_by_role("table", name="Audit log")).to_be_visible()
        assert visit.sticks_out() == []
        assert visit.violations() == []
