"""Areas under ROC curves are those of scikit-learn, and those that MLPerf Tiny published for its logged scores."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mlmodelscope.measure.anomaly import MEASURES, RULE
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.task.quality import quality_of

LOGGED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared") / "tasks" / "anomaly"


def scored(truth: Sequence[int], values: Sequence[float], groups: Sequence[str] = (), **options: Any) -> list[bytes]:
    return [
        RULE.score(
            {"values": np.array([value])}, {}, {"anomaly": int(own), "group": groups[at] if groups else ""}, options
        )
        for at, (own, value) in enumerate(zip(truth, values, strict=True))
    ]


def drawn(seed: int, samples: int = 90) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(anomalies, scores, groups); many scores are equal."""
    chance = np.random.default_rng(seed)
    truth = chance.random(samples) < 0.4
    truth[:6] = [True, False] * 3
    return truth, np.round(truth + chance.normal(0, 1, samples), 1), ["abc"[at % 3] for at in range(samples)]


@pytest.mark.parametrize("max_fpr", [0.05, 0.1, 0.37, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_areas_are_those_of_scikit_learn_pooled_and_by_group(seed: int, max_fpr: float) -> None:
    truth, values, groups = drawn(seed)
    found = RULE.numbers(scored(truth, values, groups, averaging="pooled", max_fpr=max_fpr), MEASURES, None)
    expected = roc_auc_score(truth, values), roc_auc_score(truth, values, max_fpr=max_fpr)
    assert list(found.values()) == pytest.approx(expected, abs=1e-12)
    found = RULE.numbers(scored(truth, values, groups, max_fpr=max_fpr), MEASURES, None)
    own = [np.array(groups) == name for name in "abc"]
    expected = (
        np.mean([roc_auc_score(truth[each], values[each]) for each in own]),
        np.mean([roc_auc_score(truth[each], values[each], max_fpr=max_fpr) for each in own]),
    )
    assert list(found.values()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_scikit_learn(seed: int) -> None:
    truth, values, _ = drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(truth)).astype(float)
    found = RULE.numbers(scored(truth, values), MEASURES, weights)
    expected = [roc_auc_score(truth, values, sample_weight=weights, max_fpr=each) for each in (None, 0.1)]
    assert list(found.values()) == pytest.approx(expected, abs=1e-12)


def test_answers_that_are_all_equal_are_chance() -> None:
    found = RULE.numbers(scored([0, 1, 1, 0], [2.0] * 4), MEASURES, None)
    assert found == pytest.approx({"anomaly-auc": 0.5, "anomaly-pauc": 0.5})


def test_a_plain_partial_area_is_a_share_of_what_there_is() -> None:
    scores = scored([0, 1], [0.0, 1.0], standardized=False)
    assert RULE.numbers(scores, MEASURES, None) == pytest.approx({"anomaly-auc": 1.0, "anomaly-pauc": 1.0})
    scores = scored([1, 0], [0.0, 1.0], standardized=False)
    assert RULE.numbers(scores, MEASURES, None) == {"anomaly-auc": 0.0, "anomaly-pauc": 0.0}


@pytest.mark.parametrize(("truth", "reason"), [([0, 0], "no anomalies"), ([1, 1], "only anomalies"), ([1], "only")])
def test_one_kind_alone_has_no_curve(truth: list[int], reason: str) -> None:
    scores = scored(truth, range(len(truth)))
    assert RULE.numbers(scores, MEASURES, None) == {} and reason in RULE.reasons(scores, MEASURES)["anomaly-auc"]
    assert RULE.details(scores)["groups"][0]["auc"] is None and intervals(RULE, scores, {}) == {}


def test_a_group_without_anomalies_is_named() -> None:
    scores = scored([0, 1, 0, 0], [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    assert RULE.reasons(scores, ["anomaly-auc"]) == {"anomaly-auc": "the group `b` has no anomalies"}
    assert [each["auc"] for each in RULE.details(scores)["groups"]] == [1.0, None]


def test_quality_needs_a_threshold() -> None:
    assert quality_of(scored([1], [2.0])[0]) is None and "quality" not in facts_of(scored([1], [2.0])[0])
    assert [quality_of(each) for each in scored([1, 0, 1], [2.0, 2.0, 0.5], threshold=1.0)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("target", "answer", "reason"),
    [
        (1, [1.0], "whether it is an anomaly"),
        ({"anomaly": 2}, [1.0], "whether it is an anomaly"),
        ({"anomaly": None}, [1.0], "whether it is an anomaly"),
        ({"anomaly": 1, "group": 7}, [1.0], "not a name"),
        ({"anomaly": 1, "group": "x" * 999}, [1.0], "not a name"),
        ({"anomaly": 1}, [1.0, 2.0], "2 values"),
        ({"anomaly": 1}, [np.nan], "not-a-number"),
    ],
)
def test_what_cannot_be_scored_fails_its_sample(target: Any, answer: list[float], reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        RULE.score({"values": np.array(answer)}, {}, target, {})


def test_intervals_hold_the_true_area_about_as_often_as_they_say() -> None:
    chance, held = np.random.default_rng(0), 0
    truth = np.arange(300) < 150
    for _ in range(120):  # of two normal distributions of deviation 1 that lie 1 apart
        scores = scored(truth, truth + chance.normal(size=300))
        found = intervals(RULE, scores, RULE.numbers(scores, ["anomaly-auc"], None))["anomaly-auc"]
        held += found[1] <= 0.7602499389065233 <= found[2]
    assert 0.9 <= held / 120 <= 0.99, held


def logged(prefix: str, **options: Any) -> list[bytes]:
    """The scores of four machines, as they were logged; a name that begins with `anomaly` is one."""
    found = []
    for machine in ("01", "02", "03", "04"):
        with (LOGGED / f"{prefix}anomaly_score_ToyCar_id_{machine}.csv").open() as file:
            rows = [(name, float(value)) for name, value in csv.reader(file)]
        truth = [Path(name).name.startswith("anomaly") for name, _ in rows]
        found += scored(truth, [value for _, value in rows], [machine] * len(rows), **options)
    return found


@pytest.mark.skipif(not LOGGED.exists(), reason="needs the logged scores of ../shared")
@pytest.mark.parametrize(
    ("prefix", "auc", "pauc", "pooled"),
    [
        ("", 0.864397431185167, 0.7468649647274275, (0.875152, 0.734105)),
        ("tflite_quant_fullint_", 0.8415191640120886, 0.7218264894655162, (0.850414, 0.707637)),
    ],
    ids=["keras", "int8"],
)
def test_logged_scores_give_the_published_areas(
    prefix: str, auc: float, pauc: float, pooled: tuple[float, float]
) -> None:
    scores = logged(prefix)
    assert len(scores) == 2459
    found = RULE.numbers(scores, MEASURES, None)
    assert found == pytest.approx({"anomaly-auc": auc, "anomaly-pauc": pauc}, abs=1e-12)
    found = RULE.numbers(logged(prefix, averaging="pooled"), MEASURES, None)
    assert tuple(found.values()) == pytest.approx(pooled, abs=5e-7)


@pytest.mark.skipif(not LOGGED.exists(), reason="needs the logged scores of ../shared")
def test_logged_scores_give_the_plain_area_and_that_of_each_machine() -> None:
    assert RULE.numbers(logged("", standardized=False), MEASURES, None)["anomaly-pauc"] == pytest.approx(
        0.519, abs=5e-5
    )
    areas = [each["auc"] for each in RULE.details(logged(""))["groups"]]
    expected = [0.8898484848484849, 0.9135202156334231, 0.7108679245283018, 0.9433530997304582]
    assert areas == pytest.approx(expected, abs=1e-12)
