"""A chat with a language model in the browser: written as one reads, stopped, with what the model was shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

import prompt_world

from .conftest import PHONE, Site, Visit, visiting

pytest.importorskip("jinja2")
SHOTS = os.environ.get("MLMODELSCOPE_TEST_PICTURES")
"""A folder for pictures of these pages, for whoever wants to look at them."""


@pytest.fixture(scope="module")
def model(site: Site) -> Iterator[str]:
    endless = {"stop_tokens": [0]}  # which nothing writes
    path = prompt_world.write_model(site.place / "manifests", "talker", write=endless, longest=1_000_000)
    yield path.stem
    path.unlink()  # other tests count the models


@pytest.fixture
def page(visit: Visit, model: str) -> Any:
    return visit.to(f"/models/{model}")


def say(page: Any, words: str, longest: int = 10) -> None:
    page.get_by_label("Longest (tokens)").fill(str(longest))
    page.get_by_label("Your message").fill(words)
    page.get_by_role("button", name="Send").click()


def test_a_model_answers_turn_by_turn(page: Any, visit: Visit) -> None:
    talk = page.get_by_role("list", name="Conversation")
    say(page, "the cat")
    expect(talk.get_by_role("listitem")).to_have_count(2)
    expect(talk.get_by_text("cut off: it reached the largest number of tokens")).to_be_visible()
    answer = talk.get_by_role("listitem").nth(1).locator("p").nth(1).text_content()
    say(page, " on")
    expect(talk.get_by_role("listitem")).to_have_count(4)
    expect(talk.get_by_text("cut off").nth(1)).to_be_visible()
    page.get_by_text("What the model was shown").click()
    expect(page.get_by_role("region", name="Prompt")).to_contain_text(f"the cat{answer} on", use_inner_text=False)
    assert visit.violations() == []
    page.get_by_role("button", name="New chat").click()
    expect(talk).to_have_count(0)


def test_an_answer_is_read_while_it_is_written_and_stopped(page: Any, visit: Visit) -> None:
    """What is written would take hours; the chat goes on at once."""
    say(page, "the cat", 900_000)
    talk = page.get_by_role("list", name="Conversation")
    expect(talk.get_by_role("listitem").nth(1)).to_contain_text(re.compile(r"\w{2}"))
    page.get_by_role("button", name="Stop").click()
    expect(talk.get_by_text("stopped")).to_be_visible()
    page.get_by_role("button", name="New chat").click()
    say(page, "the dog", 3)
    expect(talk.get_by_text("cut off")).to_be_visible()


def test_markup_and_what_turns_text_around_is_only_text(page: Any, visit: Visit) -> None:
    say(page, f"{prompt_world.EVIL} {prompt_world.ODD}", 3)
    talk = page.get_by_role("list", name="Conversation")
    expect(talk.get_by_role("listitem").first).to_contain_text(f"{prompt_world.EVIL} a\\u202eb \\u0007")
    assert talk.locator("img, script").count() == 0
    visit.page.set_viewport_size(PHONE)
    assert visit.sticks_out() == []


def test_a_setting_that_cannot_be_is_told_and_the_message_stays(page: Any) -> None:
    say(page, "the cat", 1_000_000)
    expect(page.get_by_text(re.compile("tokens may be written, and the model takes"))).to_be_visible()
    expect(page.get_by_label("Your message")).to_have_value("the cat")


def test_models_chat_side_by_side(visit: Visit, model: str) -> None:
    page = visit.to(f"/try?models={model},{model}")
    expect(page.get_by_label("Your message")).to_have_count(2)


@pytest.mark.skipif(not SHOTS, reason="MLMODELSCOPE_TEST_PICTURES names no folder")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE], ids=["1440", "390"])
def test_pictures_of_the_page(browser: Any, site: Site, model: str, scheme: str, size: Any) -> None:
    with visiting(browser, site, viewport=size, color_scheme=scheme) as visit:
        page = visit.to(f"/models/{model}")
        say(page, "the cat", 20)
        expect(page.get_by_text("cut off")).to_be_visible()
        page.get_by_text("What the model was shown").click()
        page.screenshot(path=f"{SHOTS}/chat-{size['width']}-{scheme}.png", full_page=True)
