"""Vectors of texts: pooled over tokens, brought to length 1, cut, compared."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.pipeline.text import Text
from mlmodelscope_worker.pipeline.tokens import Line, Tokens
from worker_package.vocabularies import run

RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(2, 7, 5)).astype(np.float32)
"""Two rows, filled up to seven tokens."""


def step(name: str, values: dict[str, Any], frame: Any, parameters: Any = None) -> Any:
    declared = ANSWER_STEPS[name]
    return declared.function(values, frame, **declared.resolve(parameters))


def frame_of(*lengths: int, side: str = "right", length: int | None = None) -> Any:
    lines = [Line(list(range(count)), None, [0] * count, [(0, 0)] * count) for count in lengths]
    made = Tokens(Text("a", "b"), lines, several=len(lines) > 1)
    return run("pad_tokens", made, {"side": side, "length": length}).frame


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("length", [None, 7])
@pytest.mark.parametrize(
    ("method", "pooled"),
    [
        ("mean", lambda own: own.mean(axis=0)),
        ("max", lambda own: own.max(axis=0)),
        ("first", lambda own: own[0]),
        ("last", lambda own: own[-1]),
    ],
)
def test_pool_takes_the_real_tokens_alone(side: str, length: int | None, method: str, pooled: Any) -> None:
    made = step("pool", {"embedding": VECTORS}, frame_of(4, 6, side=side, length=length), method)["vector"]
    real = [VECTORS[0, :4], VECTORS[1, :6]] if side == "right" else [VECTORS[0, -4:], VECTORS[1, -6:]]
    assert np.array_equal(made, np.stack([pooled(each) for each in real])) and made.dtype == np.float32


def test_pool_by_mean_all_counts_what_rows_were_filled_up_with() -> None:
    made = step("pool", {"tensor": VECTORS}, frame_of(4, 6), "mean_all")["vector"]
    assert np.allclose(made, VECTORS.mean(axis=1))


def test_pool_of_a_sample_of_one_row_is_one_vector() -> None:
    made = step("pool", {"logits": VECTORS[0]}, frame_of(4), "mean")["vector"]
    assert np.allclose(made, VECTORS[:1, :4].mean(axis=1))


def test_pool_refuses_what_has_no_tokens() -> None:
    with pytest.raises(Refused, match="this has 1 axes"):
        step("pool", {"embedding": VECTORS[0, 0]}, frame_of(4))
    with pytest.raises(Refused, match="there are no tokens to pool"):
        step("pool", {"embedding": VECTORS[0]}, frame_of(0))
    with pytest.raises(Refused, match="there is boxes"):
        step("pool", {"boxes": VECTORS[0]}, frame_of(4))


def test_unit_length_divides_by_the_length_and_leaves_nothing_as_it_is() -> None:
    made = step("unit_length", {"embedding": np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)}, frame_of(1, 1))["vector"]
    assert made.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 0]] and made.dtype == np.float32


def test_cut_vector_keeps_the_first_numbers() -> None:
    assert step("cut_vector", {"vector": VECTORS[:, 0]}, frame_of(1, 1), 2)["vector"].shape == (2, 2)
    with pytest.raises(Refused, match="a vector has 5 numbers, not 6"):
        step("cut_vector", {"vector": VECTORS[:, 0]}, frame_of(1, 1), 6)
    with pytest.raises(Refused, match="has 2 axes, this has 3: `pool` makes one"):
        step("cut_vector", {"embedding": VECTORS}, frame_of(4, 6), 2)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("cosine", lambda one, two: one @ two / np.linalg.norm(one) / np.linalg.norm(two)),
        ("dot", lambda one, two: one @ two),
        ("euclidean", lambda one, two: -np.linalg.norm(one - two)),
        ("manhattan", lambda one, two: -np.abs(one - two).sum()),
    ],
)
def test_similarity_is_numpys(measure: str, expected: Any) -> None:
    pair = VECTORS[:, 0].astype(np.float64)
    made = step("similarity", {"vector": VECTORS[:, 0]}, frame_of(1, 1), measure)["values"]
    assert made.shape == (1,) and made.dtype == np.float64 and np.allclose(made[0], expected(*pair), rtol=1e-12)


def test_similarity_of_nothing_is_a_number_and_one_vector_is_refused() -> None:
    assert step("similarity", {"vector": np.zeros((2, 3))}, frame_of(1, 1))["values"].tolist() == [0]
    with pytest.raises(Refused, match="two texts are compared, a vector each, and there is 1"):
        step("similarity", {"vector": np.zeros((1, 3))}, frame_of(1))
