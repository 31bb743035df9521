"""Texts, sounds and scores to the digit that is known, by manifests alone (../shared/TASK_DATA.md)."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mlmodelscope import Options, Settings, load_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.provision.stack.choose import missing_stack
from mlmodelscope.replicate.replication import replicate

from .numbers import evaluated

HERE = Path(__file__).parent
MANIFESTS = HERE / "manifests"
SHIPPED = HERE.parents[1] / "manifests"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or HERE.parents[2] / "shared")
TASKS = SHARED / "tasks"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TASKS.is_dir(), reason="the development data folder is not here"),
    pytest.mark.usefixtures("few_calls"),
]


def read(name: str, **places: Path) -> ModelManifest | DatasetManifest:
    """A manifest beside this file, with its files where they lie here."""
    text = (MANIFESTS / f"{name}.yml").read_text(encoding="utf-8").replace("../../../../shared", str(SHARED))
    for key, path in places.items():
        text = text.replace(f"{{{key}}}", str(path))
    found = parse_document(text, name, MANIFESTS).manifest()
    assert isinstance(found, ModelManifest | DatasetManifest) and not found.functions
    return found


def model_of(name: str, **places: Path) -> ModelManifest:
    found = read(name, **places)
    assert isinstance(found, ModelManifest)
    return found


def dataset_of(name: str) -> DatasetManifest:
    found = read(name)
    assert isinstance(found, DatasetManifest)
    return found


@pytest.mark.slow(reason="2,758 sentences through six layers")
@pytest.mark.parametrize(
    ("model", "spearman", "pearson"),
    [("all-minilm-l6-v2", 0.820325, 0.827406), ("all-minilm-l6-v2-int8", 0.819894, 0.826974)],
)
def test_the_similarity_of_sentences(model: str, spearman: float, pearson: float, settings: Settings) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    settings = replace(settings, mirrors=(*settings.mirrors, TASKS / "sts"))
    places = SHIPPED / "models" / f"{model}.yml", SHIPPED / "datasets" / "stsb-en-test.yml"
    record = evaluated(*places, settings, 32)
    found = {name: round(record.metrics[name].value, 6) for name in ("spearman", "pearson")}
    assert found == {"spearman": spearman, "pearson": pearson}


@pytest.mark.slow(reason="2,758 sentences through six layers, in a stack with PyTorch")
def test_the_similarity_of_sentences_by_a_model_that_transformers_builds(settings: Settings) -> None:
    """In the stack that this user has; none is built for it, which would take 5 GB."""
    settings = replace(settings, cache=Settings.from_environment().cache, mirrors=(TASKS / "sts",))
    place = HERE.parents[1] / "docs" / "examples" / "all-minilm-l6-v2-transformers.yml"
    model = load_manifest(place)
    assert isinstance(model, ModelManifest)
    lacking = missing_stack(model, None, settings)
    if lacking is not None:
        pytest.skip(lacking)
    record = evaluated(place, SHIPPED / "datasets" / "stsb-en-test.yml", settings, 32)
    assert record.metrics["spearman"].value == pytest.approx(0.820325, abs=1e-6)


@pytest.mark.parametrize(("model", "right"), [("kws-int8", 902), ("kws-float32", 900)])
def test_keyword_spotting(model: str, right: int, settings: Settings) -> None:
    record = evaluated(model_of(model), dataset_of("kws01"), settings, 1)
    assert record.metrics["top1"].value == right / 1000


@pytest.mark.parametrize(
    ("kind", "auc", "pauc"),
    [
        ("anomaly_score", 0.864397431185167, 0.7468649647274275),
        ("tflite_quant_fullint_anomaly_score", 0.8415191640120886, 0.7218264894655162),
    ],
)
def test_recorded_scores_of_four_machines(
    kind: str, auc: float, pauc: float, tmp_path: Path, settings: Settings
) -> None:
    """All digits that the authors printed."""
    (tmp_path / "scores").mkdir()
    for path in (TASKS / "anomaly").glob(f"{kind}_ToyCar_id_0*.csv"):
        shutil.copy(path, tmp_path / "scores")
    record = evaluated(model_of("toycar-scores", scores=tmp_path / "scores"), dataset_of("toycar"), settings, 100)
    found = [record.metrics[name].value for name in ("anomaly-auc", "anomaly-pauc")]
    assert found == pytest.approx([auc, pauc], abs=1e-14)


def moonshine(**measure: object) -> ModelManifest:
    found = load_manifest(SHIPPED / "models" / "moonshine-tiny-en.yml")
    assert isinstance(found, ModelManifest)
    return found.model_copy(update={"measure": {**found.measure, **measure}})


@pytest.mark.parametrize(("measure", "wer"), [({}, 0.028169), ({"normalization": []}, 0.295775)])
def test_words_of_five_utterances(measure: dict[str, object], wer: float, settings: Settings) -> None:
    """A decoder that is asked token by token, as the manifest declares it."""
    record = evaluated(moonshine(**measure), dataset_of("librivox-5"), settings, 1)
    assert round(record.metrics["wer"].value, 6) == wer
    if not measure:
        assert round(record.metrics["cer"].value, 6) == 0.010989


def test_a_missing_normalization_of_words_is_named(settings: Settings) -> None:
    dataset = dataset_of("librivox-5")
    evaluated(moonshine(normalization=[]), dataset, settings, 1)  # or skipped, where the model is not to be had
    done = replicate(moonshine(normalization=[]), dataset, claim=parse_claim("wer=2.82@librivox-5"), settings=settings)
    assert done.verdict.kind == "not reproduced" and done.found is not None
    assert done.found.candidates[0].variant.pitfalls == ("text-normalization",)


@pytest.mark.nightly
@pytest.mark.slow(reason="many searches over 2,758 sentences")
@pytest.mark.parametrize(
    ("plant", "cause"),
    [({"pool": "first"}, "pooling"), ({"pool": "max"}, "pooling"), ({"pool": "mean_all"}, "pooling")],
)
def test_a_fault_in_a_model_of_sentences_is_named(plant: dict[str, str], cause: str, settings: Settings) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    settings = replace(settings, mirrors=(*settings.mirrors, TASKS / "sts"))
    found = load_manifest(SHIPPED / "models" / "all-minilm-l6-v2-int8.yml")
    assert isinstance(found, ModelManifest)
    answer = tuple(
        each.model_copy(update={"parameters": {"method": plant["pool"]}}) if each.name == "pool" else each
        for each in found.answer
    )
    done = replicate(
        found.model_copy(update={"answer": answer}),
        SHIPPED / "datasets" / "stsb-en-test.yml",
        Options(batch_size=32),
        claim=parse_claim("spearman=81.99@stsb-en-test"),
        settings=settings,
    )
    assert done.found is not None and done.found.candidates[0].variant.pitfalls == (cause,)
