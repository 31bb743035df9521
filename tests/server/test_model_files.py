"""How large a model is and what it is made of, where the server has its file; nothing of the file runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.client.client import Client
from model_file import small_models as small
from small_world import MODEL

from .conftest import World

GRAPH = Path(__file__).parents[1] / "model_file" / "files" / "onnx_softmax.onnx"
ONNX = MODEL.replace("framework: {name: fake}", "framework: {name: onnxruntime}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    shutil.copyfile(GRAPH, found.place / "manifests" / "net.onnx")
    found.add_model("net", ONNX.replace("toy.json", "net.onnx"))
    try:
        found.host(executor="none")
        yield found
        assert "Traceback" not in found.log("server") and "an error of our own" not in found.log("server")
    finally:
        found.close()


def get(world: World, path: str, **query: Any) -> Any:
    return world.http.get(f"/models/{path}", params=query)


def put(world: World, name: str, content: bytes, file: str = "net.onnx") -> None:
    """A model of a stranger, whose file is uploaded."""
    path = world.place / file
    path.write_bytes(content)
    with Client(world.url) as client:
        reference = client.upload(path)
    text = ONNX.replace("name: toy", f"name: {name}").replace("toy.json", f"'{reference}'")
    assert world.http.post("/manifests", json={"text": text}).status_code == 201


def test_a_model_on_the_server_has_layers_and_parameters(world: World) -> None:
    found = get(world, "net/network").json()
    assert (found["model"], found["version"], found["format"]) == ("net", "1.0.0", "onnx")
    assert "Softmax" in {each["kind"] for each in found["layers"]} and found["more_layers"] == 0
    facts = get(world, "net/facts", version="1.0.0").json()
    assert facts["source"] == "file" and facts["has_network"] and facts["parameters"] == found["parameters"] > 0
    assert facts["size_bytes"] == GRAPH.stat().st_size
    assert get(world, "net/facts", version="7.0.0").status_code in (400, 404, 422)
    assert get(world, "nothing/network").status_code == 404


def test_what_is_not_here_is_unknown_and_says_why(world: World) -> None:
    world.add_model("away", ONNX.replace("toy.json", "https://models.example.net/away.onnx"))
    refused = get(world, "away/network")
    assert refused.status_code == 404 and refused.json()["title"] == "NoNetwork"
    assert "is not on this server" in refused.json()["detail"] and "fetches it" in refused.json()["hint"]
    facts = get(world, "away/facts").json()
    assert facts["parameters"] is None and facts["source"] is None and not facts["has_network"]
    assert "not on this server" in facts["reason"]


def test_the_catalog_knows_a_model_that_a_library_builds(world: World) -> None:
    source = "{builder: timm, architecture: resnet18.a1_in1k, weights_path: 'https://models.example.net/w.pth'}"
    text = MODEL.replace("{graph_path: toy.json}", source).replace("{name: fake}", "{name: pytorch}")
    world.add_model("built", text)
    facts = get(world, "built/facts").json()
    assert facts["source"] == "catalog" and facts["parameters"] == 11_690_000


def test_a_model_without_a_file_has_none(world: World) -> None:
    text = MODEL.replace("source: {graph_path: toy.json}\n", "remote: {url: 'http://127.0.0.1:1'}\n")
    world.add_model("served", text.replace("{name: fake}", "{name: remote}"))
    assert "names no file" in get(world, "served/network").json()["detail"]


def test_hostile_files_are_refused_by_the_confined_process(world: World) -> None:
    """Cut off, damaged, nothing, a pickle, external data that climbs: a problem in words, and the server goes on."""
    data = GRAPH.read_bytes()
    files = {
        "cut": data[: len(data) // 2],
        "noise": bytes(range(256)) * 40,
        "pickle": b"\x80\x04cos\nsystem\n.",
        "deep": b"\x3a\x7f" * 50_000,
        "web": b"<!doctype html><script>alert(1)</script>",
    }
    for name, content in files.items():
        put(world, name, content)
        found = get(world, f"{name}/network")
        assert found.status_code == 404, (name, found.text[:300])
        assert str(world.place) not in found.text and "/tmp" not in found.text
        facts = get(world, f"{name}/facts").json()
        assert facts["parameters"] is None and facts["reason"] and str(world.place) not in facts["reason"]
    assert get(world, "net/network").status_code == 200


def test_a_strangers_model_file_is_read_as_far_as_it_is_whole(world: World) -> None:
    put(world, "stranger", GRAPH.read_bytes())
    assert get(world, "stranger/network").json()["layers"] == get(world, "net/network").json()["layers"]
    put(world, "tensors", small.safetensors(), "w.safetensors")
    found = get(world, "tensors/network").json()
    assert found["layers"] and all(each["kind"] is None for each in found["layers"])
