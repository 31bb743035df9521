"""What one tensor of weights is to another is told by its numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mlmodelscope.measure.weight_values import compare_weights, sums, values_of

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(7)
KERNEL = RANDOM.normal(size=(6, 4, 3, 3)).astype(np.float32)
SQUARE = RANDOM.normal(size=(5, 5)).astype(np.float32)


def compare(one: Array, other: Array, **told: Any) -> dict[str, Any]:
    described = [{"element_type": str(each.dtype), "shape": list(each.shape)} for each in (one, other)]
    return compare_weights(described[0], one.tobytes(), {**described[1], **told}, other.tobytes())


@pytest.mark.parametrize(
    ("one", "change", "relation"),
    [
        (KERNEL, lambda x: x, "same"),
        (KERNEL, lambda x: x.reshape(1, 6, 4, 3, 3), "same"),
        (KERNEL, lambda x: x.transpose(0, 2, 3, 1), "transposed"),
        (KERNEL, lambda x: x.transpose(2, 3, 1, 0), "transposed"),
        (SQUARE, lambda x: x.T, "transposed"),
        (KERNEL, lambda x: x.reshape(6, 36), "reshaped"),
        (KERNEL, lambda x: x * np.float32(1.5), "scaled"),
        (KERNEL, lambda x: -x, "scaled"),
        (KERNEL, lambda x: x * np.linspace(0.5, 2, 6, dtype=np.float32)[:, None, None, None], "scaled by channel"),
        (KERNEL, lambda x: x[::-1], "permuted"),
        (KERNEL, lambda x: x[:, [2, 1, 0, 3]], "permuted"),
        (KERNEL, lambda x: np.sort(x, None).reshape(x.shape), "permuted"),
        (KERNEL, lambda x: x + np.float32(0.01), "different"),
        (KERNEL, lambda x: x[:5], "shape differs"),
        (KERNEL, lambda x: np.where(x > 2, np.nan, x), "not finite"),
        (np.zeros((2, 3), np.float32), lambda x: x, "same"),
        (np.zeros((4, 3), np.float32), lambda x: x + np.float32(1), "different"),
        (np.zeros((0, 3), np.float32), lambda x: x, "same"),
    ],
)
def test_a_change_is_called_what_it_is(one: Array, change: Callable[[Array], Array], relation: str) -> None:
    assert compare(one, np.ascontiguousarray(change(one)))["relation"] == relation


@pytest.mark.parametrize("kind", ["float16", "float64"])
def test_another_precision_is_the_same_weights(kind: str) -> None:
    found = compare(KERNEL, KERNEL.astype(kind))
    assert found["relation"] == "same" and bool(found["rounded"]) == (kind == "float16")


def test_numbers_beyond_a_precision_are_different() -> None:
    wrong = KERNEL.astype(np.float16)
    wrong[0, 0, 0, 0] += np.float16(0.1)
    assert compare(KERNEL, wrong)["relation"] == "different"


def test_bfloat16_and_whole_numbers_with_a_scale_are_read() -> None:
    cut = (KERNEL.view(np.uint32) >> 16).astype("<u2")
    told = {"element_type": "bfloat16", "shape": list(KERNEL.shape)}
    mine = {"element_type": "float32", "shape": list(KERNEL.shape)}
    assert compare_weights(mine, KERNEL.tobytes(), told, cut.tobytes())["rounded"] == "precision"
    scale = np.abs(KERNEL).max((1, 2, 3)) / 127
    whole = np.round(KERNEL / scale[:, None, None, None]).astype(np.int8)
    assert compare(KERNEL, whole, scale=scale.tolist(), zero_point=[0] * 6, axis=0)["rounded"] == "precision"
    assert compare(KERNEL, whole, scale=[0.5], zero_point=[0])["relation"] != "same"


def test_the_order_of_axes_does_not_change_the_sums() -> None:
    told = {"element_type": "float32", "shape": list(KERNEL.shape)}
    turned = np.ascontiguousarray(KERNEL.transpose(3, 1, 0, 2))
    other = {"element_type": "float32", "shape": list(turned.shape)}
    assert sums(told, KERNEL.tobytes()) == pytest.approx(sums(other, turned.tobytes()))
    assert sums({"element_type": "float32", "shape": [0]}, b"") == [0.0] * 5
    assert values_of({"element_type": "bool", "shape": [2]}, b"\0\1").tolist() == [0, 1]


def test_two_networks_of_one_kind_are_neither_scaled_nor_in_another_order() -> None:
    other = RANDOM.normal(size=KERNEL.shape).astype(np.float32)
    found = compare(KERNEL, other)
    assert found["relation"] == "different" and found["unequal"] > 0.99 and abs(found["cosine"]) < 0.3
