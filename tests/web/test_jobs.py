"""Jobs that one started are followed on every page: in the tab's title, and by a notification that was asked for."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .conftest import Site, Visit

NEVER = {"where": {"labels": {"room": "nowhere"}}, "wait_for_agent": True}
NOTIFICATIONS = """
window.Notification = class {
  static get permission() { return sessionStorage.getItem("asked") ?? "default"; }
  static requestPermission() {
    sessionStorage.setItem("asked", "%s");
    return Promise.resolve("%s");
  }
  constructor(title) { sessionStorage.setItem("told", `${sessionStorage.getItem("told") ?? ""}${title};`); }
};
"""


def test_the_title_tells_how_far_it_is_and_the_browser_that_it_ended(visit: Visit, site: Site) -> None:
    visit.context.add_init_script(NOTIFICATIONS % ("granted", "granted"))
    (asked,) = site.client().ask({"model": "toy", "dataset": "pictures", **NEVER})
    page = visit.to(f"/evaluations/{asked.id}")
    expect(page).to_have_title(re.compile("^0 % toy on pictures – "))
    page.get_by_role("button", name="Notify me when it ends").click()
    expect(page.get_by_text("The browser tells you when it ends.")).to_be_visible()
    assert not visit.violations() and not visit.sticks_out()
    page = visit.to("/models")
    expect(page).to_have_title("0 % Models – MLModelScope")
    asked.cancel()
    expect(page).to_have_title("Models – MLModelScope")
    assert page.evaluate("sessionStorage.getItem('told')") == "toy on pictures: cancelled;"
    assert page.evaluate("localStorage.getItem('mlmodelscope.jobs')") == "[]"


def test_who_refuses_is_not_asked_again(visit: Visit, site: Site) -> None:
    visit.context.add_init_script(NOTIFICATIONS % ("denied", "denied"))
    (asked,) = site.client().ask({"model": "toy", "dataset": "pictures", **NEVER})
    page = visit.to(f"/evaluations/{asked.id}")
    page.get_by_role("button", name="Notify me when it ends").click()
    expect(page.get_by_role("button", name="Notify me when it ends")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Queued: waiting for an agent that is free")).to_be_visible()
    expect(page.get_by_role("button", name="Notify me when it ends")).to_have_count(0)
    asked.cancel()


def test_what_somebody_left_in_the_browsers_storage_does_no_harm(visit: Visit) -> None:
    for text in ("{", "7", '"x"', '["e20990101-000000-0000", 3, "../agents"]'):
        page = visit.to("/models")
        page.evaluate("text => localStorage.setItem('mlmodelscope.jobs', text)", text)
        page = visit.to("/models")
        expect(page).to_have_title("Models – MLModelScope")
    page.wait_for_function("localStorage.getItem('mlmodelscope.jobs') === '[]'")  # nobody has heard of these
