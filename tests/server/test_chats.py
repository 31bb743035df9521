"""Chats with a language model through a server: read while they are written, stopped, several at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import prompt_world
from mlmodelscope.watcher import Watcher

from .conftest import World

pytest.importorskip("jinja2")
ENDLESS = {"predictor_options": {"longest": 1_000_000}}
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    try:
        prompt_world.write_model(found.place / "manifests")
        found.serve()
        found.client()
        yield found
        assert "Traceback" not in found.log("server")
    finally:
        found.close()


def turns(*said: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": each} for place, each in enumerate(said)]


def chat(world: World, *said: str, **body: Any) -> list[dict[str, Any]]:
    asked = {"model": "letters", "input": {"turns": turns(*said)}, **body}
    return list(world.client().stream("/predictions", EVENTS, asked))


def test_a_text_comes_in_pieces_that_add_up(world: World) -> None:
    *before, answer = chat(world, "the cat", write={"longest": 10})
    assert answer["kind"] == "answer", answer
    said = json.loads(answer["answer"])
    assert said["text"] == "".join(each["text"] for each in before if each["kind"] == "piece") and said["text"]
    assert said["ending"] == "length" and answer["prompt"]["contexts"][0]["text"] == "the cat"
    assert answer["prompt"]["rows"][0]["tokens"]


def test_what_was_said_before_is_part_of_the_prompt(world: World) -> None:
    answer = chat(world, "the cat", " sat", " on", write={"longest": 2})[-1]
    assert answer["prompt"]["contexts"][0]["text"] == "the cat sat on"


def test_drawn_texts_have_their_seed(world: World) -> None:
    drawn = [
        json.loads(chat(world, "the", write={"longest": 30, "temperature": 2.0, "seed": seed})[-1]["answer"])["text"]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"write": {"longest": 0}}, "longest"),
        ({"write": {"longest": "many"}}, "longest"),
        ({"write": {"hurry": 1}}, "hurry"),
        ({"write": {"keep": "nothing"}}, "keep"),
        ({"input": {"turns": []}}, "0 turns"),
        ({"input": {"turns": turns("a", "b")}}, "the user asks"),
        ({"input": {"turns": [{"role": "robot", "content": "x"}]}}, "role"),
        ({"input": {"cells": {"x": 1}}}, "takes texts and conversations"),
        ({"input": {"turns": turns("a"), "text": "b"}}, "exactly one"),
    ],
)
def test_what_cannot_be_asked_is_refused(world: World, body: dict[str, Any], told: str) -> None:
    answer = world.http.post(
        "/predictions", json={"model": "letters", "input": {"turns": turns("a")}, **body}, timeout=300
    )
    assert answer.status_code == 422 and told in answer.text, answer.text


def test_a_model_of_pictures_has_no_way_of_writing(world: World) -> None:
    answer = world.http.post(
        "/predictions", json={"model": "toy", "input": {"text": "a"}, "write": {"longest": 1}}, timeout=300
    )
    assert answer.status_code == 422 and "not a language model" in answer.text


def test_whoever_stops_listening_stops_the_text_and_the_model_stays_open(world: World) -> None:
    """The text would go on for hours. Nothing is killed: the next question finds the model open."""
    asked = {"model": "letters", "input": {"turns": turns("the cat")}, "options": ENDLESS}
    endless = {**asked, "write": {"longest": 900_000, "stop_tokens": [0]}, "timeout_s": 600}
    with world.http.stream("POST", "/predictions", json=endless, headers=EVENTS, timeout=300) as answer:
        lines = answer.iter_lines()
        heard = [each for each, _ in zip(lines, range(12), strict=False)]
        assert "event: piece" in heard, heard
    again = world.http.post("/predictions", json={**asked, "write": {"longest": 3}}, timeout=300)
    assert again.status_code == 200 and again.json()["warm"], again.text


def test_several_chats_have_their_own_texts(world: World) -> None:
    starts = ("the cat", "the dog", "a cat", "the rug")
    alone = [json.loads(chat(world, each, write={"longest": 12})[-1]["answer"])["text"] for each in starts]
    found: dict[str, str] = {}

    def ask(start: str) -> None:
        *pieces, answer = chat(world, start, write={"longest": 12})
        assert (
            "".join(each["text"] for each in pieces if each["kind"] == "piece") == json.loads(answer["answer"])["text"]
        )
        found[start] = json.loads(answer["answer"])["text"]

    threads = [threading.Thread(target=ask, args=(each,)) for each in starts]
    for each in threads:
        each.start()
    for each in threads:
        each.join(300)
    assert [found.get(each) for each in starts] == alone


def test_only_those_who_may_run_may_chat(world: World) -> None:
    token = world.token("read", owner="reader")
    answer = world.http.post(
        "/predictions",
        json={"model": "letters", "input": {"turns": turns("a")}},
        headers={"Authorization": f"Bearer {token}"},
        timeout=300,
    )
    assert answer.status_code == 403


def test_the_command_line_writes_what_a_server_says(world: World) -> None:
    here = world.say("predict", "letters", "the cat", "--write", "longest=10", home="here")
    there = world.say("predict", "letters", "the cat", "--write", "longest=10", "--server", world.url)
    assert here[:2] == there[:2] and here[0] == 0 and here[1].strip() and "cut off" in here[2]


def test_a_client_is_told_each_piece(world: World) -> None:
    class Listener(Watcher):
        heard = ""

        def wrote(self, text: str) -> None:
            self.heard += text

    from mlmodelscope.client.asking import ask_about
    from mlmodelscope.model_input import turns_input

    listener = Listener()
    asked = {"model": "letters", "write": {"longest": 10}}
    (found,) = ask_about(world.client(), asked, [turns_input(turns("the cat"))], listener)
    assert found.value["text"] == listener.heard and found.prompt is not None
