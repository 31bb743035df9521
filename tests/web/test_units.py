"""A claim in decibels in the browser: its unit stands behind every number, and no picture is right or wrong."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import expect

import seen_world

from .conftest import PHONE, Site, Visit, visiting


@pytest.fixture(scope="module")
def replication(site: Site) -> str:
    """PSNR of pictures whose range is taken for twice as large as it is."""
    client, folder = site.client(), site.place / "manifests"
    place = folder / "decibels"
    model, data = (yaml.safe_load(path.read_text()) for path in seen_world.write_enhancer(place, data_range=510))
    model["source"]["graph_path"] = str(place / "echo.json")
    data["sources"][0]["url"] = str(place / "pictures")
    (folder / "decibels-data.yml").write_text(yaml.safe_dump({**data, "size": 3}))
    (folder / "decibels-model.yml").write_text(yaml.safe_dump(model))
    measured = client.evaluate("sharpener", "patterns").metrics["psnr"].value
    claims = [{"metric": "psnr", "value": f"{measured - 6.0206:.3f}", "unit": "dB", "dataset": "patterns"}]
    (folder / "decibels-model.yml").write_text(yaml.safe_dump({**model, "claims": claims}))
    (asked,) = client.post("/replications", {"model": "sharpener", "dataset": "patterns"})["evaluations"]
    client.evaluation(asked["id"]).wait()
    return str(asked["id"])


def test_every_number_has_the_unit_of_the_claim(visit: Visit, replication: str) -> None:
    page = visit.to(f"/replications/{replication}")
    expect(page.get_by_text("+6.02 dB", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"^claimed \d+\.\d\d dB, measured \d+\.\d\d dB$"))).to_be_visible()
    facts = page.get_by_role("main").inner_text()
    assert "points" not in facts and "fixed" not in facts and "broken" not in facts
    variants = page.get_by_role("list", name="Variants").get_by_role("listitem")
    expect(variants.first).to_contain_text(re.compile(r"\d dB"))
    expect(page.get_by_role("group", name="Which inputs").get_by_role("button", name="worse")).to_contain_text("3")
    card = page.get_by_role("listitem").filter(has_text=re.compile("Quality .* → ")).first
    expect(card.get_by_text(re.compile(r"PSNR \d+\.\d\d dB → \d+\.\d\d dB"))).to_be_visible()
    assert visit.violations() == []


def test_claims_are_listed_with_their_units(visit: Visit, replication: str) -> None:
    page = visit.to("/replications?q=sharpener")
    row = page.get_by_role("region", name="Claims").get_by_role("row").filter(has_text="sharpener")
    expect(row).to_contain_text(re.compile(r"psnr \d+\.\d{3} dB"))
    expect(row).to_contain_text(re.compile(r"\d+\.\d\d dB"))
    expect(row).not_to_contain_text("%")


def test_the_form_offers_the_metrics_of_the_models_task(visit: Visit, replication: str) -> None:
    page = visit.to("/replications/new?model=sharpener")
    box = page.get_by_label("Metric")
    offered = page.locator(f"datalist[id='{box.get_attribute('list')}'] option")
    expect(offered).to_have_count(2)
    assert [each.get_attribute("value") for each in offered.all()] == ["psnr", "ssim"]
    box.fill("ssim")
    expect(page.get_by_text("SSIM, a number without a unit")).to_be_visible()
    box.fill("mood")  # free to type: the server says what it thinks of it
    expect(box).to_have_value("mood")
    expect(page.get_by_role("button", name=re.compile(r"psnr [\d.]+ dB on patterns"))).to_be_visible()
    page.get_by_label("Model").fill("toy")
    expect(offered.first).to_have_attribute("value", "top1")


def test_it_fits_phones_and_screens(browser: object, site: Site, replication: str) -> None:
    for screen in ({"width": 320, "height": 900}, PHONE, {"width": 1280, "height": 900}):
        with visiting(browser, site, viewport=screen) as visit:
            page = visit.to(f"/replications/{replication}")
            expect(page.get_by_text("+6.02 dB", exact=True)).to_be_visible()
            assert visit.sticks_out() == []
