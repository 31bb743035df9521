"""Numbers as they travel."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.pipeline.frame import Frame
from mlmodelscope_worker.task import reader_of

TASKS = ("regression", "tabular_regression", "time_series_forecasting", "recommendation")


class Prepared:
    frame = Frame((1, 1))


def read(task: str, *tensors: np.ndarray, roles: tuple[str, ...] = ("tensor",)) -> Any:
    outputs = [{"role": role, "steps": []} for role in roles]
    return reader_of(task, outputs, {"steps": [], "label_offset": 0})(tensors, [Prepared()] * len(tensors[0]))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64, np.uint8, bool])
def test_values_of_any_element_type_become_doubles(task: str, kind: type) -> None:
    found = read(task, np.array([[[1], [0]], [[1], [1]]], kind))
    assert [each["arrays"] for each in found.content["answers"]] == [[["values", "<f8", [2]]]] * 2
    assert [each.tolist() for each in found.buffers] == [[1.0, 0.0], [1.0, 1.0]] and not found.failed


def test_a_model_that_gives_one_number_for_each_sample_needs_no_axis_for_it() -> None:
    found = read("regression", np.array([1.5, 2.5]))
    assert [each.tolist() for each in found.buffers] == [[1.5], [2.5]]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_a_number_fails_its_sample_alone(value: float) -> None:
    found = read("regression", np.array([[value], [2.0]], np.float32))
    assert list(found.failed) == [0] and "not-a-number" in found.failed[0] and len(found.buffers) == 1


@pytest.mark.parametrize(
    ("tensor", "reason"), [(np.zeros((1, 0)), "answered with 0 numbers"), (np.array([["a"]]), "not numbers")]
)
def test_what_is_no_number_fails_with_the_reason(tensor: np.ndarray, reason: str) -> None:
    assert reason in read("regression", tensor).failed[0]


def test_two_outputs_are_not_one_answer() -> None:
    found = read("regression", np.zeros((1, 1)), np.zeros((1, 1)), roles=("tensor", "scores"))
    assert "made of one output, there are 2 (scores, tensor)" in found.failed[0]


@pytest.mark.parametrize("task", ["text_similarity", "anomaly_detection"])
def test_a_task_of_one_number_refuses_several(task: str) -> None:
    assert read(task, np.array([[[0.5]]])).buffers[0].tolist() == [0.5]
    assert "one number, the model gave 3" in read(task, np.zeros((1, 3))).failed[0]


def test_an_embedding_travels_as_32_bit_floats_and_must_be_one() -> None:
    found = read("embedding", np.array([[1.5, 2.5], [1e300, 0.0]]))
    assert found.content["answers"][0]["arrays"] == [["values", "<f4", [2]]] and found.buffers[0].tolist() == [1.5, 2.5]
    assert "not-a-number" in found.failed[1]
