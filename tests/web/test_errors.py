"""When things go wrong somebody learns what, keeps what they see, and it goes on by itself."""

from __future__ import annotations

import gzip
import signal
from typing import Any

import pytest
from playwright.sync_api import expect

from mlmodelscope.server.rest.pages import FOLDER

from .conftest import PHONE, Site, Visit, visiting

PAGES = [
    "/models",
    "/datasets",
    "/datasets/imagenet-70",
    "/stacks",
    "/agents",
    "/new",
    "/evaluations",
    "/records",
    "/sign-in",
]


def test_a_server_that_is_gone_and_comes_back(browser: Any, tmp_path: Any) -> None:
    site = Site(tmp_path)
    try:
        process = site.serve(executor="none")
        with visiting(browser, site) as visit:
            page = visit.to("/evaluations")
            expect(page.get_by_text("Nothing here yet.")).to_be_visible()
            process.send_signal(signal.SIGKILL)
            process.wait()
            expect(page.get_by_role("alert").filter(has_text="The server is not responding")).to_be_visible()
            expect(page.get_by_role("heading", name="Evaluations")).to_be_visible()
            site.serve(executor="none")
            expect(page.get_by_role("alert")).to_have_count(0)
    finally:
        site.close()


def test_an_address_that_leads_nowhere(visit: Visit) -> None:
    page = visit.to("/nowhere/at/all")
    expect(page.get_by_role("link", name="Models").first).to_be_visible()
    page = visit.to("/records/no-such-record")
    expect(page.get_by_role("alert")).to_contain_text("no-such-record")
    page = visit.to("/models/no-such-model")
    expect(page.get_by_role("alert")).to_contain_text("no-such-model")


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_a_phone(browser: Any, site: Site, path: str) -> None:
    with visiting(browser, site, viewport=PHONE, color_scheme="dark") as visit:
        visit.to(path)
        assert visit.sticks_out() == []
        assert not visit.violations()


def test_what_is_loaded_first_is_small(visit: Visit) -> None:
    """300 KB of compressed JavaScript are promised for the first page; editor, charts and traces come when needed."""
    loaded: set[str] = set()
    visit.page.on("request", lambda asked: loaded.add(asked.url.rsplit("/", 1)[1]) if ".js" in asked.url else None)
    visit.to("/models")
    assert loaded
    assert sum(len(gzip.compress((FOLDER / "assets" / name).read_bytes())) for name in loaded) <= 300_000
