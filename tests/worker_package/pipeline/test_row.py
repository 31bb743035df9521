"""Rows of tables, as hostile as they come: a failed sample that names its column, or numbers."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.pipeline.row import Row, read_row
from mlmodelscope_worker.pipeline.value import SampleError, Tensor
from mlmodelscope_worker.sample import Loader
from worker_package.pipeline.tables import run


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"age": math.inf}, "column `age` is inf, which is not a finite number"),
        ({"age": 10**400}, "column `age` is a whole number of 1329 bits"),
        ({"age": [1]}, "column `age` is a list, not a number or a text"),
        ({"age": "x" * (2 << 20)}, "column `age` has 2097152 characters; at most 1048576"),
        ({}, "it has no cells"),
        (None, "it has no cells"),
        ([1, 2], "it has no cells"),
        (dict.fromkeys(map(str, range(70000)), 0), "a row of 70000 columns; at most 65536"),
    ],
)
def test_a_row_that_cannot_be_taken_says_why(cells: Any, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        read_row({"cells": cells})


def test_nan_is_a_missing_cell_and_true_is_one() -> None:
    assert read_row({"cells": {"age": math.nan, "smokes": True}}).cells == {"age": None, "smokes": 1}


def test_a_sample_has_a_row_beside_its_other_parts() -> None:
    sample = {"parts": {"text": {"text": "hello"}, "columns": {"cells": {"age": 3}}}}
    assert Loader()(sample, (), "columns").cells == {"age": 3}


def test_numbers_become_a_tensor_of_the_type_that_the_model_takes() -> None:
    made = run({"b": 2, "a": 0.5}, ("columns", ["a", "b"]), ("cast", "float32"))
    assert isinstance(made, Tensor) and made.array.dtype == np.float32 and made.array.tolist() == [0.5, 2.0]
    exact = run({"b": 2, "a": 0.1}, ("columns", ["a", "b"]), ("cast", "float64"))
    assert exact.rows[0].tolist() == [0.1, 2.0]


def test_numbers_beyond_a_types_ends_may_be_cut_off_on_purpose() -> None:
    cut = ("cast", {"element_type": "uint8", "mode": "saturate"})
    assert run({"a": -5, "b": 300}, ("columns", ["a", "b"]), cut).array.tolist() == [0, 255]


@pytest.mark.parametrize(
    ("value", "element_type", "message"),
    [
        (1e300, "float32", r"column `b` is 1e\+300, which float32 cannot hold"),
        (70000.0, "float16", "column `b` is 70000.0, which float16 cannot hold"),
        (300, "uint8", "column `b` is 300, which uint8 cannot hold"),
        (-1, "uint8", "column `b` is -1, which uint8 cannot hold"),
        (None, "int64", "column `b` is nan, which int64 cannot hold"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # as the worker's own filter does
def test_a_number_that_the_type_cannot_hold_is_named(value: Any, element_type: str, message: str) -> None:
    steps = (("fill_missing", {"method": "nan"}), ("columns", ["a", "b"]), ("cast", element_type))
    with pytest.raises(SampleError, match=message):
        run({"a": 1, "b": value}, *steps)


def test_what_overflows_on_the_way_is_named() -> None:
    with pytest.raises(SampleError, match="column `b` is infinite by now"):
        run({"a": 1, "b": 1e308}, ("scale_columns", {"std": 1e-9}), ("columns", ["a", "b"])).array  # noqa: B018


cells = st.dictionaries(
    st.text(max_size=5),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
    max_size=5,
)


@given(cells, cells)
@settings(max_examples=tries(200, 5000))
def test_any_row_becomes_finite_numbers_or_one_sentence(given: dict[str, Any], other: dict[str, Any]) -> None:
    names = list(other) or ["x"]
    steps: list[tuple[str, Any]] = [
        ("fill_missing", {"values": 0, "missing": ["", "0"]}),
        ("columns", names),
        ("scale_columns", {"mean": 1, "std": 1e-300}),
        ("clip_columns", {"low": -1e9, "high": 1e9}),
    ]
    try:
        made = run({**given, **other}, *steps)
        assert isinstance(made, Row) and np.isfinite(made.array).all()
    except SampleError as error:
        assert str(error)
