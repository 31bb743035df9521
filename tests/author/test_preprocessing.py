"""What a library does to pictures, written out as steps; tools/builder_pixels.py compares them with the library."""

from typing import Any

import pytest

from mlmodelscope.author.preprocessing import timm_processing, torchvision_processing

TIMM: dict[str, Any] = {
    "input_size": [3, 224, 224],
    "test_input_size": [3, 288, 288],
    "crop_pct": 0.95,
    "test_crop_pct": 1.0,
    "crop_mode": "center",
    "interpolation": "bicubic",
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
}


def names(processing: list[dict[str, Any]]) -> list[str]:
    return [next(iter(step)) for step in processing]


def test_timm_has_its_own_size_and_that_of_its_tables() -> None:
    own, tables = timm_processing(TIMM), timm_processing(TIMM, use_test_size=True)
    assert names(own) == ["decode", "resize", "crop", "rescale", "normalize", "layout"]
    assert (own[1]["resize"]["short_side"], own[2]["crop"]["dimensions"]) == (235, [224, 224])
    assert (tables[1]["resize"]["short_side"], tables[2]["crop"]["dimensions"]) == (288, [288, 288])


@pytest.mark.parametrize(
    ("change", "geometry"),
    [
        ({"crop_mode": "squash", "crop_pct": 1.0}, ["resize"]),
        ({"crop_mode": "squash"}, ["resize", "crop"]),
        ({"crop_mode": "border"}, ["fit", "crop_or_pad"]),
        ({"crop_pct": 1.15}, ["resize", "crop_or_pad"]),
        ({"input_size": [3, 192, 256]}, ["fit", "crop"]),
    ],
)
def test_each_way_to_crop_has_its_steps(change: dict[str, Any], geometry: list[str]) -> None:
    assert names(timm_processing({**TIMM, **change}))[1:-3] == geometry


def test_the_border_has_the_mean_colour() -> None:
    steps = timm_processing({**TIMM, "crop_mode": "border", "mean": [0.485, 0.456, 0.406]})
    assert steps[2]["crop_or_pad"]["value"] == [124, 116, 104]


def test_torchvision_resizes_the_shorter_side() -> None:
    fields = {"crop_size": [224], "resize_size": [232], "interpolation": "bilinear", "antialias": True}
    steps = torchvision_processing("ImageClassification", fields)
    assert steps[1]["resize"]["short_side"] == 232 and steps[2]["crop"]["dimensions"] == [224, 224]
    assert names(torchvision_processing("ObjectDetection", {})) == ["decode", "rescale", "layout"]
