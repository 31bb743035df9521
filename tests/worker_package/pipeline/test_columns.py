"""Which columns of a table, what stands for missing cells, limits and functions: beside scikit-learn's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.predictor import ModelError
from worker_package.pipeline.tables import by_name, run, through

NAMES = ["age", "bmi", "s1"]
ROW = {"age": 48, "sex": "F", "bmi": 21.5}


def holes(seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    table = random.normal(3, 100, (50, 3))
    table[random.random((50, 3)) < 0.3] = np.nan
    return table


# columns


def test_columns_come_in_the_order_of_the_model() -> None:
    assert run(ROW, ("columns", ["bmi", "age"])).array.tolist() == [21.5, 48.0]


def test_columns_may_come_in_the_order_of_the_table() -> None:
    assert list(run(ROW, ("columns", {"names": ["bmi", "age"], "order": "table"})).cells) == ["age", "bmi"]


def test_columns_may_be_a_single_name() -> None:
    assert run(ROW, ("columns", "bmi")).array.tolist() == [21.5]


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(SampleError, match="it has no column `BMI`; its columns are age, sex, bmi$"):
        run(ROW, ("columns", ["age", "BMI"]))


def test_columns_of_a_wide_table_are_not_all_told() -> None:
    with pytest.raises(SampleError, match=r"its columns are c0, .*, c7, … \(10000 in all\)$"):
        run({f"c{number}": number for number in range(10000)}, ("columns", ["x"]))


def test_columns_that_stand_there_twice_are_refused() -> None:
    with pytest.raises(ParameterError, match="column `bmi` stands there twice"):
        STEPS["columns"].resolve(["bmi", "age", "bmi"])


def test_ten_thousand_columns_are_a_row() -> None:
    cells = {f"c{number}": number / 2 for number in range(10000)}
    names = list(reversed(cells))
    assert run(cells, ("columns", names)).array.tolist() == [cells[name] for name in names]


def test_texts_are_not_numbers_even_if_they_look_so() -> None:
    row = run({"age": "48"}, ("columns", ["age"]))
    with pytest.raises(SampleError, match="column `age` is the text '48' where a number is due: `encode`"):
        row.array  # noqa: B018


def test_a_missing_cell_is_not_a_number() -> None:
    row = run({"age": float("nan")}, ("columns", ["age"]))
    with pytest.raises(SampleError, match="column `age` is missing: `fill_missing` says what stands for it"):
        row.array  # noqa: B018


# fill_missing


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_fill_missing_is_scikit_learns(strategy: str) -> None:
    impute = pytest.importorskip("sklearn.impute")
    table = holes()
    fitted = impute.SimpleImputer(strategy=strategy).fit(table)
    values = by_name(NAMES, fitted.statistics_)
    found = through(table, NAMES, ("fill_missing", {"values": values}), ("columns", NAMES))
    assert np.abs(found - fitted.transform(table)).max() < 1e-12


def test_fill_missing_by_a_constant_with_indicators_is_scikit_learns() -> None:
    impute = pytest.importorskip("sklearn.impute")
    table = holes()
    fitted = impute.SimpleImputer(strategy="constant", fill_value=-7, add_indicator=True).fit(table)
    found = through(table, NAMES, ("columns", NAMES), ("fill_missing", {"values": -7, "indicator": NAMES}))
    assert np.abs(found - fitted.transform(table)).max() < 1e-12


def test_fill_missing_names_its_indicators_as_scikit_learn_does() -> None:
    made = run({"age": None, "bmi": 2}, ("fill_missing", {"values": 0, "indicator": ["bmi", "age"]}))
    assert made.cells == {"age": 0, "bmi": 2, "missingindicator_bmi": 0, "missingindicator_age": 1}


def test_fill_missing_is_told_which_texts_stand_for_nothing() -> None:
    step = ("fill_missing", {"values": {"age": 50, "sex": "unknown"}, "missing": ["", "NA", "?"]})
    assert run({"age": "?", "sex": "NA", "bmi": ""}, step).cells == {"age": 50, "sex": "unknown", "bmi": None}
    assert run({"age": 1, "sex": "na", "bmi": 0}, step).cells == {"age": 1, "sex": "na", "bmi": 0}


def test_fill_missing_by_nan_is_for_models_that_take_it() -> None:
    made = run({"age": None, "bmi": 2}, ("fill_missing", {"method": "nan"}), ("columns", ["age", "bmi"]))
    assert np.isnan(made.array[0]) and made.array[1] == 2


def test_fill_missing_only_in_some_columns() -> None:
    step = ("fill_missing", {"values": 0, "columns": ["age"]})
    assert run({"age": None, "bmi": None}, step).cells == {"age": 0, "bmi": None}


@pytest.mark.parametrize("content", ['{"age": 1.5, "sex": "?"}', "column,value\nage,1.5\nsex,?\n"])
def test_fill_missing_takes_its_values_from_a_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "values").write_text(content)
    made = run({"sex": None, "age": None}, ("fill_missing", {"file": str(tmp_path / "values")}))
    assert made.cells == {"sex": "?", "age": 1.5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its first line must name `column` and `value`"),
        (b"[1, 2]", "it must hold values by column"),
        (b'{"age": [1]}', r"expected a number or a text, saw \[1\] of column `age`"),
        (b'{"age": 1e999}', "expected a number or a text, saw inf of column `age`"),
        (b"column,value\nage,1\nage,2\n", "column `age` has two lines"),
        (b"\xff\xfe", "cannot read the values of columns: 'utf-8' codec"),
        (b"[" * 100_000, "cannot read the values of columns"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "values").write_bytes(content)
    with pytest.raises(ModelError, match=message):
        run({"age": None}, ("fill_missing", {"file": str(tmp_path / "values")}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one of values, file is needed, saw none"),
        ({"values": 1, "file": "x"}, "saw values and file"),
        ({"method": "nan", "values": 1}, "`nan` takes no `values`"),
        ({"values": {"a": 1}, "columns": ["a"]}, "`values` names the columns already"),
        ({"values": {"a": float("nan")}}, "expected a number or a text, saw nan of column `a`"),
        ({"values": {"a": True}}, "saw true of column `a`"),
    ],
)
def test_fill_missing_refuses_what_does_not_go_together(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        STEPS["fill_missing"].resolve(given)


# to_numbers


def test_to_numbers_reads_texts_that_are_numbers() -> None:
    assert run({"age": "48", "sex": "F", "bmi": None}, ("to_numbers", None)).cells == {
        "age": 48.0,
        "sex": "F",
        "bmi": None,
    }
    assert run({"bmi": " -2,5e1"}, ("to_numbers", {"decimal": ","})).cells == {"bmi": -25.0}


@pytest.mark.parametrize("text", ["F", "", "nan", "inf", "1_000", "1e999", "0x10", "9" * 500])
def test_to_numbers_names_the_column_that_is_no_number(text: str) -> None:
    with pytest.raises(SampleError, match="column `age` is the text .*, which is not a number"):
        run({"age": text}, ("to_numbers", ["age"]))


# clip_columns, transform_columns, polynomial


def test_clip_columns_keeps_limits_and_nan() -> None:
    cells = {"age": 130, "bmi": -1.5, "s1": None}
    steps = (("fill_missing", {"method": "nan"}), ("clip_columns", {"low": 0, "high": {"age": 99}}))
    made = run(cells, *steps, ("columns", NAMES)).array
    assert made[:2].tolist() == [99, 0] and np.isnan(made[2])
    with pytest.raises(ParameterError, match="low is above high"):
        STEPS["clip_columns"].resolve({"low": 2, "high": 1})
    with pytest.raises(ParameterError, match="`low` or `high` is needed"):
        STEPS["clip_columns"].resolve({})


@pytest.mark.parametrize("function", ["log1p", "log", "sqrt", "square", "cbrt", "absolute", "reciprocal", "expm1"])
def test_transform_columns_is_numpys(function: str) -> None:
    table = np.abs(np.random.default_rng(0).normal(3, 2, (20, 3))) + 0.1
    found = through(table, NAMES, ("transform_columns", function), ("columns", NAMES))
    assert np.array_equal(found, getattr(np, function)(table))


@pytest.mark.parametrize("function, value", [("log1p", -1), ("log", -2.5), ("sqrt", -1e-9), ("exp", 1e4)])
def test_transform_columns_names_the_column_that_has_no_such_number(function: str, value: float) -> None:
    with pytest.raises(SampleError, match=f"column `bmi` is .*, which has no `{function}`"):
        run({"age": 1, "bmi": value}, ("transform_columns", {"function": function, "columns": ["bmi"]}))


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_is_scikit_learns(degree: int, only: bool) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    table = np.random.default_rng(0).normal(0, 2, (10, 3))
    fitted = preprocessing.PolynomialFeatures(degree, interaction_only=only).fit(table)
    steps = (("columns", NAMES), ("polynomial", {"degree": degree, "interaction_only": only}))
    assert np.allclose(through(table, NAMES, *steps), fitted.transform(table), rtol=1e-12, atol=0)
    named = list(run(by_name(NAMES, table[0]), *steps).cells)
    assert named == list(fitted.get_feature_names_out(NAMES))


def test_polynomial_of_too_many_columns_is_refused() -> None:
    cells = {f"c{number}": number for number in range(2000)}
    with pytest.raises(SampleError, match="the products of 2000 columns are more than 65536"):
        run(cells, ("columns", list(cells)), ("polynomial", 5))
