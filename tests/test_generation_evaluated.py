"""Models with files, several layers, a decoder or recorded answers, from their manifests to numbers."""

from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("onnx", reason="it makes the graphs")

import translator_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.prediction import predict
from mlmodelscope.record.record import Record

pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The files of docs/generation.md."""
    translator_world.write_page(tmp_path)
    return tmp_path


def evaluated(page: Path, settings: Settings, model: str, dataset: str, **options: Any) -> Record:
    asked: Any = load_manifest(page / model)
    return evaluate(asked, load_manifest(page / dataset), Options(timed_runs=2, **options), settings=settings)


def rewrite(path: Path, **changes: Any) -> None:
    data = yaml.safe_load(path.read_text())
    data["generate"].update(changes)
    path.write_text(yaml.safe_dump(data, sort_keys=False))


@pytest.mark.parametrize("changes", [{}, {"beams": 3}, {"never": [3], "longest": 4}])
def test_a_translator_of_the_page_is_evaluated(page: Path, settings: Settings, changes: dict[str, Any]) -> None:
    rewrite(page / "word-by-word.yml", **changes)
    record = evaluated(page, settings, "word-by-word.yml", "sentences.yml", batch_size=2)
    assert record.failed == 0
    if "never" in changes:
        assert record.metrics["bleu"].value < 100  # no text can be the reference without the word for a cat
    else:
        assert record.metrics["bleu"].value == pytest.approx(100)


def test_predict_asks_the_decoder_as_well(page: Path, settings: Settings) -> None:
    found = predict(load_manifest(page / "word-by-word.yml"), ["the cat sees a dog", "a dog"], settings=settings)
    assert [each.value for each in found] == ["die Katze sieht einen Hund", "einen Hund"]
    assert [stage.name for stage in found[0].stages][-4:] == ["collate", "run", "generate", "post"]


def test_one_text_feeds_three_inputs(page: Path, settings: Settings) -> None:
    record = evaluated(page, settings, "film-mood.yml", "films.yml", batch_size=3)
    assert record.failed == 0 and record.metrics["top1"].value == 1


def test_recorded_answers_of_the_page_are_scored(page: Path, settings: Settings) -> None:
    record = evaluated(page, settings, "published-prices.yml", "houses.yml")
    assert record.failed == 0 and record.metrics["mae"].value == pytest.approx(1)
