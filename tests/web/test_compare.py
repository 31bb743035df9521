"""Records side by side: chosen anywhere, compared on one page, with an address to show to others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import DATASET, MODEL, PHONE, Site, Visit

FIXTURES = Path(__file__).parents[1] / "trace" / "fixtures"
PROFILES = ("resnet50-h200-batch1", "resnet50-jax-h200-batch1")


class Made:
    """An evaluation with one thread and with two, a sweep, and two profiles of a GPU."""

    def __init__(self, site: Site, record: str) -> None:
        self.one = record
        self.other = site.evaluated(options={"threads": 2, "timed_runs": 20})
        sweep = {"scenario": "sweep", "budget_s": 0.5, "processes": 1, "most_batch": 2}
        asked = site.client().ask({"kind": "bench", "model": MODEL, "dataset": DATASET, "arguments": sweep})
        self.sweep = asked[0].record().id
        self.profiles = [site.adopted(FIXTURES / each) for each in PROFILES]

    @property
    def two(self) -> str:
        return f"/compare?records={self.one},{self.other}"

    @property
    def three(self) -> str:
        return f"{self.two},{self.sweep}"

    @property
    def layers(self) -> str:
        return f"/compare?records={','.join(self.profiles)}"


@pytest.fixture(scope="module")
def made(site: Site, record: str) -> Made:
    return Made(site, record)


def test_records_are_put_in_the_basket_from_every_list(visit: Visit, made: Made) -> None:
    page = visit.to(f"/records/{made.one}")
    page.get_by_role("button", name="Add to comparison").click()
    expect(page.get_by_role("button", name="In the comparison")).to_be_visible()
    visit.to(f"/models/{MODEL}")
    page.get_by_role("button", name=f"Compare {made.other}").click()
    visit.to("/evaluations")
    page.get_by_role("button", name=f"Compare {made.sweep}").click()
    compare = page.get_by_role("link", name="Compare 3 chosen")
    compare.click()
    expect(page).to_have_url(f"{visit.url}/compare?records={made.one}%2C{made.other}%2C{made.sweep}")
    page.get_by_role("button", name=f"Take {made.sweep} away").click()
    expect(page.get_by_role("link", name="Compare 2 chosen")).to_be_visible()
    expect(page.get_by_role("heading", name="Which is faster?")).to_be_visible()


def test_numbers_stand_side_by_side_and_what_differs_is_marked(visit: Visit, made: Made) -> None:
    page = visit.to(made.three)
    numbers = page.get_by_role("region", name="Numbers")
    expect(numbers.get_by_role("row", name="Top-1")).to_contain_text("%")
    expect(numbers.get_by_role("row", name="Latency, median")).to_contain_text("ms")
    differs = page.get_by_role("region", name="What differs")
    expect(differs.get_by_role("row", name="threads 1 2")).to_be_visible()
    expect(differs.get_by_role("row", name="dataset")).to_have_count(0)
    page.get_by_label("also what is the same").check()
    expect(differs.get_by_role("row", name="dataset")).to_be_visible()


def test_every_chart_is_there_and_can_be_taken_along(visit: Visit, made: Made) -> None:
    page = visit.to(made.three)
    charts = ("Latencies", "Accuracy and online latency", "Accuracy and maximum throughput")
    for title in (*charts, "Throughput over batch size"):
        card = page.locator("section", has=page.get_by_role("heading", name=title, exact=True))
        expect(card.locator("figure svg").first).to_be_visible()
        for form in ("SVG", "PNG", "CSV"):
            with page.expect_download() as caught:
                card.get_by_role("button", name=form, exact=True).click()
            content = Path(caught.value.path()).read_bytes()
            assert (
                content.startswith({"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": content[:1]}[form]) and len(content) > 99
            )
            assert b"var(--" not in content
        card.get_by_text("The numbers").click()
        expect(card.get_by_role("table", name=title)).to_be_visible()
    expect(page.get_by_role("table", name=f"Overview of {DATASET}")).to_contain_text(MODEL)


def test_two_have_a_ratio_and_how_far_their_answers_lie_apart(visit: Visit, made: Made, site: Site) -> None:
    page = visit.to(made.two)
    told = site.client().get("/comparisons", {"record": [made.one, made.other]})["pair"]
    expect(page.locator("body")).to_contain_text(told["latency"]["sentence"][1:])
    expect(page.get_by_text(told["latency"]["verdict"], exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name="Which is more accurate?")).to_be_visible()
    expect(page.locator("body")).to_contain_text(told["accuracy"]["sentence"][1:])
    answers = page.locator("section", has=page.get_by_role("heading", name="Do they answer the same?"))
    expect(answers).to_contain_text("100.0 %")
    expect(answers).to_contain_text("Jensen–Shannon")
    expect(answers).to_contain_text("Hellinger")


def test_two_profiles_are_drawn_layer_by_layer(visit: Visit, made: Made) -> None:
    page = visit.to(made.layers)
    expect(page.get_by_text("The layers of the second take")).to_be_visible()
    runs = page.locator("svg[aria-label='One run of each, layer behind layer']")
    expect(runs).to_be_visible()
    assert runs.locator("rect").count() > 200
    for title in ("Time by kind of layer", "Layers that make most of the difference"):
        expect(page.locator(f"svg[aria-label='{title}']")).to_be_visible()
    expect(page.get_by_role("table", name="All layers")).to_contain_text("layer1.0.conv1")
    page.get_by_role("link", name="both timelines").click()
    expect(page.get_by_role("application")).to_have_count(2)


def test_without_any_the_page_shows_all_that_was_measured(visit: Visit, made: Made) -> None:
    page = visit.to("/compare")
    expect(page.get_by_role("table", name="Overview of noise")).to_contain_text("resnet50-jax")
    table = page.get_by_role("table", name=f"Overview of {DATASET}")
    expect(table).not_to_contain_text("resnet50-jax")
    expect(table.get_by_role("row", name=MODEL).first).to_contain_text("70")
    table.get_by_role("button", name="Compare ").first.click()
    expect(page.get_by_role("list", name="Chosen records")).to_be_visible()


def test_a_record_that_is_gone_is_said(visit: Visit, made: Made) -> None:
    page = visit.to(f"/compare?records={made.one},20200101-000000-abcdef")
    expect(page.get_by_role("alert")).to_contain_text("there is no record")
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("table", name="Overview").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_by_how_it_is_made(visit: Visit, made: Made, scheme: Any) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    for path in (made.three, made.two, made.layers):
        visit.to(path)
        assert not visit.violations()


def test_it_fits_a_phone(visit: Visit, made: Made) -> None:
    visit.page.set_viewport_size(PHONE)
    for path in (made.three, made.two, made.layers, "/compare"):
        visit.to(path)
        assert visit.sticks_out() == [], path
