"""Real datasets of text, sound and tables, opened by manifests alone (../shared/TASK_DATA.md)."""

import os
from collections import Counter
from pathlib import Path

import pytest

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared")
TASKS = SHARED / "tasks"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TASKS.is_dir(), reason="the development data folder is not here"),
]


def opened(settings: Settings, text: str) -> Dataset:
    found = parse_manifest(f"name: d\nversion: 1.0.0\n{text}".replace("TASKS", str(TASKS)))
    assert isinstance(found, DatasetManifest)
    store = ArtifactStore(settings)
    return open_dataset(plan_dataset(found, Options(), pin(found, store)), store)


def test_the_pairs_of_stsb(settings: Settings) -> None:
    found = opened(
        settings,
        "task: text_similarity\nformat: table\nheader: false\ncolumns: {text: 0, text_pair: 1, target: 2}\n"
        "sources: [{url: TASKS/sts/stsb-en-test.csv}]\nsize: 1379\n",
    )
    assert found.samples[0].target == {"values": [2.5]}
    assert all(0 <= each.target["values"][0] <= 5 for each in found.samples)


def test_the_features_of_keyword_spotting(settings: Settings) -> None:
    found = opened(
        settings,
        "task: audio_classification\nformat: raw\nheader: false\ncolumns: {file: 0, target: 2}\ninclude: '*.bin'\n"
        "shape: [49, 10, 1]\nelement_type: int8\nsize: 1000\n"
        "sources: [{url: 'TASKS/kws/kws01.zip#kws01/', labels_url: 'TASKS/kws/kws01.zip#kws01/y_labels.csv'}]\n",
    )
    classes = Counter(each.target for each in found.samples)
    assert [classes[number] for number in range(12)] == [92, 92, 81, 89, 70, 84, 75, 78, 84, 89, 80, 86]


def test_the_utterances_of_librivox(settings: Settings) -> None:
    found = opened(settings, "task: speech_recognition\nformat: audio\nsources: [{url: TASKS/asr/librivox}]\nsize: 5\n")
    assert sum(len(each.target["texts"][0].split()) for each in found.samples) == 71


@pytest.mark.parametrize(
    ("split", "documents", "spans"),
    [
        ("", 254, {"PER": 2094, "LOC": 2305, "ORG": 2187}),
        ("split: testset", 132, {"PER": 1361, "LOC": 1297, "ORG": 1577}),
    ],
)
def test_the_spans_of_factrueval(settings: Settings, split: str, documents: int, spans: dict[str, int]) -> None:
    """With these spans and razdel's tokens, slovnet has the token F1 that its authors publish, to all six digits."""
    found = opened(
        settings,
        "task: token_classification\nformat: factrueval\n"
        f"sources: [{{url: 'TASKS/ner/factrueval2016.tar.gz#factrueval2016/'}}]\n{split}\n",
    )
    assert len(found.samples) == documents
    assert Counter(each[2] for sample in found.samples for each in sample.target["spans"]) == spans


def test_the_clips_of_four_machines(settings: Settings) -> None:
    sources = "".join(
        f"  - {{name: '0{number}', url: TASKS/anomaly/anomaly_score_ToyCar_id_0{number}.csv}}\n"
        for number in range(1, 5)
    )
    found = opened(
        settings,
        "task: anomaly_detection\nformat: table\nheader: false\ncolumns: {id: 0, features: [1]}\n"
        f"labels: {{pattern: '^(anomaly|normal)'}}\nsize: 2459\nsources:\n{sources}",
    )
    anomalies = Counter(each.target["group"] for each in found.samples if each.target["anomaly"])
    assert anomalies == {"01": 264, "02": 265, "03": 265, "04": 265}
