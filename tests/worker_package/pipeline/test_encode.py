"""Categories of tables become numbers, as scikit-learn's encoders make them."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.predictor import ModelError
from worker_package.pipeline.tables import run, through

NAMES = ["color", "size", "sex"]


def words(seed: int = 0, rows: int = 40) -> np.ndarray:
    random = np.random.default_rng(seed)
    columns = [random.choice(some, rows) for some in (["red", "green", "blue"], ["1", "2", "10"], ["F", "M"])]
    return np.array(columns, object).T


def listed(fitted: Any) -> dict[str, list[str]]:
    return {name: each.tolist() for name, each in zip(NAMES, fitted.categories_, strict=True)}


def test_encode_by_place_is_scikit_learns() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.OrdinalEncoder().fit(words())
    found = through(words(), NAMES, ("encode", {"categories": listed(fitted)}), ("columns", NAMES))
    assert np.array_equal(found, fitted.transform(words()))


@pytest.mark.parametrize("drop", ["none", "first", "if_binary"])
def test_encode_by_a_column_for_each_is_scikit_learns(drop: str) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    fitted = preprocessing.OneHotEncoder(drop=None if drop == "none" else drop, sparse_output=False).fit(words())
    step = ("encode", {"method": "one_hot", "categories": listed(fitted), "drop": drop})
    assert np.array_equal(through(words(), NAMES, ("columns", NAMES), step), fitted.transform(words()))
    named = run(dict(zip(NAMES, words()[0], strict=True)), ("columns", NAMES), step).cells
    assert list(named) == list(fitted.get_feature_names_out(NAMES))


@pytest.mark.parametrize("drop", ["none", "first"])
def test_encode_ignores_what_is_unknown_as_scikit_learn_does(drop: str) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    settings = {"drop": None if drop == "none" else drop, "sparse_output": False, "handle_unknown": "ignore"}
    fitted = preprocessing.OneHotEncoder(**settings).fit(words())
    strange = np.array([["pink", "2", "F"]], object)
    step = ("encode", {"method": "one_hot", "categories": listed(fitted), "drop": drop, "unknown": "ignore"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of what it ignores
        expected = fitted.transform(strange)
    assert np.array_equal(through(strange, NAMES, ("columns", NAMES), step), expected)


def test_encode_gives_what_is_unknown_its_own_code_and_keeps_missing_cells() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    encoder = preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    fitted = encoder.fit(words())
    table = np.array([["pink", "10", None], [None, "3", "M"]], object)
    step = {"categories": listed(fitted), "unknown": "code", "unknown_code": -1, "keep_missing": True}
    found = through(table, NAMES, ("encode", step), ("columns", NAMES))
    assert np.array_equal(found, [[-1, 1, np.nan], [np.nan, -1, 1]], equal_nan=True)
    step["keep_missing"] = False
    found = through(table, NAMES, ("encode", step), ("columns", NAMES))
    assert np.array_equal(found, fitted.transform(np.where(table == None, "?", table)))  # noqa: E711


def test_encode_by_target_is_scikit_learns() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    target = np.random.default_rng(1).normal(0, 5, 40)
    fitted = preprocessing.TargetEncoder(target_type="continuous").fit(words(), target)
    tables = {
        name: dict(zip(some.tolist(), codes.tolist(), strict=True))
        for name, some, codes in zip(NAMES, fitted.categories_, fitted.encodings_, strict=True)
    }
    step = {"method": "target", "table": tables, "unknown": "code", "unknown_code": float(fitted.target_mean_)}
    table = np.vstack([words(), np.array([["pink", "2", "M"]], object)])
    found = through(table, NAMES, ("encode", step), ("columns", NAMES))
    assert np.abs(found - fitted.transform(table)).max() < 1e-12


def test_encode_knows_a_number_by_its_value() -> None:
    step = ("encode", {"categories": {"size": [1, 2.5, "10"]}})
    assert [run({"size": value}, step).cells["size"] for value in (1.0, "1", 2.5, 10)] == [0, 0, 1, 2]


def test_encode_takes_missing_for_a_category_where_it_is_listed() -> None:
    assert run({"sex": None}, ("encode", {"categories": {"sex": ["F", None]}})).cells == {"sex": 1}


def test_encode_names_the_column_and_what_it_knows() -> None:
    step = ("encode", {"categories": {"sex": ["F", "M"]}})
    with pytest.raises(SampleError, match="column `sex` is the text 'X', which is not one of its categories: F, M$"):
        run({"sex": "X"}, step)
    with pytest.raises(SampleError, match="column `sex` is missing, which is not one of its categories"):
        run({"sex": None}, step)
    for method in ("ordinal", "one_hot"):
        with pytest.raises(SampleError, match="it has no column `sex`; its columns are age"):
            run({"age": 1}, ("encode", {"method": method, "categories": {"sex": ["F", "M"]}}))


def test_encode_makes_no_column_twice() -> None:
    with pytest.raises(SampleError, match="a step makes a column `sex_F`, and there is one already"):
        run({"sex_F": 1, "sex": "F"}, ("encode", {"method": "one_hot", "categories": {"sex": ["F", "M"]}}))


@pytest.mark.parametrize("content", ['{"sex": ["M", "F"]}', "column,category\nsex,M\nsex,F\n"])
def test_encode_takes_its_categories_from_a_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "categories").write_text(content)
    assert run({"sex": "F"}, ("encode", {"file": str(tmp_path / "categories")})).cells == {"sex": 1}


@pytest.mark.parametrize("content", ['{"sex": {"M": 0.25, "F": -3}}', "column,category,value\nsex,M,0.25\nsex,F,-3\n"])
def test_encode_takes_its_table_from_a_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "table").write_text(content)
    step = ("encode", {"method": "target", "file": str(tmp_path / "table")})
    assert run({"sex": "F"}, step).cells == {"sex": -3}
    (tmp_path / "wrong").write_text('{"sex": {"M": "high"}}')
    with pytest.raises(ModelError, match="expected a number for each category of `sex`, saw 'high'"):
        run({"sex": "F"}, ("encode", {"method": "target", "file": str(tmp_path / "wrong")}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one of categories, table, file is needed"),
        ({"categories": {"a": ["x", "x"]}}, "column `a` has the category 'x' twice"),
        ({"categories": {"a": [1, "1"]}}, "column `a` has the category '1' twice"),
        ({"categories": {"a": [True, False]}}, "true of column `a` is not a text or a number"),
        ({"categories": {"a": []}}, "expected a list of categories for column `a`"),
        ({"categories": ["x"]}, "expected columns, each with a list of categories"),
        ({"categories": {"a": ["x"]}, "method": "target"}, "takes a `table` of numbers"),
        ({"table": {"a": {"x": 1}}}, "only `method: target` takes a table"),
        ({"categories": {"a": ["x"]}, "drop": "first"}, "only `method: one_hot` has a column to drop"),
        ({"categories": {"a": ["x"]}, "unknown": "ignore"}, "only `method: one_hot` can ignore"),
        ({"categories": {"a": ["x"]}, "unknown": "code"}, "need each other"),
        ({"categories": {"a": ["x"]}, "unknown_code": 1}, "need each other"),
    ],
)
def test_encode_refuses_what_does_not_go_together(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        STEPS["encode"].resolve(given)
