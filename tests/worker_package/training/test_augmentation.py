"""Augmentation: drawn by sample and epoch, the shape and type stay."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.training.augmentation import AUGMENTATIONS, augment
from mlmodelscope_worker.training.order import batches_of, order_of, source_of, steps_in_epoch

PICTURE = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)


def made(name: str, value: Any, number: int = 0, **parameters: Any) -> Any:
    step = {"name": name, "parameters": AUGMENTATIONS[name].resolve(parameters)}
    return augment([step], value, source_of(0, "augmentation", 0, number))


NEEDED: dict[str, dict[str, Any]] = {"noise": {"deviation": 3}}


@pytest.mark.parametrize("name", sorted(AUGMENTATIONS))
@pytest.mark.parametrize("picture", [PICTURE, PICTURE[:, :, 0], PICTURE[:, :, :1] / 255], ids=["RGB", "plain", "float"])
def test_shape_and_type_stay_and_the_sample_does_not_change(name: str, picture: Any) -> None:
    before = picture.copy()
    found = [made(name, picture, number, **NEEDED.get(name, {})) for number in range(12)]
    assert all(each.shape == picture.shape and each.dtype == picture.dtype for each in found)
    assert np.array_equal(picture, before) and any(not np.array_equal(each, picture) for each in found)
    assert np.array_equal(made(name, picture, 3, **NEEDED.get(name, {})), found[3])


@pytest.mark.parametrize("name", ["mirror", "shift", "random_crop", "zoom", "erase"])
def test_channels_may_come_first(name: str) -> None:
    for number in range(6):
        first = made(name, PICTURE.transpose(2, 0, 1), number, layout="CHW")
        assert np.array_equal(first.transpose(1, 2, 0), made(name, PICTURE, number))


def test_mirror_exchanges_left_and_right() -> None:
    assert np.array_equal(made("mirror", PICTURE, chance=1), PICTURE[:, ::-1])
    assert np.array_equal(made("mirror", PICTURE, chance=0), PICTURE)


def test_shift_leaves_what_it_moves_as_it_is() -> None:
    seen = set()
    for number in range(30):
        found = made("shift", PICTURE[:, :, :1] + 1, number, most=1)
        places = [(d, r) for d in (-1, 0, 1) for r in (-1, 0, 1) if np.array_equal(found, moved(d, r))]
        assert len(places) == 1
        seen.add(places[0])
    assert len(seen) == 9


def moved(down: int, right: int) -> Any:
    wide = np.pad(PICTURE[:, :, :1] + 1, ((1, 1), (1, 1), (0, 0)))
    return wide[1 - down : 9 - down, 1 - right : 7 - right]


def test_a_shift_farther_than_the_picture_leaves_nothing() -> None:
    assert {int(made("shift", PICTURE, number, most=4096, fill=7).sum()) for number in range(5)} == {7 * PICTURE.size}


def test_erase_takes_a_square() -> None:
    found = made("erase", np.ones((8, 8)), chance=1, share=0.5)
    assert found.sum() == 64 - 16


def test_whole_numbers_stay_in_their_range() -> None:
    assert made("jitter", np.full((4, 4), 255, np.uint8), most=1).max() <= 255
    assert made("noise", np.zeros((4, 4), np.uint8), deviation=50).dtype == np.uint8


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(SampleError, match=r"not the shape \[3\]"):
        made("mirror", np.zeros(3), chance=1)
    with pytest.raises(SampleError, match="cannot be reflected"):
        made("random_crop", np.zeros((3, 3)), mode="reflect")
    with pytest.raises(ParameterError):
        AUGMENTATIONS["zoom"].resolve({"most": 0.5})
    with pytest.raises(ParameterError):
        AUGMENTATIONS["noise"].resolve({})


def test_an_order_is_of_its_seed_and_epoch() -> None:
    one = order_of(50, 0, 0, True)
    assert sorted(one) == list(range(50)) and np.array_equal(order_of(50, 0, 0, True), one)
    assert not np.array_equal(order_of(50, 0, 1, True), one) and not np.array_equal(order_of(50, 1, 0, True), one)
    assert list(order_of(5, 0, 0, False)) == [0, 1, 2, 3, 4]
    assert list(order_of(5, 0, 0, True)) == [3, 0, 1, 4, 2]  # as it was and stays: records depend on it


def test_an_epoch_has_a_smaller_last_batch_unless_it_is_dropped() -> None:
    sizes = [len(each) for each in batches_of(order_of(10, 0, 0, True), 4, False)]
    assert sizes == [4, 4, 2] and steps_in_epoch(10, 4, False) == 3
    assert len(batches_of(order_of(10, 0, 0, True), 4, True)) == steps_in_epoch(10, 4, True) == 2
    assert len(batches_of(order_of(3, 0, 0, True), 4, True)) == steps_in_epoch(3, 4, True) == 1
