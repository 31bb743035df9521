"""A dataset's page: samples, classes, how to obtain it, and a leaderboard with claims beside measurements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

import own_world
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings

from .conftest import DATASET, MODEL, PHONE, Site, Visit, visiting

NARROW, WIDE = {"width": 320, "height": 800}, {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def part(site: Site, record: str) -> Iterator[str]:
    """The same work on some samples: what a record of eight pictures would look like."""
    store = Store(Settings.from_environment(site.environment("server")))
    whole = store.get(record)
    dataset = whole.plan.dataset.model_copy(
        update={"subset": whole.plan.dataset.subset.model_copy(update={"count": 8})}
    )
    some = whole.model_copy(
        update={"id": "20990101-000000-cccc", "samples": 8, "plan": whole.plan.model_copy(update={"dataset": dataset})}
    )
    store.add(some)
    yield some.id
    store.delete(some)
    store.close()


def test_samples_are_shown_with_their_class_a_page_at_a_time(visit: Visit) -> None:
    page = visit.to(f"/datasets/{DATASET}")
    samples = page.get_by_role("list", name="Samples")
    expect(samples.get_by_role("img")).to_have_count(12)
    expect(samples.get_by_role("listitem").first).to_contain_text(re.compile(r"\w"))
    first = samples.get_by_role("img").first.get_attribute("alt")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("13 – 24 of 70")).to_be_visible()
    expect(samples.get_by_role("img").first).not_to_have_attribute("alt", str(first))


def test_many_classes_are_folded_and_searched(visit: Visit) -> None:
    page = visit.to(f"/datasets/{DATASET}")
    expect(page.get_by_text("1,000 classes")).to_be_visible()
    expect(page.get_by_role("list", name="Classes")).to_have_count(0)
    page.get_by_text("Show and search them").click()
    page.get_by_placeholder("Search classes").fill("wall clock")
    expect(page.get_by_role("list", name="Classes").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_role("list", name="Classes")).to_contain_text("892")
    page.get_by_placeholder("Search classes").fill("no such class")
    expect(page.get_by_text("0 found")).to_be_visible()


def test_a_leaderboard_tells_whole_sets_from_parts(visit: Visit, record: str, part: str) -> None:
    page = visit.to(f"/datasets/{DATASET}")
    whole = page.get_by_role("table", name="Top-1, all samples").get_by_role("row").filter(has_text=MODEL)
    expect(whole).to_contain_text(re.compile(r"82\.86 % \(\d\d\.\d – \d\d\.\d %\).*all 70", re.DOTALL))
    parts = page.get_by_role("table", name="Top-1, parts of the dataset")
    expect(parts.get_by_role("row").filter(has_text=MODEL)).to_contain_text("8 of 70")
    assert parts.get_by_role("link", name=re.compile("top-1")).get_attribute("href") == f"/records/{part}"


def test_what_is_not_connected_tells_how_to_obtain_it_and_what_was_claimed(visit: Visit) -> None:
    page = visit.to("/datasets/imagenet-val")
    card = page.locator("section").filter(has=page.get_by_role("heading", name="How to obtain it"))
    expect(card).to_contain_text("mlmodelscope datasets connect imagenet-val FOLDER")
    expect(card.get_by_role("button", name="Copy: Connect it")).to_be_visible()
    expect(card.get_by_role("link").first).to_have_attribute("rel", "noopener noreferrer")
    page.get_by_text(re.compile(r"claims? about it that no record here measures")).click()
    claims = page.get_by_role("table", name="Claims that are not measured")
    expect(claims.get_by_role("row").filter(has_text=MODEL)).to_contain_text("75.1 %")
    page = visit.to("/datasets/coco-val2017")
    expect(page.get_by_role("link", name="http://images.cocodataset.org/zips/val2017.zip")).to_be_visible()


def own(site: Site, task: str, name: str) -> None:
    """A dataset of the operator that holds no pictures."""
    folder = site.place / "manifests" / name
    folder.mkdir()
    _, dataset = own_world.WORLDS[task](folder)
    text = re.sub(r"^name: .*$", f"name: {name}", dataset.read_text(), flags=re.MULTILINE)
    (site.place / "manifests" / f"{name}.yml").write_text(re.sub(r"url: (?=\S)", f"url: {name}/", text))


def test_texts_and_sounds_are_shown_as_what_they_are(visit: Visit, site: Site) -> None:
    own(site, "text_similarity", "own-pairs")
    page = visit.to("/datasets/own-pairs")
    samples = page.get_by_role("list", name="Samples")
    expect(samples).to_contain_text("one")
    expect(samples.get_by_role("img")).to_have_count(0)
    folder = site.place / "manifests" / "own-sounds"
    own_world.write_wav(folder / "hum" / "a.wav", 0.2)
    own_world.write_wav(folder / "hiss" / "b.wav", 0.2)
    (site.place / "manifests" / "own-sounds.yml").write_text(
        "name: own-sounds\nversion: 1.0.0\ntask: audio_classification\nformat: audio\nsources: [{url: own-sounds}]\n"
    )
    page = visit.to("/datasets/own-sounds")
    expect(page.get_by_role("img", name=re.compile("Waveform"))).to_have_count(2)
    page.get_by_role("button", name="Play").first.click()
    expect(page.locator("audio")).to_have_attribute("src", re.compile("^blob:"))


@pytest.mark.parametrize("path", [f"/datasets/{DATASET}", "/datasets/coco-val2017"], ids=["whole", "missing"])
@pytest.mark.parametrize("viewport", [NARROW, PHONE, WIDE], ids=["320", "390", "1440"])
def test_a_datasets_page_fits_and_keeps_nobody_out(
    browser: Any, site: Site, record: str, viewport: dict[str, int], path: str
) -> None:
    for scheme in ("light", "dark"):
        with visiting(browser, site, viewport=viewport, color_scheme=scheme) as visit:
            page = visit.to(path)
            expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            assert not visit.violations()
