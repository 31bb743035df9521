"""A claim is checked in the browser, the search is watched, and what was found is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect

from replicate.scenes import describe_colours, describe_seer

from .conftest import MODEL, PHONE, Site, Visit

WRONG, FEW = "seer", "colours"
LONG = 120_000


@pytest.fixture(scope="module")
def manifests(site: Site) -> Site:
    """A model with a mistake in its manifest, and few enough pictures for a search that does not take long."""
    folder = site.place / "manifests"
    claims = [{"metric": "top1", "value": "100.0", "dataset": FEW}]
    (folder / f"{FEW}.yml").write_text(yaml.safe_dump(describe_colours(folder, each=20)))
    (folder / f"{WRONG}.yml").write_text(yaml.safe_dump({**describe_seer(folder), "claims": claims}))
    slow = (folder / "toy.yml").read_text().replace("name: toy", "name: slow").replace("toy.json", "slow.json")
    (folder / "slow.yml").write_text(slow)
    sixty = (folder / "pictures.yml").read_text().replace("name: pictures", "name: sixty")
    (folder / "sixty.yml").write_text(f"{sixty}size: 60\n")
    model = json.loads((folder / "toy.json").read_text())
    (folder / "slow.json").write_text(json.dumps({**model, "sleep_s": 0.05}))
    return site


@pytest.fixture(scope="module")
def replication(manifests: Site) -> str:
    """One that has found the mistake; asked over the API, so that tests can look at it in any order."""
    client = manifests.client()
    (asked,) = client.post("/replications", {"model": WRONG, "dataset": FEW})["evaluations"]
    client.evaluation(asked["id"]).wait()
    return str(asked["id"])


@pytest.fixture(scope="module")
def sensitivity(manifests: Site) -> str:
    client = manifests.client()
    few = {"pitfalls": ["color-layout", "normalization"]}
    (asked,) = client.post("/sensitivities", {"model": "toy", "dataset": "pictures", "arguments": few})["evaluations"]
    client.evaluation(asked["id"]).wait()
    return str(asked["id"])


@pytest.fixture
def phone(browser: Any, site: Site) -> Iterator[Visit]:
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce", color_scheme="dark")
    found = Visit(context, site.url)
    yield found
    context.close()
    assert not found.errors, found.errors


@pytest.mark.slow(reason="a search is watched while it goes on, in a browser")
def test_a_search_is_started_watched_and_cancelled(visit: Visit, manifests: Site) -> None:
    page = visit.to("/replications/new?model=slow&dataset=sixty&claim=top1%3D20%40sixty")
    expect(page.get_by_label("Claimed")).to_have_value("20")
    page.get_by_label("Claimed").fill("much")
    expect(page.get_by_text("The claimed number is one as published")).to_be_visible()
    expect(page.get_by_role("button", name="Check it")).to_be_disabled()
    page.get_by_label("Claimed").fill("20.0")
    page.get_by_role("button", name="Check it").click()
    expect(page).to_have_url(re.compile("/replications/e"))
    variants = page.get_by_role("list", name="Variants")
    expect(variants.get_by_text("in the race").first).to_be_visible(timeout=LONG)  # while it goes on
    expect(
        variants.get_by_text(re.compile("cannot reach the claim|changes nothing|far likelier")).first
    ).to_be_visible()
    expect(page.get_by_text(re.compile(r"\d+ variants tried, \d+ ruled out"))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible(timeout=LONG)
    page.get_by_role("link", name="Check it again").click()
    expect(page.get_by_label("Model")).to_have_value("slow")


def test_the_cause_and_the_change_of_the_manifest(visit: Visit, replication: str) -> None:
    page = visit.to(f"/replications/{replication}")
    expect(page.get_by_text("Top-1 100.0 % is claimed on colours, measured 33.33 %")).to_be_visible()
    expect(page.get_by_text("not reproduced", exact=True)).to_be_visible()
    lines = page.get_by_role("list", name="Change of the manifest").get_by_role("listitem")
    expect(lines).to_have_text([re.compile("decode: {color_layout: BGR}"), re.compile("decode: {color_layout: RGB}")])
    expect(page.get_by_role("list", name="Variants").get_by_text("explains it")).to_be_visible()
    page.get_by_text("What this pitfall is").click()
    expect(page.get_by_text("How it comes about.")).to_be_visible()
    page.get_by_role("link", name="fix it in the editor").click()
    expect(page).to_have_url(re.compile("/manifests/edit\\?.*record="))
    expect(page.get_by_role("textbox", name="Manifest")).to_contain_text(f"name: {WRONG}")


def test_a_line_between_before_and_after_is_moved_with_the_keyboard(visit: Visit, replication: str) -> None:
    page = visit.to(f"/replications/{replication}")
    slider = page.get_by_role("slider").first
    before = page.get_by_role("img", name=re.compile("as the manifest says")).first
    expect(before).to_have_js_property("complete", True)
    assert before.evaluate("image => image.naturalWidth") == 8
    slider.focus()
    slider.press("Home")
    assert "100%" in before.evaluate("image => image.style.clipPath")
    slider.press("End")
    assert slider.get_attribute("aria-valuetext") == "100 % before"
    expect(page.get_by_role("img", name=re.compile("The difference of")).first).to_be_visible()


def test_the_inputs_that_flipped_by_their_kind(visit: Visit, replication: str) -> None:
    page = visit.to(f"/replications/{replication}")
    which = page.get_by_role("group", name="Which inputs")
    which.get_by_role("button", name="fixed").click()
    expect(page).to_have_url(re.compile(r"kind=fixed"))
    expect(page.get_by_role("slider")).to_have_count(6)
    which.get_by_role("button", name="broken").click()
    expect(page.get_by_text("None of this kind.")).to_be_visible()


@pytest.mark.parametrize(
    ("button", "expected"),
    [("Report", "<!doctype html>"), ("Markdown", "not reproduced"), ("JUnit", "<testsuite"), ("JSON", '"causes"')],
)
def test_the_report_is_taken_along(visit: Visit, replication: str, button: str, expected: str) -> None:
    page = visit.to(f"/replications/{replication}")
    with page.expect_download() as waited:
        page.get_by_role("group", name="Download").get_by_role("button", name=button).click()
    assert expected in waited.value.path().read_text(encoding="utf-8")


def test_claims_and_what_became_of_them(visit: Visit, replication: str) -> None:
    page = visit.to("/replications?verdict=not+reproduced")
    row = page.get_by_role("region", name="Claims").get_by_role("row").filter(has_text=WRONG)
    expect(row).to_contain_text("RGB instead of BGR")
    row.get_by_role("link", name="not reproduced").click()
    expect(page).to_have_url(re.compile(f"/replications/{replication}"))
    page = visit.to("/replications")
    page.get_by_role("link", name=f"Check top1=100.0@{FEW} of {WRONG}").click()
    expect(page.get_by_label("Dataset")).to_have_value(FEW)


def test_who_checked_a_claim_is_shown_beside_it(visit: Visit, replication: str) -> None:
    page = visit.to("/replications?verdict=not+reproduced")
    row = page.get_by_role("region", name="Claims").get_by_role("row").filter(has_text=WRONG)
    expect(row).to_contain_text("current (onnxruntime")


def test_published_numbers_of_all_sources_are_searched(visit: Visit, replication: str) -> None:
    page = visit.to("/replications")
    table = page.get_by_role("region", name="Published numbers")
    words = page.get_by_role("searchbox", name="Words")
    words.fill("resnet18.a1_in1k imagenet-val")
    expect(table.get_by_role("row").filter(has_text="timm:resnet18.a1_in1k").first).to_contain_text("unchecked")
    words.fill(WRONG)
    row = table.get_by_role("row").filter(has_text=f"{WRONG}@1.0.0")
    expect(row).to_contain_text("not reproduced")
    expect(row).to_contain_text("RGB instead of BGR")


def test_a_claim_about_a_dataset_that_is_not_here_says_so(visit: Visit, manifests: Site) -> None:
    page = visit.to("/replications")
    row = page.get_by_role("region", name="Claims").get_by_role("row").filter(has_text=MODEL)
    expect(row).to_contain_text("needs the data of imagenet-val")
    expect(row.get_by_role("link", name="Check")).to_have_count(0)


def test_a_question_that_nobody_can_answer_says_why(visit: Visit, manifests: Site) -> None:
    page = visit.to(f"/replications/new?model={MODEL}&dataset=nowhere&claim=top1%3D75.1")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    page = visit.to("/replications/e-nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is no evaluation")


def test_one_that_failed_says_why_and_can_be_asked_again(visit: Visit, manifests: Site) -> None:
    client = manifests.client()
    asked = {"model": "toy", "dataset": "pictures", "arguments": {"claim": "mood=5"}, "attempts": 1}
    (failed,) = client.post("/replications", asked)["evaluations"]
    page = visit.to(f"/replications/{failed['id']}")
    expect(page.get_by_text("failed", exact=True)).to_be_visible(timeout=LONG)
    expect(page.get_by_role("alert")).to_contain_text("mood")
    expect(page.get_by_role("link", name="Check it again")).to_be_visible()


def test_what_pitfalls_cost_is_asked_for_and_drawn(visit: Visit, manifests: Site) -> None:
    page = visit.to("/replications/new?model=toy&dataset=pictures&kind=sensitivity")
    page.get_by_label("Samples").fill("12")
    page.get_by_role("button", name="Measure it").click()
    expect(page).to_have_url(re.compile("/sensitivities/e"))
    heat = page.get_by_role("img", name=re.compile("What each pitfall would cost toy"))
    expect(heat).to_be_visible(timeout=LONG)
    expect(heat).to_contain_text("BGR instead of RGB")
    page.get_by_text("In numbers").click()
    expect(page.get_by_role("region", name="Costs").get_by_role("row").filter(has_text="BGR instead")).to_be_visible()
    for form, expected in (("SVG", "BGR instead"), ("CSV", "color-layout")):
        with page.expect_download() as waited:
            page.get_by_role("button", name=form).click()
        assert expected in waited.value.path().read_text(encoding="utf-8")
    with page.expect_download() as waited:
        page.get_by_role("button", name="PNG").click()
    assert waited.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out(visit: Visit, replication: str, sensitivity: str, theme: str) -> None:
    visit.page.emulate_media(color_scheme=theme)
    for path in ("/replications", "/replications/new", f"/replications/{replication}", f"/sensitivities/{sensitivity}"):
        visit.to(path)
        assert not visit.violations(), path


def test_everything_fits_a_phone(phone: Visit, replication: str, sensitivity: str) -> None:
    for path in ("/replications", "/replications/new", f"/replications/{replication}", f"/sensitivities/{sensitivity}"):
        phone.to(path)
        assert phone.sticks_out() == [], path
