"""What a language model was shown, over REST."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import prompt_world
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings

from .conftest import World

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    try:
        found.host(executor="none")
        yield found
        assert "Traceback" not in found.log("server")
    finally:
        found.close()


def made(world: World, task: str, name: str = "", **changes: Any) -> str:
    place = world.place / "language"
    files = prompt_world.write_model(place), prompt_world.write_dataset(place, task, name, **changes)
    settings = Settings.from_environment(world.environment("server"))
    return evaluate(*map(str, files), Options(timed_runs=1, warm_up_runs=0), settings=settings).id


def get(world: World, record: str, path: str, sample: str) -> Any:
    return world.http.get(f"/records/{record}/{path}", params={"sample": sample})


def test_a_prompt_comes_with_its_tokens_and_what_is_asked_about(world: World) -> None:
    record = made(world, "multiple_choice")
    found = get(world, record, "prompt", "00001").json()
    assert found["contexts"][0]["text"] == prompt_world.QUESTIONS[1]["q"] and found["call"] == "choose"
    assert found["contexts"][0]["pieces"][0] == "<s>" and len(found["contexts"][0]["tokens"]) > 10
    assert [(each["choice"], each["context"]) for each in found["rows"]] == [(0, 0), (1, 0)]
    shapes = get(world, record, "shapes", "00001").json()["shapes"]
    assert [each["kind"] for each in shapes] == ["text", "text", "choices", "tokens", "tokens"]
    assert get(world, record, "input", "00001").json()["cells"][0]["column"] == "q"


def test_a_record_that_keeps_no_prompt_says_why(world: World) -> None:
    record = made(world, "text_generation", "quiet", ask={"longest": 3, "keep": "tokens"})
    answer = get(world, record, "prompt", "00000")
    assert answer.status_code == 400 and "keeps no prompt" in answer.text and "keep: tokens" in answer.text
    assert get(world, record, "prompt", "nobody").status_code == 404


def test_a_huge_prompt_fills_no_page(world: World) -> None:
    prompt = {"question": "{{q * 3000}}", "choices": ["a"], "answer": "label"}
    record = made(world, "multiple_choice", "huge", prompt=prompt)
    answer = get(world, record, "prompt", "00000")
    (context,) = answer.json()["contexts"]
    assert context["omitted"] > 0 and context["dropped"] > 0 and len(answer.content) < 1 << 20
