"""Asking a model through a server: real agents, real workers, and nothing left behind."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from .conftest import World


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    world.serve()
    world.client()
    yield world
    world.close()
    assert "Traceback" not in world.log("server")


def picture(world: World, number: int = 0) -> bytes:
    return (world.place / "manifests" / "pictures" / f"class{number % 3}" / f"{number:04d}.png").read_bytes()


def encoded(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


def ask(world: World, token: str | None = None, **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"{world.url}/api/v1/predictions", json={"model": "toy", **body}, headers=headers, timeout=90)


def test_a_model_answers_and_stays_open(asked: World) -> None:
    first, again = (ask(asked, input=encoded(picture(asked))) for _ in range(2))
    assert first.status_code == 200, first.text
    one, two = first.json(), again.json()
    assert len(one["classes"]) == 5 and one["classes"] == two["classes"] and one["scores"] == two["scores"]
    assert not one["warm"] and one["load_ns"] and two["warm"] and two["load_ns"] is None
    names = [each["name"] for each in two["stages"]]
    assert names == ["load", "decode", "resize", "mean", "rescale", "layout", "cast", "collate", "run", "post"]
    assert all(each["duration_ns"] >= 0 for each in two["stages"])
    assert two["agent"] and two["stack"] == "current" and two["model"] == "toy"
