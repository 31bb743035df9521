"""Flips of a detector in the browser: before and after over the picture, with the truth and the change of quality."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import expect

import squares

from .conftest import PHONE, Site, Visit, visiting

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def replication(site: Site) -> str:
    """A detector that is given other colors than it was trained with, explained."""
    folder = site.place / "manifests"
    model = squares.model(folder, claims=[{"metric": "ap", "value": "100.0", "dataset": "squares"}])
    model["inputs"][0]["processing"]["decode"] = {"color_layout": "BGR"}
    (folder / "squares-model.yml").write_text(yaml.safe_dump(model, sort_keys=False))
    (folder / "squares-data.yml").write_text(yaml.safe_dump(squares.dataset(folder, 30), sort_keys=False))
    client = site.client()
    (asked,) = client.post("/replications", {"model": "squares", "dataset": "squares"})["evaluations"]
    client.evaluation(asked["id"]).wait()
    return str(asked["id"])


def test_before_and_after_lie_over_the_truth(visit: Visit, replication: str) -> None:
    page = visit.to(f"/replications/{replication}")
    card = page.get_by_role("listitem").filter(has_text="answer before, over the truth").first
    drawn = card.get_by_role("img", name=re.compile("boxes: .*truth: "))
    expect(drawn).to_have_count(2)
    expect(card.get_by_text(re.compile(r"Quality .* → "))).to_be_visible()
    assert visit.violations() == []


def test_it_fits_phones_and_screens(browser: object, site: Site, replication: str) -> None:
    for screen in ({"width": 320, "height": 900}, PHONE, {"width": 1280, "height": 900}):
        with visiting(browser, site, viewport=screen) as visit:
            page = visit.to(f"/replications/{replication}")
            expect(page.get_by_text("answer before, over the truth").first).to_be_visible()
            assert visit.sticks_out() == []
