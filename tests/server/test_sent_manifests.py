"""Manifests that come from other machines: what they may name, and what a server never keeps of them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

import httpx

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import hash_file

from .inside import Inside

ROOT = Path(__file__).parents[2]
DATASET = "name: {name}\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{{url: '{url}'}}]\n"


def dataset(url: str, name: str = "mine") -> str:
    return DATASET.format(name=name, url=url)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Inside]:
    with Inside(tmp_path, require_token=True) as found:
        yield found


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hidden@host.example/a.zip#in/",
        "https://hidden@host.example/a.zip#in/",
        "https://host.example/a.zip?token=hidden#in/",
        "https://host.example/a.zip?a=1&X-Amz-Signature=hidden#in/",
        "https://host.example/a.zip?sig=hidden",
        "https://host.example/net#access_token=hidden",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(server: Inside, url: str) -> None:
    token = server.token("read", "run")
    text = dataset(url)
    asked = {"model": {"text": text}, "dataset": {"text": text}}
    answers = [
        server.ask("POST", "/api/v1/manifests", token, json={"text": text}),
        server.ask("POST", "/api/v1/requests", token, json=asked),
        server.ask("POST", "/api/v1/requests/resolve", token, json=asked),
    ]
    for answer in answers:
        assert answer.status_code == 422 and "netrc" in answer.text and "hidden" not in answer.text
        assert answer.json()["problems"][0]["line"] == 5
    written = [path for path in server.desk.settings.home.rglob("*") if path.is_file()]
    assert not [path for path in written if b"hidden" in path.read_bytes()]


def test_secrets_of_the_servers_own_catalogue_are_not_shown(
    server: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "own.yml").write_text(dataset("https://me:hidden@host.example/a.zip?token=hidden#in/", "own"))
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(folder))
    token = server.token("admin")
    for path in ("/manifests/dataset", "/manifests/dataset/own/1.0.0", "/datasets", "/datasets/own/samples"):
        answer = server.get(f"/api/v1{path}", token)
        assert "own" in answer.text and "hidden" not in answer.text, path


@pytest.mark.parametrize(
    "url",
    [
        "/etc/hostname",
        "file:///etc/",
        "local:///etc/hostname",
        "dir:///etc",
        "simplecache::https://host.example/a.zip",
        "zip://in::https://host.example/a.zip",
        "reference://x",
        "s3://bucket/a.zip",
        "pypi:private==1.0/private/",
    ],
)
@pytest.mark.parametrize("scopes", [("read", "run"), ("admin",)])
def test_only_listed_places_are_taken_from_whoever_sends_them(
    tmp_path: Path, url: str, scopes: tuple[str, ...]
) -> None:
    with Inside(tmp_path, stores=("s3://models/",), packages=("pypi:public",)) as server:
        token = server.token(*scopes)
        for text, allowed in ((dataset(url), False), (dataset("s3://models/a.zip#in/"), True)):
            sent = server.ask("POST", "/api/v1/manifests", token, json={"text": text})
            assert sent.status_code == (201 if allowed else 422), sent.text
            asked = {"model": {"text": text}, "dataset": {"text": text}}
            answer = server.ask("POST", "/api/v1/requests/resolve", token, json=asked)
            assert answer.status_code == (400 if allowed else 422)  # a dataset is no model
        assert sent.status_code == 201 or "sources[0].url" in sent.text


def test_what_an_admin_had_fetched_is_not_for_a_user_who_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset lies in the cache, and its digest is in every record of it."""
    with Inside(tmp_path) as server:
        settings = server.desk.settings
        packed = tmp_path / "packed.zip"
        with zipfile.ZipFile(packed, "w") as inside:
            inside.writestr("in/class0/a.png", b"private")
        found = ArtifactStore(settings).fetch(f"{packed}#in/")
        reference = f"https://host.example/a.zip#in/'\n    checksum: 'sha256:{found.sha256}"
        text = dataset("x").replace("{url: 'x'}", "\n  - url: 'U'\n").replace("[", "").replace("]", "")
        text = text.replace("'U'", f"'{reference}'")
        token = server.token("read", "run")
        sent = server.ask("POST", "/api/v1/manifests", token, json={"text": text})
        assert sent.status_code == 201, sent.text
        server.desk.gallery._settings = replace(settings, offline=True)  # nothing is asked of the network
        answer = server.get("/api/v1/datasets/mine/samples", token)
        assert answer.status_code == 404 and "no copy of mine" in answer.text
        folder = tmp_path / "manifests"
        folder.mkdir()
        (folder / "mine.yml").write_text(text.replace("name: mine", "name: own"))
        monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(folder))
        assert server.get("/api/v1/datasets/own/samples", token).json()["total"] == 1


SHIPPED = ROOT / "manifests" / "models" / "graphs" / "efficientnet-lite0.onnx"


def model(graph: str, sha256: str = "", name: str = "mine") -> str:
    checksum = f", graph_checksum: 'sha256:{sha256}'" if sha256 else ""
    source = f"source: {{graph_path: {graph}{checksum}}}\n"
    sides = "inputs: [{type: image, processing: {decode: {color_layout: RGB}}}]\noutputs: [{type: logits}]\n"
    return f"name: {name}\nversion: 1.0.0\ntask: classification\nframework: {{name: onnxruntime}}\n{sides}{source}"


def saved(server: Inside, text: str) -> httpx.Response:
    return server.ask("POST", "/api/v1/manifests", server.token("read", "run"), json={"text": text})


def looked_at(server: Inside, text: str) -> dict[str, Any]:
    answer = server.ask("POST", "/api/v1/manifests/check", server.token("read"), json={"text": text})
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("path", ["graphs/efficientnet-lite0.onnx", "../../anywhere/else.onnx", "/etc/passwd"])
def test_a_file_of_the_shipped_catalog_is_known_by_its_content(server: Inside, path: str) -> None:
    digest = hash_file(SHIPPED)
    text = model(path, digest)
    assert [each["here"] for each in looked_at(server, text)["files"]] == [True]
    answer = saved(server, text)
    assert answer.status_code == 201, answer.text
    assert f"graph_path: artifact:sha256:{digest}/" in answer.json()["text"] and path not in answer.json()["text"]
    kept = server.ask("GET", f"/api/v1/artifacts/{digest}", server.token("read"))
    assert kept.content == SHIPPED.read_bytes()


def test_no_other_file_of_the_server_is_known(server: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that lies there, nor one that a manifest of the operator's own folder names."""
    secret = tmp_path / "own" / "weights.onnx"
    secret.parent.mkdir()
    secret.write_bytes(b"not for everybody")
    digest = hash_file(secret)
    (secret.parent / "own.yml").write_text(model("weights.onnx", digest, "operators-own"))
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(secret.parent))
    for text in (model(str(secret), digest), model("weights.onnx", digest), model("graphs/efficientnet-lite0.onnx")):
        assert [each["here"] for each in looked_at(server, text)["files"]] == [False]
        answer = saved(server, text)
        assert answer.status_code == 422 and "is a file of your machine" in answer.text
    assert server.ask("GET", f"/api/v1/artifacts/{digest}", server.token("read")).status_code == 404


def test_a_check_tells_what_saving_would_refuse(server: Inside) -> None:
    for text, reason in (
        (model("https://example.org/net.onnx"), "an address for examples"),
        (model("ftp://host.example.de/net.onnx"), "`ftp:` is not fetched"),
        (model("https://host.example.de/net.onnx?token=hidden"), "an address holds a password"),
    ):
        found = looked_at(server, text)
        assert reason in found["refused"][0]["message"] and not found["problems"]
        assert saved(server, text).status_code == 422
    assert looked_at(server, model("https://host.example.de/net.onnx"))["refused"] == []


def test_a_file_that_was_uploaded_is_known_by_its_content(server: Inside) -> None:
    content = b"a model of my own"
    digest = hashlib.sha256(content).hexdigest()
    text = model("my folder/net.onnx", digest)
    assert saved(server, text).status_code == 422
    token = server.token("read", "run")
    server.ask("POST", "/api/v1/artifacts", token, json={"sha256": digest, "size": len(content), "name": "net.onnx"})
    server.ask("PATCH", f"/api/v1/artifacts/{digest}", token, content=content)
    answer = saved(server, text)
    assert answer.status_code == 201 and f"artifact:sha256:{digest}/net.onnx" in answer.json()["text"]


def reader(url: str, sha256: str = "") -> str:
    """A model whose graph is anybody's, and whose steps and decoder need further files."""
    checksum = f", checksum: 'sha256:{sha256}'" if sha256 else ""
    return (
        "name: reader\nversion: 1.0.0\ntask: translation\nframework: {name: onnxruntime}\n"
        f"files:\n  words: {{url: {url}{checksum}}}\n"
        "inputs: [{type: text, element_type: int64, processing: {tokenize: {file: words, library: wordpiece}}}]\n"
        "outputs: [{type: tensor}]\nanswer: [{detokenize: {file: words, library: wordpiece}}]\n"
        "generate: {graph: words, feeds: {a: tokens}, start: [0]}\n"
        "source: {graph_path: 'https://host.example.de/net.onnx'}\n"
    )


@pytest.mark.parametrize("url", ["/etc/passwd", "words.txt", "../../secret.txt", "file:///etc/passwd"])
def test_a_file_of_steps_is_guarded_as_a_graph_is(server: Inside, url: str) -> None:
    answer = saved(server, reader(url))
    assert answer.status_code == 422 and answer.json()["problems"][0]["line"] == 6, answer.text
    assert "root:" not in answer.text
    asked = {"model": {"text": reader(url)}, "dataset": {"text": dataset("https://host.example.de/a.zip#in/")}}
    answer = server.ask("POST", "/api/v1/requests", server.token("read", "run"), json=asked)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.org/words.txt", "an address for examples"),
        ("ftp://host.example.de/words.txt", "`ftp:` is not fetched"),
        ("https://me:hidden@host.example.de/words.txt", "an address holds a password"),
    ],
)
def test_an_address_of_a_file_of_steps_is_looked_at_too(server: Inside, url: str, reason: str) -> None:
    assert reason in looked_at(server, reader(url))["refused"][0]["message"]
    assert saved(server, reader(url)).status_code == 422


def test_a_file_of_steps_is_known_by_its_content(server: Inside) -> None:
    digest = hash_file(SHIPPED)
    answer = saved(server, reader("words.txt", digest))
    assert answer.status_code == 201 and f"url: artifact:sha256:{digest}/" in answer.json()["text"], answer.text
