"""Models and datasets that cannot belong together are refused before anything is queued."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.server.confined_classes import known_classes
from mlmodelscope.server.confined_work import spelled_settings
from mlmodelscope.settings import Settings

from .inside import Inside

ROOT = Path(__file__).parents[2]
NOTHING = (None, None)
MODEL = (ROOT / "manifests/models/efficientnet-lite0.yml").read_text()
DATASET = (ROOT / "manifests/datasets/mnist-test.yml").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    with Inside(tmp_path_factory.mktemp("pairing")) as found:
        yield found


@pytest.mark.parametrize("route", ["requests/resolve", "requests"])
@pytest.mark.parametrize("model", ["efficientnet-lite0", {"text": MODEL.replace("efficientnet-lite0", "mine", 1)}])
def test_a_thousand_classes_are_not_asked_about_ten(server: Inside, route: str, model: object) -> None:
    asked = {"model": model, "dataset": "mnist-test", "wait_for_agent": True}
    answer = server.ask("POST", f"/api/v1/{route}", json=asked)
    assert answer.status_code == 409
    assert "has 1000 outputs, mnist-test has 10 classes: these cannot be the same classes" in answer.json()["detail"]
    assert "mlmodelscope datasets" in answer.json()["hint"]
    assert server.ask("GET", "/api/v1/evaluations").json()["items"] == []


def test_what_may_belong_together_is_accepted(server: Inside) -> None:
    for dataset in ("imagenet-70", "imagenet-val"):
        answer = server.ask(
            "POST", "/api/v1/requests/resolve", json={"model": "efficientnet-lite0", "dataset": dataset}
        )
        assert answer.status_code == 200, answer.text


def test_a_list_of_classes_that_is_here_is_compared_without_a_model_file(tmp_path: Path) -> None:
    found = _known(tmp_path, names="\n".join(f"thing {number}" for number in range(30)))
    assert (found["outputs"], len(found["names"]), found["classes"]) == (None, 30, [])


@pytest.mark.parametrize(
    "content", ["", "[1, 2", '{"0": "a", "7": "b"}', "[[]]", "[" * 9000, "x\n" * 100_001], ids=range(6)
)
def test_a_list_that_is_damaged_or_huge_tells_nothing(tmp_path: Path, content: str) -> None:
    assert _known(tmp_path, names=content)["names"] == []


@pytest.mark.parametrize("content", ["", "{}", "\x08\x01" * 400], ids=range(3))
def test_a_model_file_that_is_damaged_tells_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "net.onnx"
    path.write_text(content)
    assert known_classes(NOTHING, NOTHING, (str(path), None), "logits", _settings(tmp_path))["outputs"] is None


def test_a_file_that_is_not_here_is_not_fetched(tmp_path: Path) -> None:
    elsewhere = ("https://example.org/classes.txt", "sha256:" + "0" * 64)
    found = known_classes(elsewhere, elsewhere, elsewhere, None, _settings(tmp_path))
    assert found == {"outputs": None, "names": [], "classes": []}


def _known(place: Path, names: str) -> dict[str, object]:
    path = place / "names.txt"
    path.write_text(names)
    return known_classes((str(path), None), NOTHING, NOTHING, None, _settings(place))


def _settings(place: Path) -> dict[str, object]:
    return spelled_settings(Settings.from_environment({"MLMODELSCOPE_HOME": str(place)}))
