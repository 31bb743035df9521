"""Manifests that come from other machines: what they may name, and what a server never keeps of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from .inside import Inside

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
