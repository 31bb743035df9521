"""Samples that are not pictures in the browser: texts, rows, sounds, what is found and where numbers are off."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import own_world
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings

from .conftest import PHONE, Site, Visit, visiting

WIDE = {"width": 1440, "height": 900}
SHOTS = os.environ.get("MLMODELSCOPE_TEST_PICTURES")
"""A folder for pictures of these pages, for whoever wants to look at them."""
SAMPLES = {
    "audio_classification": "yes/1.wav",
    "speech_recognition": "take-1.wav",
    "tabular_regression": "row-3",
    "text_similarity": "pair-1",
    "embedding": "q1",
    "time_series_forecasting": "series-4",
    "token_classification": "text-1",
}


@pytest.fixture(scope="module")
def records(site: Site) -> dict[str, str]:
    """The record of each task."""
    settings, found = Settings.from_environment(site.environment("server")), {}
    for task, write in own_world.WORLDS.items():
        place = site.place / "own" / task
        place.mkdir(parents=True)
        model, dataset = write(place)
        found[task] = evaluate(str(model), str(dataset), Options(timed_runs=1, warm_up_runs=0), settings=settings).id
    return found


def opened(visit: Visit, records: dict[str, str], task: str) -> Any:
    """The dialog of the task's sample."""
    page = visit.to(f"/records/{records[task]}?tab=samples&sample={SAMPLES[task]}")
    return page.get_by_role("dialog")


def test_a_sound_is_played_beside_what_the_model_hears(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "audio_classification")
    expect(dialog.get_by_role("img", name="Waveform of 0.60 s, loudest -6 dB")).to_be_visible()
    heard = dialog.get_by_role("img", name=re.compile(r"^What the model hears: float32 58 × 20, from -"))
    expect(heard).to_be_visible()
    assert heard.evaluate("each => [each.naturalWidth, each.naturalHeight]") == [58, 20]
    player = dialog.locator("audio")
    expect(player).to_be_visible()
    assert player.evaluate(
        """async each => {
          if (each.readyState < 1) await new Promise((done, failed) => {
            each.onloadedmetadata = done; each.onerror = () => failed(each.error.message); });
          return each.duration;
        }"""
    ) == pytest.approx(0.6, abs=0.01)
    assert visit.violations() == []


def test_a_sound_of_no_samples_says_why_nothing_is_drawn(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['audio_classification']}?tab=samples&sample=no/nothing.wav")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("What the model hears cannot be drawn: the WAVE file has 0 samples")).to_be_visible()
    expect(dialog.get_by_text("failed", exact=True)).to_be_visible()


def test_a_transcript_shows_word_by_word_what_differs(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "speech_recognition")
    said = dialog.get_by_role("region", name="What it says")
    expect(said.locator("del").first).to_have_text("cat")
    expect(said.locator("ins").first).to_have_text("hat")
    expect(dialog.get_by_role("region", name="What is true")).to_have_text("the cat sat on the mat")
    expect(said).to_contain_text("onerror=alert(2)>")
    assert dialog.locator("img[src=x], script").count() == 0
    assert visit.violations() == []


def test_entities_are_marked_in_the_text(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "token_classification")
    truth = dialog.get_by_role("region", name="What is true")
    expect(truth.locator("mark")).to_have_count(2)
    said = dialog.get_by_role("region", name="What it says")
    expect(said.locator("mark").nth(1)).to_have_text("met<b>LOC")
    assert dialog.locator("b, script, img[src=x]").count() == 0
    expect(dialog.get_by_role("region", name="Text", exact=True)).to_contain_text("Ada Lovelace met </p><script>")
    assert visit.violations() == []


def test_a_pair_of_texts_and_a_row_are_shown_as_they_are(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "text_similarity")
    expect(dialog.get_by_role("region", name="Text", exact=True)).to_have_text(f"a dog {own_world.EVIL}")
    expect(dialog.get_by_role("region", name="Second text")).to_have_text("a car")
    dialog = opened(visit, records, "tabular_regression")
    row = dialog.get_by_role("region", name="Row")
    expect(row.get_by_role("rowheader")).to_have_text(["x", own_world.EVIL])
    assert row.get_by_role("cell").nth(1).locator("bdi").count() == 1
    assert visit.violations() == []


def test_the_list_shows_how_samples_begin(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['embedding']}?tab=samples")
    expect(page.get_by_role("table", name="Samples").get_by_text("Cats purr.")).to_be_visible()
    page = visit.to(f"/records/{records['audio_classification']}?tab=samples")
    expect(page.get_by_role("table", name="Samples").get_by_text("0.60 s")).to_be_visible()
    assert visit.violations() == []


def test_residuals_are_drawn_and_lead_to_samples(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['tabular_regression']}")
    for title in ("Predicted over true", "Residuals"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_text("curve, 39 samples").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Chart: residual-")).locator("circle")).to_have_count(39)
    table = page.get_by_role("table", name="Largest errors")
    expect(table.get_by_role("row").nth(1)).to_have_text(re.compile("row-0.*4.*0.*-4"))
    assert visit.violations() == []
    table.get_by_role("link", name="row-0", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("region", name="Row")).to_be_visible()


def test_pairs_with_the_largest_error_have_both_scores(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['text_similarity']}")
    table = page.get_by_role("table", name="Pairs with the largest error")
    first = table.get_by_role("row").nth(1)
    expect(first).to_contain_text("a car")
    expect(first.get_by_role("cell")).to_have_text([re.compile("pair-1"), "0.5", "0.9", "20 %"])
    expect(page.get_by_text("the 3 worst; pairs, 3 samples")).to_be_visible()
    expect(page.get_by_role("heading", name="Residuals")).to_have_count(0)


def test_the_nearest_documents_of_a_query_have_the_truth_marked(visit: Visit, records: dict[str, str]) -> None:
    page = visit.to(f"/records/{records['embedding']}")
    expect(page.get_by_text("animals, 2 queries, 4 documents")).to_be_visible()
    nearest = page.get_by_role("list", name="Nearest documents").get_by_role("listitem")
    expect(nearest).to_have_count(4)
    expect(nearest.nth(1)).to_contain_text("Cats sleep all day.")
    expect(nearest.nth(1)).to_contain_text("relevant, gain 2")
    expect(nearest.nth(2)).not_to_contain_text("relevant")
    assert visit.violations() == []
    nearest.nth(0).get_by_role("link", name="d1").click()
    expect(page.get_by_role("dialog").get_by_text("Cats purr.")).to_be_visible()
    dialog = opened(visit, records, "embedding")
    expect(dialog.get_by_role("list", name="Nearest documents").get_by_role("listitem")).to_have_count(4)


def test_a_dataset_that_has_gone_is_named_once(visit: Visit, site: Site) -> None:
    place: Path = site.place / "own-gone"
    place.mkdir()
    model, dataset = own_world.write_speech(place)
    settings = Settings.from_environment(site.environment("server"))
    options = Options(timed_runs=1, warm_up_runs=0, batch_size=2)
    record = evaluate(str(model), str(dataset), options, settings=settings).id
    place.rename(site.place / "own-elsewhere")
    page = visit.to(f"/records/{record}?tab=samples&sample=take-1.wav")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("there is no copy of speech available")).to_be_visible()
    expect(dialog.get_by_role("region", name="What it says")).to_be_visible()


def test_latencies_that_are_all_alike_have_brief_ticks(visit: Visit, records: dict[str, str]) -> None:
    """The median in seconds times a thousand is not the run in nanoseconds by a million, to the last digit."""

    def alike(route: Any) -> None:
        found = route.fetch().json()
        found["latency"]["raw_ns"] = [62_743]
        for quantile in ("p50_s", "p90_s", "p99_s"):
            found["latency"][quantile]["value"] = 62_743 / 1e9
        route.fulfill(json=found)

    name = records["audio_classification"]
    visit.page.route(f"**/api/v1/records/{name}", alike)
    page = visit.to(f"/records/{name}")
    ticks = page.get_by_role("img", name="Chart: latency-").first.locator("text")
    expect(ticks.first).to_be_visible()
    assert all(len(each) <= 16 for each in ticks.all_text_contents()), ticks.all_text_contents()
    assert visit.sticks_out() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("task", own_world.WORLDS)
def test_it_fits_phones_and_screens(browser: Any, site: Site, records: dict[str, str], task: str, scheme: str) -> None:
    for screen in (PHONE, WIDE):
        for name, path in (("overview", ""), ("sample", f"?tab=samples&sample={SAMPLES[task]}")):
            with visiting(browser, site, viewport=screen, color_scheme=scheme) as visit:
                page = visit.to(f"/records/{records[task]}{path}")
                expect(page.get_by_role("dialog" if path else "tablist").first).to_be_visible()
                page.wait_for_load_state("networkidle")
                assert visit.sticks_out() == []
                if SHOTS:
                    page.set_viewport_size(screen)
                    page.screenshot(path=f"{SHOTS}/{task}-{name}-{screen['width']}-{scheme}.png", full_page=not path)
