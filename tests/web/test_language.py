"""Language models in the browser: prompts, choices as bars, tokens by how likely they were, marked answers."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from playwright.sync_api import expect

import prompt_world
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings

from .conftest import PHONE, Site, Visit, visiting

pytest.importorskip("jinja2")
WIDE = {"width": 1440, "height": 900}
SHOTS = os.environ.get("MLMODELSCOPE_TEST_PICTURES")
"""A folder for pictures of these pages, for whoever wants to look at them."""


@pytest.fixture(scope="module")
def records(site: Site) -> dict[str, str]:
    """The record of each task."""
    settings, place = Settings.from_environment(site.environment("server")), site.place / "language"
    model = prompt_world.write_model(place)
    few = Options(timed_runs=1, warm_up_runs=0)
    return {
        task: evaluate(str(model), str(prompt_world.write_dataset(place, task)), few, settings=settings).id
        for task in prompt_world.CALLS
    }


def opened(visit: Visit, records: dict[str, str], task: str, sample: str = "00000") -> Any:
    page = visit.to(f"/records/{records[task]}?tab=samples&sample={sample}")
    return page.get_by_role("dialog")


def test_a_prompt_is_shown_as_it_is_with_its_tokens(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "multiple_choice")
    prompt = dialog.get_by_role("region", name="Prompt")
    expect(prompt).to_have_text("the cat sat on")
    dialog.get_by_label("Show tokens").check()
    expect(prompt.locator("span")).to_have_count(1 + len("the cat sat on"))
    expect(prompt.locator("span").first).to_have_text("<s>")
    assert visit.violations() == []


def test_choices_are_bars_with_the_right_and_the_chosen_one_marked(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "multiple_choice")
    table = dialog.get_by_role("region", name="Choices")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["Choice", "likelihood (used)", "by characters", "by bytes", "by tokens"]
    )
    row = table.get_by_role("row").nth(1)
    expect(row.get_by_role("rowheader")).to_have_text(re.compile("the mat.*right"))
    expect(row.get_by_text("chosen")).to_have_count(4)
    expect(dialog.get_by_role("region", name="Tokens of choice 0").locator("span")).to_have_count(len(" the mat"))


def test_tokens_are_the_darker_the_less_likely_they_were(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "language_modeling")
    tokens = dialog.get_by_role("region", name="Tokens").locator("span")
    expect(tokens).to_have_count(len("the cat sat"))
    found = tokens.evaluate_all(
        "all => all.map(each => [parseFloat(each.style.background.match(/([\\d.]+)%/)[1]),"
        " parseFloat(each.title.match(/log-likelihood (-?[\\d.]+)/)[1])])"
    )
    by_log = [depth for depth, log in sorted(found, key=lambda each: -each[1])]
    assert by_log == sorted(by_log) and by_log[0] < by_log[-1]


def test_what_was_taken_out_of_an_answer_is_marked_and_a_cut_one_said_so(visit: Visit, records: dict[str, str]) -> None:
    dialog = opened(visit, records, "text_generation")
    said = dialog.get_by_role("region", name="What it says")
    expect(said.locator("mark")).to_have_text(re.compile("^[a-z]+extracted$"))
    expect(dialog.get_by_text("cut off at 12 tokens")).to_be_visible()


@pytest.mark.parametrize("task", sorted(prompt_world.CALLS))
def test_what_strangers_wrote_is_only_text(visit: Visit, records: dict[str, str], task: str) -> None:
    dialog = opened(visit, records, task, "00001")
    expect(dialog.get_by_text("Prompt:")).to_be_visible()
    expect(dialog.get_by_text(prompt_world.EVIL).first).to_be_visible()
    assert dialog.locator("img, script").count() == 0
    assert visit.violations() == []
    visit.page.set_viewport_size(PHONE)
    assert visit.sticks_out() == []


def test_two_records_are_compared_token_by_token(visit: Visit, site: Site, records: dict[str, str]) -> None:
    """The prompt's difference stands beside what it did to each token."""
    place = site.place / "language"
    prompt = {"question": "{{q}} a", "choices": ["a"], "answer": "label"}
    dataset = prompt_world.write_dataset(place, "multiple_choice", prompt=prompt)
    settings = Settings.from_environment(site.environment("server"))
    few = Options(timed_runs=1, warm_up_runs=0)
    other = evaluate(str(place / "letters.yml"), str(dataset), few, settings=settings).id
    page = visit.to(f"/compare?records={records['multiple_choice']},{other}")
    prompts = page.get_by_role("region", name="Prompt, both records")
    expect(prompts.first.locator("ins")).to_have_count(len(" a"))
    expect(page.get_by_role("region", name="Tokens of choice 0, both records").first).to_be_visible()
    expect(page.get_by_text(re.compile("of [0-9]+ tokens differ")).first).to_be_visible()
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/compare.png", full_page=True)


@pytest.mark.skipif(not SHOTS, reason="MLMODELSCOPE_TEST_PICTURES names no folder")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["1440", "390"])
def test_pictures_of_the_pages(browser: Any, site: Site, records: dict[str, str], scheme: str, size: Any) -> None:
    for task in prompt_world.CALLS:
        with visiting(browser, site, viewport=size, color_scheme=scheme) as visit:
            expect(opened(visit, records, task).get_by_text("Prompt:")).to_be_visible()
            visit.page.screenshot(path=f"{SHOTS}/{task}-{size['width']}-{scheme}.png")
