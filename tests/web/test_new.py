"""Asking for an evaluation: what fits, what does not and why, what is known already, and watching it happen."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from server.conftest import LOST_SOON

from .conftest import DATASET, MODEL, Site, Visit, visiting


def test_an_impossible_request_shows_what_nobody_meets(visit: Visit) -> None:
    """The paper's own example."""
    page = visit.to(f"/new?model={MODEL}&dataset={DATASET}")
    expect(page.get_by_text("any agent that fits")).to_be_visible()
    page.get_by_text("Where", exact=True).click()
    page.get_by_label("Framework").fill("tensorflow")
    page.get_by_label("Its version").fill(">=1.10.x and <=1.13.0")
    page.get_by_label("Vendor of the processor").fill("Intel")
    page.get_by_label("Interconnect").fill("NVLink")
    side = page.get_by_role("complementary", name="Who can do it")
    expect(side.get_by_role("heading", name="Nobody can do it")).to_be_visible()
    expect(side.get_by_text("interconnect", exact=True)).to_be_visible()
    expect(side.get_by_text("NVLink is asked for", exact=False)).to_be_visible()
    expect(page.get_by_role("button", name="Evaluate")).to_be_disabled()
    page.get_by_label("Framework").fill("onnxruntime")
    page.get_by_label("Its version").fill("")
    page.get_by_label("Vendor of the processor").fill("")
    expect(side.get_by_text("1 agent would fit without it")).to_be_visible()
    page.get_by_label("Interconnect").fill("")
    expect(side.get_by_role("heading", name="Who can do it")).to_be_visible()
    assert not visit.violations()


def test_a_link_carries_the_whole_request(visit: Visit) -> None:
    page = visit.to(f"/new?model={MODEL}&dataset={DATASET}&cores=9999&interconnect=NVLink&kind=profile&level=library")
    expect(page.get_by_label("Cores at least")).to_have_value("9999")
    expect(page.get_by_label("Trace level")).to_have_value("library")
    expect(page.get_by_text("cpu.ncpu", exact=True)).to_be_visible()


def test_what_is_known_is_offered_first(visit: Visit, record: str) -> None:
    page = visit.to(f"/new?model={MODEL}&dataset={DATASET}")
    known = page.get_by_role("heading", name="Known already")
    expect(known).to_be_visible()
    same = page.get_by_role("listitem").filter(has_text="top-1 82.86 %")
    expect(same.get_by_text("the same", exact=True).first).to_be_visible()
    same.locator(f"a[href='/records/{record}']").click()
    expect(page).to_have_url(f"{visit.url}/records/{record}")


def test_it_is_asked_for_and_watched_to_its_end(visit: Visit) -> None:
    page = visit.to(f"/new?model={MODEL}&dataset={DATASET}&limit=5")
    page.get_by_role("button", name="Evaluate").click()
    page.wait_for_url("**/evaluations/*")
    expect(page.get_by_text("finished", exact=True).first).to_be_visible()
    result = page.locator("section", has=page.get_by_role("heading", name="Result"))
    expect(result).to_contain_text("Top-1")
    expect(result).to_contain_text("95 % between")
    expect(result).to_contain_text(f"on {DATASET} · 5 samples")
    log = page.get_by_role("list", name="Log")
    expect(log).to_have_count(0)  # folded: the result comes first
    page.get_by_text("Log", exact=True).click()
    expect(log).to_contain_text("Progress 5 of 5 samples")
    assert log.evaluate("it => it.scrollHeight <= it.clientHeight"), "the last line is not cut off"
    assert not visit.violations()
    page.get_by_role("link", name="See the result").click()
    page.wait_for_url("**/records/*")
    expect(page.get_by_role("heading", name=MODEL)).to_be_visible()


def test_half_a_name_is_no_mistake_yet(visit: Visit) -> None:
    page = visit.to("/new")
    expect(page.get_by_label("Framework")).to_have_count(0)  # folded away
    page.get_by_label("Model", exact=True).press_sequentially("efficientnet-li")
    expect(page.get_by_text("Type on, or choose from the list.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Model", exact=True).blur()
    expect(page.get_by_role("alert")).to_contain_text("efficientnet-li")
    page.get_by_label("Model", exact=True).fill(MODEL)
    expect(page.get_by_text("Choose a dataset")).to_be_visible()
    page.get_by_role("group", name="Dataset: suggestions").get_by_role("button", name=DATASET).click()
    expect(page.get_by_label("Dataset", exact=True)).to_have_value(DATASET)
    expect(page.get_by_role("button", name="Evaluate")).to_be_enabled()
    assert not visit.violations()


def test_a_model_that_is_not_there_is_said_so(visit: Visit) -> None:
    page = visit.to("/new?model=no-such-model")
    expect(page.get_by_role("alert")).to_contain_text("no-such-model")


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server whose model takes its time, so that there is something to see."""
    found = Site(tmp_path_factory.mktemp("slow"))
    found.write_model(sleep_s=0.3)
    found.serve(executor="none", **LOST_SOON)
    join(found, "lab-a", "lab-b")
    yield found
    found.close()


def join(site: Site, *names: str) -> None:
    token = site.run("token", "make", "--name", "agents", "--owner", "ops", "--scope", "agent").splitlines()[-1]
    for name in names:
        site.agent(name, token=token)
    site.until(lambda: {*names} <= alive(site), f"{names} have joined")


def alive(site: Site) -> set[str]:
    return {each["id"] for each in site.client().agents() if each["state"] != "gone"}


@pytest.mark.slow(reason="two agents evaluate while a browser watches")
def test_progress_per_agent_and_cancel(browser: Any, slow: Site) -> None:
    slow.write_model(sleep_s=0.3)
    with visiting(browser, slow) as visit:
        page = visit.to("/new?model=toy&dataset=pictures&agents=all")
        page.get_by_role("button", name="Evaluate").click()
        page.wait_for_url("**/evaluations?request=*")
        rows = page.get_by_role("row").filter(has_text="toy")
        expect(rows).to_have_count(2)
        expect(rows.filter(has_text="lab-a")).to_contain_text("left")
        expect(rows.filter(has_text="lab-b").get_by_role("progressbar")).to_be_visible()
        behind = slow.client().ask(
            {"kind": "evaluate", "model": "toy", "dataset": "pictures", "options": {"limit": 3}}
        )[0]
        page = visit.to(f"/evaluations/{behind.id}")
        expect(page.get_by_text("Queued: waiting for an agent")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("cancelled", exact=True).first).to_be_visible()
        page.go_back()
        rows.filter(has_text="lab-b").get_by_role("link", name=re.compile("^Evaluation ")).click()
        expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("cancelled", exact=True).first).to_be_visible()
        page.get_by_role("link", name="Run again").click()
        expect(page.get_by_label("Model")).to_have_value("toy")
        page.go_back()
        assert not visit.violations()


@pytest.mark.slow(reason="an agent's lease has to run out")
def test_an_agent_that_is_lost_is_seen_and_another_one_goes_on(browser: Any, slow: Site) -> None:
    slow.write_model(sleep_s=0.3, seed=1)
    with visiting(browser, slow) as visit:
        asked = slow.client().ask({"kind": "evaluate", "model": "toy", "dataset": "pictures"})[0]
        page = visit.to(f"/evaluations/{asked.id}")
        agent = page.locator("main a[href^='/agents/']")
        expect(agent).to_be_visible()
        lost = agent.inner_text()
        expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
        os.kill(slow.process_of(lost).pid, signal.SIGKILL)
        other = "lab-b" if lost == "lab-a" else "lab-a"
        expect(page.get_by_role("link", name=other, exact=True)).to_be_visible()
        expect(page.get_by_label("Log")).to_contain_text("agent")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("cancelled", exact=True).first).to_be_visible()
    slow.until(lambda: lost not in alive(slow), f"{lost} is gone")
    join(slow, lost)  # others need it, too


def test_what_fails_says_why(browser: Any, slow: Site) -> None:
    (slow.place / "manifests" / "toy.json").write_text("no model at all")
    with visiting(browser, slow) as visit:
        asked = slow.client().ask({"kind": "evaluate", "model": "toy", "dataset": "pictures", "attempts": 1})[0]
        page = visit.to(f"/evaluations/{asked.id}")
        expect(page.get_by_text("failed", exact=True).first).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("the fake model is not JSON")
        expect(page.get_by_role("link", name="Run again")).to_be_visible()
