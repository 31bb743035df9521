"""Logarithms, cepstra, normalization and order of features."""

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.sound import SoundFrame
from mlmodelscope_worker.pipeline.value import SampleError, Tensor
from worker_package.sounds import run

TABLE = np.array([[1.0, 10.0], [100.0, 1000.0]])
RANDOM = np.random.RandomState(3).standard_normal((7, 40))


def tensor(array: np.ndarray = TABLE) -> Tensor:
    return Tensor(array.copy(), frame=SoundFrame(0, 0.01, 0.025))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ("10", [[0, 1], [2, 3]]),
        ("db", [[0, 10], [20, 30]]),
        ("db_magnitude", [[0, 20], [40, 60]]),
        ({"base": "10", "floor": 100}, [[2, 2], [2, 3]]),
        ({"base": "10", "span": 1.5}, [[1.5, 1.5], [2, 3]]),
        ({"base": "db", "reference": "max"}, [[-30, -20], [-10, 0]]),
        ({"base": "2", "add": 1}, np.log2(TABLE + 1)),
        ("natural", np.log(TABLE)),
    ],
)
def test_log_has_a_base_a_floor_and_a_span(parameters: object, told: object) -> None:
    np.testing.assert_allclose(run(tensor(), ("log", parameters)).array, told, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("value", "reason"), [(0, "`floor` or `add`"), (-1, "`floor` or `add`"), (np.inf, "finite"), (np.nan, "finite")]
)
def test_log_of_what_has_none_says_so(value: float, reason: str) -> None:
    with pytest.raises(SampleError, match=reason):
        run(tensor(np.array([[1.0, value]])), ("log", "natural"))


@pytest.mark.parametrize("dct", [2, 3])
@pytest.mark.parametrize("norm", ["ortho", "none"])
def test_mfcc_is_scipy_s_cosine_transform(dct: int, norm: str) -> None:
    fft = pytest.importorskip("scipy.fft")
    found = run(tensor(RANDOM), ("mfcc", {"count": 13, "dct": dct, "norm": norm})).array
    wanted = fft.dct(RANDOM, type=dct, norm="ortho" if norm == "ortho" else None)[:, :13]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_mfcc_by_htk_scales_the_first_coefficient_like_the_others() -> None:
    ortho, htk = (run(tensor(RANDOM), ("mfcc", {"count": 5, "norm": norm})).array for norm in ("ortho", "htk"))
    np.testing.assert_allclose(htk, ortho * [np.sqrt(2), 1, 1, 1, 1], rtol=1e-12)


LATER = {"count": 4, "first": 1}


def test_mfcc_can_leave_out_the_first_coefficient() -> None:
    whole, rest = (run(tensor(RANDOM), ("mfcc", {**given, "lifter": 22})).array for given in ({"count": 5}, LATER))
    np.testing.assert_allclose(rest, whole[:, 1:], rtol=1e-12, atol=1e-12)


def test_mfcc_of_too_few_bands_says_so() -> None:
    with pytest.raises(SampleError, match="41 coefficients cannot be made of features of 7 x 40"):
        run(tensor(RANDOM), ("mfcc", 41))


@pytest.mark.parametrize(("over", "axis"), [("time", 0), ("all", None), ("features", 1)])
@pytest.mark.parametrize(("deviation", "freedom"), [("population", 0), ("sample", 1)])
def test_normalize_features_over_an_axis(over: str, axis: int | None, deviation: str, freedom: int) -> None:
    found = run(tensor(RANDOM), ("normalize_features", {"over": over, "deviation": deviation, "epsilon": 1e-5})).array
    mean, std = RANDOM.mean(axis=axis, keepdims=True), RANDOM.std(axis=axis, ddof=freedom, keepdims=True)
    np.testing.assert_allclose(found, (RANDOM - mean) / (std + 1e-5), rtol=1e-12, atol=1e-13)


def test_normalize_features_with_given_numbers() -> None:
    given = {"over": "given", "mean": [1, 10], "std": [2]}
    assert run(tensor(), ("normalize_features", given)).array.tolist() == [[0, 0], [49.5, 495]]
    with pytest.raises(SampleError, match="3 numbers for 2 features"):
        run(tensor(), ("normalize_features", {"over": "given", "mean": [1, 2, 3]}))
    with pytest.raises(ParameterError, match="go with `over: given`"):
        STEPS["normalize_features"].resolve({"over": "time", "mean": [1]})


def test_normalize_features_that_never_change_stay_finite() -> None:
    found = run(tensor(np.ones((3, 2))), ("normalize_features", {"over": "time"}))
    assert found.array.tolist() == [[0, 0]] * 3
    with pytest.raises(SampleError, match="one value"):
        run(tensor(np.ones((1, 2))), ("normalize_features", {"over": "time", "deviation": "sample"}))


@pytest.mark.parametrize(
    ("order", "shape", "axis"),
    [
        ("TF", (7, 40), 0),
        ("FT", (40, 7), 1),
        ("TFC", (7, 40, 1), 0),
        ("FTC", (40, 7, 1), 1),
        ("CTF", (1, 7, 40), 1),
        ("CFT", (1, 40, 7), 2),
    ],
)
def test_feature_layout_knows_where_time_runs(order: str, shape: tuple, axis: int) -> None:
    found = run(tensor(RANDOM), ("feature_layout", order))
    assert found.array.shape == shape and found.frame.axis == axis


def test_feature_layout_is_used_once() -> None:
    with pytest.raises(SampleError, match="can be used once"):
        run(tensor(RANDOM), ("feature_layout", "FT"), ("feature_layout", "FT"))
