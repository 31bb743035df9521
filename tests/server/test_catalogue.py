"""The catalogue over the API: manifests checked, converted and begun, and what there is to choose from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from manifest.dialect.test_v1 import V1
from mlmodelscope.client.client import Client
from mlmodelscope.errors import ManifestError, UsageError
from small_world import MODEL

from .conftest import World

GRAPH = Path(__file__).parent.parent / "model_file" / "files" / "onnx_softmax.onnx"


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    return lasting_world.client()


def text_of(version: str, name: str = "mine", **more: str) -> str:
    kept = MODEL.replace("name: toy", f"name: {name}").replace("1.0.0", version)
    kept = kept.replace("graph_path: toy.json", "graph_path: 'https://x.example/toy.json'")
    return kept + "".join(f"{key}: {value}\n" for key, value in more.items())


def test_a_manifest_is_checked_with_line_and_column(client: Client) -> None:
    found = client.post("/manifests/check", {"text": text_of("1.0.0").replace("resize:", "resise:")})
    (problem,) = found["problems"]
    assert (problem["line"], problem["hint"]) == (9, "did you mean `resize`?") and problem["column"] > 0
    assert found["kind"] == "model" and found["findings"][0]["severity"] == "error" and found["text"] is None
    fixed = client.post("/manifests/check", {"text": text_of("1.0.0").replace("resize:", "resise:"), "fix": True})
    assert fixed["problems"] == [] and "resize:" in fixed["text"] and fixed["mended"][0]["line"] == 9
    broken = client.post("/manifests/check", {"text": "a: [b"})
    assert broken["problems"] and broken["kind"] is None


def test_no_file_of_the_server_is_looked_at(client: Client, lasting_world: World) -> None:
    secret = lasting_world.place / "manifests" / "toy.json"
    texts = [text_of("1.0.0").replace("https://x.example/toy.json", each) for each in (str(secret), f"{secret}-not")]
    there, missing = (client.post("/manifests/check", {"text": text, "verbose": True}) for text in texts)
    assert [each["code"] for each in there["findings"]] == [each["code"] for each in missing["findings"]]


def test_an_old_manifest_becomes_one_of_today_with_its_comments(client: Client) -> None:
    found = client.post("/manifests/convert", {"text": f"# what it is\n{V1}"})
    assert (found["kind"], found["dialect"]) == ("model", "v1")
    assert "# what it is" in found["text"] and "resize:" in found["text"]
    again = client.post("/manifests/convert", {"text": found["text"]})
    assert (again["dialect"], again["text"]) == ("today", found["text"])
    with pytest.raises(ManifestError, match="resise"):
        client.post("/manifests/convert", {"text": text_of("1.0.0").replace("resize:", "resise:")})


def test_a_manifest_begins_with_a_model_file(client: Client, lasting_world: World) -> None:
    data = GRAPH.read_bytes()
    url, http = "/manifests/init", lasting_world.http
    begun = http.post(url, params={"file": "digits.onnx", "name": "digits"}, content=data).json()
    assert "graph_path: digits.onnx" in begun["manifest"] and "name: digits" in begun["manifest"]
    assert hashlib.sha256(data).hexdigest() in begun["manifest"] and begun["questions"]
    assert client.post("/manifests/check", {"text": begun["manifest"]})["problems"] == []
    pickle = http.post(url, params={"file": "model.pt"}, content=b"\x80\x04cos\nsystem\n.")
    assert pickle.status_code == 400 and "model.pt" in pickle.json()["detail"]
    assert str(lasting_world.place) not in pickle.text
    for wrong in ({"file": "../x.onnx"}, {"file": "config.json"}, {"file": "x.onnx", "labels": "/etc/passwd"}):
        assert http.post(url, params=wrong, content=data).status_code == 400
    assert http.post(url, params={"file": "x.onnx", "artifact": "0" * 64}).status_code == 404


def test_the_schema_of_each_kind(client: Client) -> None:
    for kind in ("model", "dataset", "software", "hardware", "log"):
        assert client.get(f"/manifests/{kind}/schema")["type"] == "object"


def test_versions_of_a_name(client: Client) -> None:
    for version in ("1.0.0", "1.10.0", "1.9.0"):
        client.put_manifest(text_of(version, "versioned"))
    found = client.get("/manifests/model/versioned")["items"]
    assert [each["version"] for each in found] == ["1.10.0", "1.9.0", "1.0.0"] and not found[0]["shipped"]
    assert [each["shipped"] for each in client.get("/manifests/model/toy")["items"]] == [True]
    with pytest.raises(UsageError, match="there is no model"):
        client.get("/manifests/model/nothing")


def names(page: dict[str, Any]) -> list[str]:
    return [each["name"] for each in page["items"]]


def test_models_are_searched_and_narrowed_down(client: Client) -> None:
    for version in ("1.9.0", "2.0.0"):
        client.put_manifest(text_of(version, description="Sees cats.", license="MIT"))
    everything = client.get("/models")
    assert {"toy", "mine", "resnet20-cifar10"} <= set(names(everything)) and everything["total"] == len(
        everything["items"]
    )
    (mine,) = client.get("/models", {"q": "CATS sees"})["items"]
    assert (mine["name"], mine["version"], mine["versions"][0]) == ("mine", "2.0.0", "2.0.0")
    assert (mine["owner"], mine["verdict"], mine["license"]) == ("local", "no claim", "MIT")
    fake = client.get("/models", {"framework": "fake"})
    assert {"mine", "toy"} <= set(names(fake)) and "resnet20-cifar10" not in names(fake)
    assert fake["facets"]["framework"] == everything["facets"]["framework"]
    assert fake["facets"]["license"] == {"MIT": 1, "unspecified": len(fake["items"]) - 1}
    assert names(client.get("/models", {"verdict": "not checked", "q": "resnet20"})) == ["resnet20-cifar10"]
    first = client.get("/models", {"limit": 1})
    assert first["next"] == 1 and names(client.get("/models", {"start": 1, "limit": 1})) == names(everything)[1:2]
    newest = names(client.get("/models", {"sort": "newest"}))
    assert newest.index("mine") < newest.index("toy")


def test_a_page_that_is_as_it_was_is_not_sent_again(client: Client, lasting_world: World) -> None:
    http = lasting_world.http
    tag = http.get("/models").headers["etag"]
    assert http.get("/models", headers={"If-None-Match": tag}).status_code == 304
    client.ask({"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}})[0].wait()
    changed = http.get("/models", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert {each["name"]: each["evaluations"] for each in changed.json()["items"]}["toy"] == 1


def test_datasets_have_facets_too(client: Client) -> None:
    page = client.get("/datasets", {"format": "folder", "q": "pictures"})
    assert "pictures" in names(page) and page["facets"]["format"]["folder"] == len(names(page))


def test_metrics_with_their_units(client: Client) -> None:
    known = {each["name"]: each for each in client.metrics()}
    assert (known["psnr"]["unit"], known["ssim"]["unit"], known["miou"]["unit"]) == ("dB", "number", "share")
    assert known["hamming-loss"]["better"] == "lower" and "mean-iou" in known["miou"]["aliases"]
    assert all(each["title"] and each["about"] and each["tasks"] for each in known.values())


def test_metrics_of_a_task_begin_with_its_headline(client: Client) -> None:
    found = [each["name"] for each in client.metrics(task="image_enhancement")]
    assert found == ["psnr", "ssim"]
    assert [each["name"] for each in client.metrics(task="semantic_segmentation")][0] == "miou"
    assert client.metrics(task="gardening") == []


def test_a_claim_has_the_unit_that_it_was_published_in(client: Client) -> None:
    claims = [
        {"metric": "psnr", "value": "37.65", "unit": "dB"},
        {"metric": "miou", "value": "0.751", "unit": "share"},
        {"metric": "miou", "value": "75.1"},
        {"metric": "mood", "value": "3"},
    ]
    client.put_manifest(text_of("1.0.0", "claimant", claims=claims))
    found = [(each["title"], each["value"], each["unit"]) for each in client.claims(model="claimant")]
    assert found == [
        ("PSNR", "37.65", "dB"),
        ("mean IoU", "0.751", "number"),
        ("mean IoU", "75.1", "share"),
        ("mood", "3", "number"),
    ]


def test_who_has_which_framework_stack_and_machine(client: Client) -> None:
    (agent,) = (each["id"] for each in client.agents())
    (fake,) = client.get("/frameworks", {"name": "fake"})["items"]
    assert (fake["built"], fake["stacks"]) == ([agent], ["current"])
    assert client.get("/frameworks", {"name": "tensorflow", "version": ">=1.10.x and <=1.13.x"})["items"] != []
    assert client.get("/frameworks", {"name": "tensorflow", "version": ">99"})["items"] == []
    stacks = {each["name"]: each for each in client.get("/stacks")["items"]}
    assert stacks["current"]["built"] == [agent] and stacks["tensorflow-1.15"]["framework"] == "tensorflow"
    assert [each["name"] for each in client.get("/stacks", {"q": "tensorflow 1.15"})["items"]] == ["tensorflow-1.15"]
    (machine,) = client.get("/machines")["items"]
    assert machine["agent"] == agent and machine["cores"] >= 1
    assert client.post("/manifests/check", {"text": machine["manifest"]})["kind"] == "hardware"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("graph_path: 'https://x.example/toy.json'", "graph_path: 'https://example.org/model.onnx'"),
        (
            "graph_path: 'https://x.example/toy.json'",
            f"graph_path: 'https://a.b/c', graph_checksum: 'sha256:{'0' * 64}'",
        ),
    ],
)
def test_a_manifest_with_a_placeholder_is_not_shared(client: Client, key: str, value: str) -> None:
    text = text_of("1.0.0", "unwritten").replace(key, value)
    assert value in text
    with pytest.raises(ManifestError, match="is an address for examples|stands in place of a checksum"):
        client.post("/manifests", {"text": text})
    assert client.manifests("model", "unwritten") == []


def test_a_model_that_is_not_here_is_told_with_those_that_are(client: Client) -> None:
    client.post("/manifests", {"text": text_of("1.0.0", "kept-here")})
    with pytest.raises(UsageError, match="known: .*kept-here") as caught:
        client.ask({"model": "quite-another", "dataset": "pictures"})
    assert caught.value.hint == "save its manifest here first, or send its text: `model: {text: …}`"
    with pytest.raises(UsageError) as caught:
        client.ask({"model": "kept-her", "dataset": "pictures"})
    assert caught.value.hint == "did you mean `kept-here`?"


def test_a_record_has_the_manifests_that_it_was_made_from(client: Client, lasting_world: World) -> None:
    lasting_world.evaluate("toy")
    found = {each["kind"]: each for each in client.get("/records/latest/manifests")["items"]}
    assert found["model"]["name"] == "toy" and "resize:" in found["model"]["text"] and "dataset" in found


def test_models_of_sources_are_searched_a_page_at_a_time(client: Client) -> None:
    first = client.get("/described-models", {"q": "resnet50", "task": "classification", "limit": 3})
    assert len(first["items"]) == 3 and first["total"] > 50 and first["next"] == 3
    second = client.get("/described-models", {"q": "resnet50", "task": "classification", "limit": 3, "start": 3})
    assert not {each["reference"] for each in first["items"]} & {each["reference"] for each in second["items"]}
    assert {"timm", "torchvision", "keras"} <= {each["label"] for each in first["sources"]}


def test_words_of_a_search_cannot_break_it(client: Client) -> None:
    for words in (chr(34), "a OR", "NEAR(", "*", "%"):
        assert client.get("/described-models", {"q": words})["total"] >= 0
