"""Columns on a common scale, as scikit-learn's scalers bring them there."""

import json
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


def table(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal([50, 0.02, -3], [12, 0.5, 4], (40, 3))


def agree(step: dict[str, Any], fitted: Any) -> None:
    other = table(1)  # beyond the limits of what it was fitted to
    found = through(other, NAMES, ("columns", NAMES), ("scale_columns", step))
    assert np.abs(found - fitted.transform(other)).max() < 1e-12


def test_scale_columns_by_mean_and_deviation_is_scikit_learns() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.StandardScaler().fit(table())
    agree({"mean": by_name(NAMES, fitted.mean_), "std": by_name(NAMES, fitted.scale_)}, fitted)
    half = preprocessing.StandardScaler(with_mean=False).fit(table())
    agree({"std": by_name(NAMES, half.scale_)}, half)


@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (-3.5, 0.25)])
@pytest.mark.parametrize("clip", [False, True])
def test_scale_columns_to_a_range_is_scikit_learns(ends: tuple[float, float], clip: bool) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.MinMaxScaler(ends, clip=clip).fit(table())
    limits = {"low": by_name(NAMES, fitted.data_min_), "high": by_name(NAMES, fitted.data_max_)}
    agree({"method": "min_max", "range": list(ends), "clip": clip, **limits}, fitted)


def test_scale_columns_by_quartiles_is_scikit_learns() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.RobustScaler().fit(table())
    numbers = {"center": by_name(NAMES, fitted.center_), "scale": by_name(NAMES, fitted.scale_)}
    agree({"method": "robust", **numbers}, fitted)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_scale_columns_takes_its_numbers_from_a_file(tmp_path: Path, form: str) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.StandardScaler().fit(table())
    lines = list(zip(NAMES, fitted.mean_.tolist(), fitted.scale_.tolist(), strict=True))
    text = json.dumps({name: {"mean": mean, "std": std} for name, mean, std in lines})
    if form == "csv":
        text = "column,mean,std\n" + "".join(f"{name},{mean!r},{std!r}\n" for name, mean, std in lines)
    (tmp_path / "scaler").write_text(text)
    agree({"file": str(tmp_path / "scaler")}, fitted)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"age": {"mean": 1}}', "column `age` has no `std`"),
        ('{"age": {"mean": 1, "std": 0}}', "a divisor of column `age` cannot be 0"),
        ('{"age": 3}', "column `age` has no `mean`"),
        ("column,mean,std\nage,x,1\n", "expected a number, saw 'x' of column `age`"),
    ],
)
def test_a_scaler_that_lacks_something_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "scaler").write_text(content)
    with pytest.raises(ModelError, match=message):
        run({"age": 1}, ("scale_columns", {"file": str(tmp_path / "scaler")}))


def test_scale_columns_leaves_others_alone_and_nan_as_it_is() -> None:
    steps = (("fill_missing", {"method": "nan"}), ("scale_columns", {"mean": {"age": 50}}))
    made = run({"age": None, "sex": "F", "bmi": 3}, *steps).cells
    assert made["age"] != made["age"] and made["sex"] == "F" and made["bmi"] == 3


def test_scale_columns_moves_a_column_that_never_changes() -> None:
    step = {"method": "min_max", "low": {"a": 3}, "high": {"a": 3}}
    assert run({"a": 3}, ("scale_columns", step)).cells == {"a": 0}


def test_scale_columns_names_the_column_that_is_no_number() -> None:
    with pytest.raises(SampleError, match="column `sex` is the text 'F' where a number is due"):
        run({"age": 1, "sex": "F"}, ("scale_columns", {"mean": 0, "std": 1}))
    with pytest.raises(SampleError, match="it has no column `bmi`; its columns are age"):
        run({"age": 1}, ("scale_columns", {"mean": {"bmi": 0}}))


def test_scale_columns_leaves_missing_cells_to_be_filled_later() -> None:
    steps = (("scale_columns", {"mean": 5}), ("clip_columns", {"low": 0}), ("transform_columns", "sqrt"))
    made = run({"age": None, "bmi": 9}, *steps, ("fill_missing", {"values": 0}))
    assert made.cells == {"age": 0, "bmi": 2}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "either `file`, or `mean` and `std` are needed"),
        ({"mean": 1, "file": "x"}, "either `file`"),
        ({"mean": 1, "low": 1}, "`method: standard` takes no `low`"),
        ({"mean": {"a": 1}, "std": {"a": 0}}, "a divisor of column `a` cannot be 0"),
        ({"method": "min_max", "low": 1}, "`low` and `high` need each other"),
        ({"method": "min_max", "low": 2, "high": 1}, "low is above high"),
        ({"method": "min_max", "low": {"a": 1}, "high": {"b": 2}}, "are of other columns"),
        ({"method": "min_max", "low": 0, "high": 1, "range": [1, 0]}, "from a lower to a higher number"),
        ({"mean": 1, "clip": True}, "only `min_max` has a range"),
        ({"mean": {"a": "x"}}, "expected a number, saw 'x' of column `a`"),
    ],
)
def test_scale_columns_refuses_what_does_not_go_together(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        STEPS["scale_columns"].resolve(given)
