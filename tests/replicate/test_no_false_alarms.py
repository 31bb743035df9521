"""Verdicts are rarely wrong about claims that are true, and see claims that are false by a point.

Thousands of studies are drawn by chance, each time with the same seed; then real manifests that are right are judged.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acceptance import planted, planted_data
from mlmodelscope import Settings
from mlmodelscope.errors import ArtifactError, StackError
from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.replication import replicate
from mlmodelscope.replicate.verdict import judge
from mlmodelscope.statistic.population import share_interval

STUDIES = 20_000
SAMPLES = (100, 300, 1_000, 5_000, 10_000, 50_000)
SHARES = (0.1234, 0.5, 0.56342, 0.75149, 0.91735, 0.9891)
WHOLE = 50_000
"""Samples of ImageNet's validation set."""


def share_rejected(claim: Claim, rights: np.ndarray, samples: int, population: int | None = None) -> float:
    """Share of studies, given by how many answers were right in each, whose verdict is `not reproduced`."""
    rejected = 0
    for right, studies in zip(*np.unique(rights, return_counts=True), strict=True):
        measured = share_interval(int(right), samples, population)
        rejected += studies * (judge(claim, measured, samples, population=population).kind == "not reproduced")
    return float(rejected / len(rights))


def published(share: float, digits: int) -> Claim:
    return Claim("top1", f"{100 * share:.{digits}f}")


every_kind_of_study = pytest.mark.parametrize(
    ("share", "samples", "digits"),
    [(share, samples, digits) for share in SHARES for samples in SAMPLES for digits in (1, 2)],
)


@every_kind_of_study
def test_a_true_claim_is_rarely_rejected(share: float, samples: int, digits: int) -> None:
    rights = np.random.default_rng(1).binomial(samples, share, STUDIES)
    assert share_rejected(published(share, digits), rights, samples) <= 0.05


@every_kind_of_study
def test_a_true_claim_of_a_known_dataset_is_rarely_rejected_on_a_part_of_it(
    share: float, samples: int, digits: int
) -> None:
    right = round(share * WHOLE)
    rights = np.random.default_rng(2).hypergeometric(right, WHOLE - right, samples, STUDIES)
    rejected = share_rejected(published(right / WHOLE, digits), rights, samples, WHOLE)
    assert rejected <= 0.05 if samples < WHOLE else rejected == 0


@pytest.mark.parametrize("rounding", ["down", "up"])
def test_a_true_claim_that_was_rounded_in_one_direction_is_rarely_rejected(rounding: str) -> None:
    share, samples = 0.75149, 10_000
    text = {"down": "75.1", "up": "75.2"}[rounding]
    rights = np.random.default_rng(3).binomial(samples, share, STUDIES)
    assert share_rejected(Claim("top1", text, rounding=rounding), rights, samples) <= 0.05


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("digits", [1, 2])
def test_a_gap_of_a_point_is_seen_on_fifty_thousand_samples(share: float, digits: int) -> None:
    rights = np.random.default_rng(4).binomial(WHOLE, share - 0.01, STUDIES)
    assert share_rejected(published(share, digits), rights, WHOLE) >= 0.95


@pytest.mark.parametrize("share", SHARES)
def test_a_gap_of_a_point_is_always_seen_on_the_whole_dataset(share: float) -> None:
    rights = np.array([round((share - 0.01) * WHOLE)])
    assert share_rejected(published(share, 2), rights, WHOLE, WHOLE) == 1


@pytest.fixture
def settings(settings: Settings, fetched: Path) -> Settings:
    return replace(settings, cache=fetched, mirrors=(planted_data.SHARED / "models",))


OFTEN = ("lite0", "lite0, decoded by OpenCV")
"""Those that every run judges; the others are written otherwise, and judged nightly."""


def right_manifests() -> Iterator[object]:
    """Those that the product ships or fetches, and those that need the development data folder."""
    for name, right in planted.read_right().items():
        marks = [pytest.mark.shared] if right.bed.needs_shared else []
        yield pytest.param(name, marks=marks if name in OFTEN else [*marks, pytest.mark.nightly], id=name)


def test_there_are_forty_right_manifests_some_of_them_of_quantized_models() -> None:
    found = planted.read_right()
    assert len(found) >= 40 and sum("int8" in right.bed.manifest for right in found.values()) >= 8


@pytest.mark.parametrize("name", list(right_manifests()))
def test_a_right_manifest_is_never_called_wrong(name: str, settings: Settings) -> None:
    right = planted.read_right()[name]
    bed = right.bed
    if bed.needs_shared and not planted_data.SHARED.is_dir():
        pytest.skip("the development data folder is not here")
    try:
        dataset = planted_data.find(bed.dataset, settings)
        if right.like is not None:
            claim = planted.Ground(settings).claim(right.like)
        else:
            claim = Claim("top1", right.number or "", right.of or dataset.name)
        manifest, options = bed.manifest_with(), bed.options(bed.limit)
        done = replicate(manifest, dataset, options, claim=claim, explain=False, settings=settings)
    except (ArtifactError, StackError) as error:
        pytest.skip(f"it cannot be fetched or built here: {error.message}")
    assert done.record.failed == 0
    assert done.verdict.kind != "not reproduced", done.verdict
    if bed.limit is None:  # on the whole dataset nothing is left to chance
        assert done.verdict.kind == "reproduced"
