"""Asking a model that takes texts or rows through a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mlmodelscope.client.asking import ask_about
from mlmodelscope.model_input import text_input
from part_world import write_row_model, write_text_model

from .conftest import World, free_port


class Asked:
    """A server with gRPC whose catalogue has a model of texts and one of rows."""

    def __init__(self, world: World) -> None:
        self.world, self.rpc_port = world, free_port()
        write_text_model(world.place / "manifests")
        write_row_model(world.place / "manifests")
        world.serve(rpc_port=self.rpc_port, largest_input=10_000)
        client = world.client()
        world.until(lambda: len(client.agents()) == 1, "the server's own agent has joined")

    def __call__(self, model: str, **given: Any) -> Any:
        return self.world.http.post("/predictions", json={"model": model, "input": given}, timeout=300)

    def value(self, model: str, **given: Any) -> float:
        found = self(model, **given)
        assert found.status_code == 200, found.text
        return float(json.loads(found.json()["answer"])["values"][0])


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    world = World(tmp_path_factory.mktemp("world"))
    try:
        yield Asked(world)
        assert "Traceback" not in world.log("server")
    finally:
        world.close()


def test_texts_and_rows_are_asked_about_by_rest(asked: Asked) -> None:
    assert asked.value("rows", cells={"x": 1.5, "note": None}) == 1.5
    alone, with_pair = asked.value("reader", text="a cat"), asked.value("reader", text="a cat", text_pair="a dog")
    assert alone != with_pair


def test_a_model_says_what_it_takes(asked: Asked) -> None:
    for model, given, said in (
        ("reader", {"cells": {"x": 1}}, "reader takes texts, not a row"),
        ("reader", {"base64": "AAAA"}, "reader takes texts, not a file"),
        ("rows", {"text": "x=1"}, "rows takes rows of a table, such as `age=31,city=Rome`, not a text"),
        ("rows", {"cells": {}}, "a row has 0 columns"),
        ("reader", {"text": "a " * 6000}, "12000 bytes, 10000 are the most"),
        ("reader", {"text_pair": "a"}, "exactly one of base64, url, text, cells and turns"),
        ("rows", {"cells": {"x": 1}, "text_pair": "a"}, "text_pair is the second text"),
        ("rows", {"cells": {"x": [1]}}, "cells"),
    ):
        found = asked(model, **given)
        assert found.status_code == 422 and said in found.text, (model, given, found.text)


def test_the_command_line_and_the_client_ask_as_on_this_machine(asked: Asked) -> None:
    for words in (["reader", "a cat\ta dog", "sits"], ["rows", "x=2,note=b", '{"x": 3}']):
        here, served = (
            json.loads(asked.world.say("predict", *words, "--json", *more, home="here")[1])
            for more in ((), ("--server", asked.world.url))
        )
        for each in (*here, *served):
            each.pop("stages")
        assert here == served and here[0]["value"]["values"]
    client = asked.world.client()
    (row,) = client.predict("rows", [{"x": 4}])
    text, pair = ask_about(client, {"model": "reader"}, [text_input("a cat"), ("a cat", "a dog")])
    assert row.value == {"values": [4.0]} and text.value == {"values": [asked.value("reader", text="a cat")]}
    assert (text.image, pair.image) == ("a cat", "a cat | a dog")


def test_grpc_takes_texts_and_rows(asked: Asked) -> None:
    grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
    from mlmodelscope.server.rpc.messages import methods

    one = next(each for each in methods() if each.name == "Predict")
    with grpc.insecure_channel(f"127.0.0.1:{asked.rpc_port}") as channel:
        call = channel.unary_unary(one.path, one.asked.SerializeToString, one.answered.FromString)
        for model, given in (
            ("rows", {"cells": {"x": 2.5, "note": "b"}}),
            ("reader", {"text": "a cat", "text_pair": "a dog"}),
        ):
            found = call(one.asked(question={"model": {"name": model}}, input=given), timeout=300)
            assert json.loads(found.answer)["values"] == [asked.value(model, **given)]
