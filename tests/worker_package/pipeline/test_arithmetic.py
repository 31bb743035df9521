"""What values become: cast, mean, rescale, normalize, quantize."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.arithmetic import ELEMENT_TYPES
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from worker_package.pictures import run, scene


def column(*values: float, dtype: str = "float32") -> Image:
    return Image(np.array(values, dtype).reshape(-1, 1, 1), color="GRAY")


def cast(image: Image, element_type: str, mode: str = "value") -> list:
    array = run("cast", image, {"element_type": element_type, "mode": mode}).array
    assert array.dtype.name == element_type
    return array.reshape(-1).tolist()


# Cast.


def test_cast_keeps_the_value_and_drops_the_fraction() -> None:
    assert cast(column(0, 1.9, 254.999, -1.9), "int16") == [0, 1, 254, -1]
    assert cast(column(0, 255, dtype="uint8"), "float32") == [0.0, 255.0]


def test_cast_by_value_wraps_around() -> None:
    assert cast(column(256, 300.7, -1), "uint8") == [0, 44, 255]
    assert cast(column(128, 255, dtype="uint8"), "int8") == [-128, -1]


def test_cast_can_saturate_instead() -> None:
    assert cast(column(256, 300.7, -1, 1.5, 2.5), "uint8", "saturate") == [255, 255, 0, 2, 2]
    assert cast(column(128, 255, 3, dtype="uint8"), "int8", "saturate") == [127, 127, 3]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("element_type", ["uint8", "int8", "int16", "int32", "int64"])
def test_saturation_never_falls_over_the_edge(dtype: str, element_type: str) -> None:
    low, high = cast(column(-np.inf, np.inf, dtype=dtype), element_type, "saturate")
    limits = np.iinfo(element_type)
    assert low == limits.min and high >= limits.max - 1024


def test_large_integers_saturate_exactly() -> None:
    assert cast(column(2**53 + 1, dtype="int64"), "int64", "saturate") == [2**53 + 1]
    assert cast(column(2**40, -(2**40), dtype="int64"), "int32", "saturate") == [2**31 - 1, -(2**31)]


def test_cast_by_scale_maps_bytes_to_fractions_and_back() -> None:
    fractions = cast(column(0, 51, 255, dtype="uint8"), "float32", "scale")
    assert fractions == [0.0, np.float32(51) / np.float32(255), 1.0]
    assert cast(column(*fractions), "uint8", "scale") == [0, 51, 255]


def test_cast_by_truncation_is_the_integer_division_of_the_papers() -> None:
    """byte2float(x) = floor(x / 255): everything but white becomes black."""
    assert cast(column(0, 254, 255, dtype="uint8"), "float32", "truncate") == [0.0, 0.0, 1.0]
    assert cast(column(0.5, 0.999), "uint8", "truncate") == [127, 254]
    assert cast(column(0.5, 0.999), "uint8", "scale") == [128, 255]


def test_every_byte_survives_scaling_there_and_back() -> None:
    every = column(*range(256), dtype="uint8")
    fractions = run("cast", every, {"element_type": "float32", "mode": "scale"})
    assert cast(fractions, "uint8", "scale") == list(range(256))


@pytest.mark.parametrize("mode", ["scale", "truncate"])
def test_whole_numbers_cannot_be_scaled_to_whole_numbers(mode: str) -> None:
    with pytest.raises(ImageError, match="these are whole already"):
        cast(column(1, dtype="uint8"), "int32", mode)


def test_a_cast_to_the_same_type_costs_nothing() -> None:
    image = Image(scene())
    assert run("cast", image, "uint8") is image


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("mode", ["value", "saturate"])
def test_every_element_type_can_be_had(element_type: str, mode: str) -> None:
    assert cast(column(3, 7, dtype="uint8"), element_type, mode) == [3, 7]


# Mean, rescale, normalize.


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_mean_is_subtracted_channel_by_channel(layout: str) -> None:
    image = Image(scene() if layout == "HWC" else scene().transpose(2, 0, 1), layout=layout)
    means = np.array([123.68, 116.779, 103.939], np.float32)
    assert np.array_equal(run("mean", image, means.tolist()).pixels, scene().astype(np.float32) - means)


def test_rescale_divides() -> None:
    assert np.array_equal(run("rescale", Image(scene()), 127.5).array, scene().astype(np.float32) / np.float32(127.5))
    assert np.array_equal(run("rescale", Image(scene()), [1, 2, 4]).array, scene() / np.array([1, 2, 4], np.float32))


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_normalize_is_mean_then_rescale(layout: str) -> None:
    image = Image(scene() if layout == "HWC" else scene().transpose(2, 0, 1), layout=layout)
    mean, std = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
    one = run("normalize", image, {"mean": mean, "std": std}).array
    assert np.array_equal(one, run("rescale", run("mean", image, mean), std).array)


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))),
    st.lists(
        st.floats(-300, 300, width=32).filter(lambda value: value == 0 or abs(value) > 1e-3), min_size=3, max_size=3
    ),
)
def test_layout_and_memory_order_change_no_bit(pixels: np.ndarray, means: list[float]) -> None:
    plain = pixels.astype(np.float32) - np.array(means, np.float32)
    for array, layout in (
        (pixels, "HWC"),
        (pixels.transpose(2, 0, 1), "CHW"),
        (np.ascontiguousarray(pixels.transpose(2, 0, 1)), "CHW"),
        (np.asfortranarray(pixels), "HWC"),
    ):
        assert np.array_equal(run("mean", Image(array, layout=layout), means).pixels, plain)


def test_arithmetic_in_bytes_wraps_around_and_rounds_down() -> None:
    image = column(0, 100, 255, dtype="uint8")
    assert run("mean", image, {"values": 1.9, "element_type": "uint8"}).array.reshape(-1).tolist() == [255, 99, 254]
    assert run("rescale", image, {"divisor": 3.9, "element_type": "uint8"}).array.reshape(-1).tolist() == [0, 33, 85]
    signed = column(-7, 7, dtype="int16")
    assert run("rescale", signed, {"divisor": 2, "element_type": "int16"}).array.reshape(-1).tolist() == [-4, 3]


def test_arithmetic_in_bytes_on_fractions_drops_them_first() -> None:
    assert run("mean", column(1.9, 256.5), {"values": 0, "element_type": "uint8"}).array.reshape(-1).tolist() == [1, 0]


@pytest.mark.parametrize("name", ["mean", "rescale"])
@pytest.mark.parametrize("values", [[1, 2], [1, 1], [5, 5, 5, 5]])
def test_a_wrong_number_of_values_is_refused_even_if_they_are_equal(name: str, values: list[int]) -> None:
    with pytest.raises(ImageError, match=f"{len(values)} values for an image of 3 channels"):
        run(name, Image(scene()), values)


def test_a_divisor_that_integers_make_0_is_refused() -> None:
    with pytest.raises(ImageError, match="a divisor of 0.5 is 0 in uint8 arithmetic"):
        run("rescale", Image(scene()), {"divisor": 0.5, "element_type": "uint8"})


@pytest.mark.parametrize(("name", "parameters"), [("rescale", 0), ("normalize", {"mean": 0, "std": [1, 0, 1]})])
def test_a_divisor_of_0_is_refused_when_the_plan_is_made(name: str, parameters: object) -> None:
    with pytest.raises(ParameterError, match="a divisor cannot be 0"):
        STEPS[name].resolve(parameters)


def test_a_sample_is_never_changed_only_our_own_copies_are() -> None:
    pixels = scene().astype(np.float32)
    original = pixels.copy()
    once = run("mean", Image(pixels), 7)
    assert np.array_equal(pixels, original)
    twice = run("rescale", once, 2)
    assert np.shares_memory(once.array, twice.array)


# Quantize.


def test_quantize_rounds_to_even_and_clips() -> None:
    quantized = run("quantize", column(-99, -0.5, 0, 0.05, 0.15, 99), {"scale": 0.1, "zero_point": 10})
    assert quantized.array.dtype == np.uint8
    assert quantized.array.reshape(-1).tolist() == [0, 5, 10, 10, 12, 255]


def test_quantize_to_signed_bytes() -> None:
    quantized = run("quantize", column(-2, 0, 2), {"scale": 0.01, "element_type": "int8", "zero_point": -3})
    assert quantized.array.reshape(-1).tolist() == [-128, -3, 127]


def test_dequantize_is_the_way_back() -> None:
    whole = column(0, 10, 255)
    real = run("dequantize", whole, {"scale": 0.5, "zero_point": 10})
    assert real.array.dtype == np.float32 and real.array.reshape(-1).tolist() == [-5.0, 0.0, 122.5]
    again = run("quantize", real, {"scale": 0.5, "zero_point": 10})
    assert again.array.reshape(-1).tolist() == [0, 10, 255]
