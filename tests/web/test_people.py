"""Who somebody is decides what they see; agents are watched, and sent to rest by those who may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visit, visiting


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that wants to know who asks, and lets everybody read."""
    found = Site(tmp_path_factory.mktemp("guarded"))
    found.serve(require_token=True, visitors="read")
    yield found
    found.close()


def token(site: Site, *scopes: str) -> str:
    flags = [flag for scope in scopes for flag in ("--scope", scope)]
    return site.run("token", "make", "--name", "a test", "--owner", "ada", *flags).splitlines()[-1]


def sign_in(visit: Visit, secret: str) -> Any:
    page = visit.to("/sign-in")
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    return page


def test_a_visitor_reads_and_is_offered_nothing_else(browser: Any, guarded: Site) -> None:
    with visiting(browser, guarded) as visit:
        page = visit.to("/models/toy")
        expect(page.get_by_role("heading", name="toy")).to_be_visible()
        expect(page.get_by_role("link", name="Evaluate a", exact=False)).to_have_count(0)
        expect(page.locator("main").get_by_role("link", name="Evaluate", exact=True)).to_have_count(0)
        page = visit.to("/agents")
        expect(page.get_by_text("idle", exact=False)).to_be_visible()
        expect(page.get_by_role("button", name="Drain")).to_have_count(0)


def test_a_wrong_token_is_refused_and_forgotten(browser: Any, guarded: Site) -> None:
    with visiting(browser, guarded) as visit:
        page = sign_in(visit, "mlms_wrong")
        expect(page.get_by_role("alert")).to_contain_text("not known")
        page = visit.to("/models")
        expect(page.get_by_role("link", name="toy", exact=True)).to_be_visible()


def test_who_may_run_may_evaluate(browser: Any, guarded: Site) -> None:
    with visiting(browser, guarded) as visit:
        page = sign_in(visit, token(guarded, "read", "run"))
        page.wait_for_url("**/models")
        page = visit.to("/models/toy")
        expect(page.locator("main").get_by_role("link", name="Evaluate", exact=True)).to_be_visible()
        page = visit.to("/sign-in")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="visitor", exact=False)).to_be_visible()


def test_an_admin_drains_an_agent_and_lets_it_work_again(browser: Any, guarded: Site) -> None:
    with visiting(browser, guarded) as visit:
        page = sign_in(visit, token(guarded, "read", "admin"))
        page.wait_for_url("**/models")
        page = visit.to("/agents")
        page.get_by_role("button", name="Drain").click()
        expect(page.get_by_text("draining", exact=True)).to_be_visible()
        page.get_by_role("button", name="Let it work again").click()
        expect(page.get_by_text("online", exact=True)).to_be_visible()
        page.locator("main a[href^='/agents/']").first.click()
        expect(page.get_by_role("heading", name="Machine")).to_be_visible()
        expect(page.get_by_role("region", name="Stacks")).to_contain_text("onnxruntime")
        expect(page.get_by_role("heading", name="Load")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^\d of \d$"))).to_be_visible()
        expect(page.get_by_text("Python", exact=True)).to_be_visible()
        assert not visit.violations()


def test_a_server_that_wants_a_token_asks_for_it(browser: Any, tmp_path: Any) -> None:
    closed = Site(tmp_path)
    try:
        closed.serve(require_token=True, executor="none")
        with visiting(browser, closed, viewport=PHONE) as visit:
            visit.to("/models")
            expect(visit.page.get_by_role("heading", name="Sign in")).to_be_visible()
            sign_in(visit, token(closed, "read"))
            expect(visit.page.get_by_role("link", name="toy", exact=True)).to_be_visible()
    finally:
        closed.close()


CODE, TRAINING = "mnist-nearest-neighbour", "mnist-mlp-training"
NEEDED = "That needs a token with the scope “trust”"


@pytest.mark.parametrize(
    "path", [f"/new?model={CODE}&dataset=mnist-test", f"/replications/new?model={CODE}&kind=sensitivity"]
)
def test_who_may_not_trust_reads_what_code_needs(visit: Visit, path: str) -> None:
    page = visit.to(path)
    expect(page.get_by_text(NEEDED)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Evaluate|Measure it"))).to_be_disabled()
    assert not visit.violations()


@pytest.mark.parametrize(
    "path", [f"/new?model={CODE}&dataset=mnist-test", f"/replications/new?model={CODE}&kind=sensitivity"]
)
def test_who_may_trust_lets_code_run(visit: Visit, site: Site, path: str) -> None:
    visit.sign_in(site, "read", "run", "trust")
    page = visit.to(path)
    button = page.get_by_role("button", name=re.compile("Evaluate|Measure it"))
    box = page.get_by_label("Let the model’s own code run")
    expect(box).not_to_be_checked()
    expect(button).to_be_disabled()
    box.check()
    expect(button).to_be_enabled()
    page.get_by_role("combobox", name="Model").fill("toy")  # what is trusted is this model's code, and no other's
    expect(box).to_have_count(0)


def test_a_training_is_offered_as_what_it_is(visit: Visit, site: Site) -> None:
    visit.sign_in(site, "read", "run", "trust")
    page = visit.to(f"/models/{TRAINING}")
    main = page.locator("main")
    expect(main.get_by_role("link", name="Evaluate", exact=True)).to_have_count(0)
    expect(page.get_by_text("What would a mistake in it cost?")).to_have_count(0)
    main.get_by_role("link", name="Train", exact=True).click()
    page.get_by_label("Let the model’s own code run").check()
    expect(page.get_by_role("button", name="Train")).to_be_enabled()
