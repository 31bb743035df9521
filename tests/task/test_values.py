"""Tasks whose answers are numbers: which measures they have, what rows hold and what people see of them."""

import json
import math
from typing import Any

import numpy as np
import pytest

from mlmodelscope.task.array_answer import Array, ArrayAnswer
from mlmodelscope.task.measure import MEASURES, find_measure
from mlmodelscope.task.shape import LabelShape, TextShape
from mlmodelscope.task.task import Terms, task_named

ERRORS = ("mse", "rmse", "mae", "r2", "max-error", "explained-variance", "median-absolute-error")


def said(*values: float, kind: str = "<f8") -> ArrayAnswer:
    made = np.asarray(values, kind)
    return ArrayAnswer({"values": Array(made.dtype.str, made.shape, made.tobytes())})


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("regression", {*ERRORS}),
        ("tabular_regression", {*ERRORS}),
        ("time_series_forecasting", {"smape", "mase", "mape", "rmse", "mae", "mse"}),
        ("text_similarity", {"spearman", "pearson", "kendall"}),
        ("anomaly_detection", {"anomaly-auc", "anomaly-pauc"}),
        ("embedding", {"ndcg10", "mrr10", "recall1", "recall5", "recall10", "recall100", "retrieval-map"}),
        ("recommendation", {"hit-rate", "hit-ndcg"}),
    ],
)
def test_every_task_has_its_measures_and_the_first_stands_for_all(task: str, names: set[str]) -> None:
    found = [each.name for each in task_named(task).measures]
    assert set(found) == names and found[0] == task_named(task).headline[0]


@pytest.mark.parametrize(
    ("published", "name"),
    [
        ("R-squared", "r2"),
        ("mean_absolute_error", "mae"),
        ("nDCG@10", "ndcg10"),
        ("HR", "hit-rate"),
        ("pAUC", "anomaly-pauc"),
    ],
)
def test_measures_are_found_by_what_papers_call_them(published: str, name: str) -> None:
    found = find_measure(published)
    assert found is not None and found.name == name


@pytest.mark.parametrize("task", ["regression", "tabular_regression"])
def test_numbers_are_measured_and_samples_that_cannot_be_compared_fail(task: str) -> None:
    tally = task_named(task).tally(Terms({}))
    pairs: list[Any] = [({"values": [at]}, said(at + 0.5)) for at in range(10)]
    *good, bad = tally.take([*pairs, ({"values": [1, 2]}, said(1.0))])
    assert all(each.score for each in good) and "1 values, its truth has 2" in str(bad.error)
    found = tally.outcome()
    assert set(found.numbers) == {*ERRORS} and not found.refused and found.ruler["numpy"]
    assert found.numbers["max-error"] == 0.5 and sum(found.details["qualities"]) == 10
    rows = [each.score for each in good]
    assert MEASURES["mae"].interval(rows).value == MEASURES["max-error"].interval(rows).value == 0.5
    assert MEASURES["max-error"].interval(rows).high == math.inf
    assert MEASURES["max-error"].interval(rows, population=10).high == 0.5


def test_what_cannot_be_computed_is_refused_with_the_rules_own_reason() -> None:
    tally = task_named("regression").tally(Terms({}))
    tally.take([({"values": [1.0]}, said(2.0))])
    found = tally.outcome()
    assert set(found.refused) == {"r2", "explained-variance"} and "two samples" in found.refused["r2"]


def test_truth_and_answer_are_kept_and_shown_as_text() -> None:
    task = task_named("regression")
    row = task.values({"values": [1.5, 2]}, said(*range(9)), b"x")
    assert json.loads(row["target"]) == {"values": [1.5, 2]} and task.plain(row) == {"values": [*map(float, range(9))]}
    shapes = task.shapes(row, None, str)
    assert shapes == [TextShape("truth", "1.5, 2"), TextShape("answer", "0, 1, 2, 3, 4, 5, … (9 values)")]
    unlabeled = task.values(None, said(3.25), None)
    assert task.shapes(unlabeled, None, str) == [TextShape("answer", "3.25")]
    assert task.plain(task.values({"values": [1]}, None, None)) is None


def test_a_result_is_told_in_words() -> None:
    class Seen:
        value = 2.5

    assert task_named("regression").sentence(3, {"rmse": Seen(), "r2": Seen()}) == "RMSE 2.5, R² 2.5 on 3 samples"
    assert task_named("regression").sentence(3, {}) == ""


def test_forecasts_are_measured_and_a_missing_history_is_the_reason_for_what_is_missing() -> None:
    task = task_named("time_series_forecasting")
    tally = task.tally(Terms(task.settle({"season": 2})))
    target = {"values": [1.0, 2.0], "history": [1.0, 2.0, 4.0]}
    rows = [each.score for each in tally.take([(target, said(1.0, 3.0)), (target, said(2.0, 2.0))])]
    found = tally.outcome()
    assert found.numbers["mase"].value == pytest.approx(0.5 / 3) and MEASURES["rmse"].number(rows) == 0.5**0.5
    tally.take([({"values": [1.0]}, said(1.0))])
    assert "history" in tally.outcome().refused["mase"] and "smape" in tally.outcome().numbers


def test_correlations_of_answers_that_never_vary_are_refused() -> None:
    task = task_named("text_similarity")
    tally = task.tally(Terms(task.settle({})))
    tally.take([({"values": [at]}, said(0.5)) for at in range(3)])
    found = tally.outcome()
    assert set(found.refused) == {"spearman", "pearson", "kendall"}
    assert found.refused["pearson"].startswith("all answers are equal")


def test_a_correlation_below_zero_is_a_number_with_an_interval() -> None:
    task = task_named("text_similarity")
    tally = task.tally(Terms(task.settle({})))
    tally.take([({"values": [at]}, said(-at + at % 3)) for at in range(30)])
    found = tally.outcome().numbers["spearman"]
    assert -1 <= found.low < found.value < found.high < 0


def test_anomalies_are_measured_by_group_and_shown_in_words() -> None:
    task = task_named("anomaly_detection")
    tally = task.tally(Terms(task.settle({"averaging": "groups", "max_fpr": 0.5})))
    pairs = [({"anomaly": at % 2, "group": f"machine {at % 3}"}, said(at % 5)) for at in range(60)]
    tally.take(pairs)
    found = tally.outcome()
    assert set(found.numbers) == {"anomaly-auc", "anomaly-pauc"} and len(found.details["groups"]) == 3
    row = task.values(*pairs[1], b"")
    assert task.shapes(row, None, str) == [LabelShape("truth", "anomaly (machine 1)"), TextShape("answer", "1")]
    with pytest.raises(ValueError, match="above 1"):
        task.settle({"max_fpr": 2})


def test_embeddings_of_queries_and_documents_are_measured_together() -> None:
    task = task_named("embedding")
    tally = task.tally(Terms(task.settle({"similarity": "dot"})))
    query = {"role": "query", "id": "q", "relevant": {"a": 1, "b": 1, "c": 1, "d": 1}}
    pairs: list[Any] = [(query, said(1.0, 0.0, kind="<f4"))]
    pairs += [({"role": "document", "id": name}, said(at, 1.0, kind="<f4")) for at, name in enumerate("xya")]
    assert not any(each.error for each in tally.take(pairs))
    found = tally.outcome()
    assert found.numbers["mrr10"] == 1.0 and found.numbers["recall10"] == 0.25 and "qualities" not in found.details
    rows = [task.values(*each, b"") for each in pairs]
    assert task.shapes(rows[0], None, str)[0] == LabelShape("truth", "query q: a, b, c, … (4 documents)")
    assert task.shapes(rows[1], None, str) == [LabelShape("truth", "document x"), TextShape("answer", "0, 1")]


def test_candidates_are_kept_and_shown_best_first() -> None:
    task = task_named("recommendation")
    tally = task.tally(Terms(task.settle({"k": 1, "ties": "In favor"})))
    pairs: list[Any] = [({"relevant": {"1": 1}}, said(0.5, 0.5, 0.25)), ({"relevant": {"2": 1}}, said(0.5, 0.5, 0.25))]
    tally.take(pairs)
    assert tally.outcome().numbers["hit-rate"].value == 0.5
    row = task.values(*pairs[1], b"")
    assert [each["candidate"] for each in task.plain(row)] == [0, 1, 2]
    assert [each.name for each in task.shapes(row, None, str)] == [f"candidate {at}" for at in (2, 0, 1, 2)]


def test_a_difference_of_what_is_no_number_is_the_worst_or_unknown() -> None:
    task = task_named("text_similarity")
    tally = task.tally(Terms(task.settle({})))
    good = [each.score for each in tally.take([({"values": [at]}, said(at)) for at in range(5)])]
    same = [each.score for each in tally.take([({"values": [at]}, said(1.0)) for at in range(5)])]
    assert MEASURES["spearman"].difference(good, same) == (-2.0, 0.0)
    assert MEASURES["spearman"].difference(same, good) == (0.0, math.inf)
