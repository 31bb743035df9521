"""Pictures of samples: small, safe, and never the reason why a report cannot be written."""

import base64
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope.report import thumbnail
from mlmodelscope.report.sample_pictures import picture_size
from mlmodelscope.report.thumbnail import Thumbnail, Thumbnails, write_png
from mlmodelscope_worker.pipeline import library


def opened(made: Thumbnail) -> Image.Image:
    assert made.uri is not None, made.reason
    return Image.open(io.BytesIO(base64.b64decode(made.uri.partition(",")[2])))


@pytest.fixture
def without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise library.MissingLibrary(f"this stack cannot use {name}")

    monkeypatch.setattr(library, "load", missing)


def save(path: Path, side: int, form: str) -> dict[str, str]:
    Image.effect_noise((side, side), 60).convert("RGB").save(path, form)
    return {"file": str(path)}


def test_a_photograph_becomes_a_small_jpeg(tmp_path: Path) -> None:
    picture = opened(Thumbnails().make(save(tmp_path / "a.jpg", 900, "JPEG")))
    assert picture.format == "JPEG" and max(picture.size) == 320


def test_a_tiny_picture_is_embedded_as_it_is(tmp_path: Path) -> None:
    content = save(tmp_path / "a.png", 32, "PNG")
    made = Thumbnails().make(content)
    assert made.tiny and made.uri is not None
    assert base64.b64decode(made.uri.partition(",")[2]) == (tmp_path / "a.png").read_bytes()


def test_without_pillow_safe_formats_are_embedded(tmp_path: Path, without_pillow: None) -> None:
    assert opened(Thumbnails().make(save(tmp_path / "a.jpg", 400, "JPEG"))).size == (400, 400)
    assert "needs Pillow" in Thumbnails().make(save(tmp_path / "a.bmp", 400, "BMP")).reason
    assert "needs Pillow" in Thumbnails().make(save(tmp_path / "large.png", 700, "PNG")).reason


def test_a_small_file_of_many_pixels_is_not_embedded(tmp_path: Path, without_pillow: None) -> None:
    Image.new("1", (12_000, 12_000)).save(tmp_path / "bomb.png")
    assert "more than the" in Thumbnails().make({"file": str(tmp_path / "bomb.png")}).reason


@pytest.mark.parametrize("content", [b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"<html>", b""])
def test_what_could_be_a_script_is_never_embedded(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    made = Thumbnails().make({"file": str(tmp_path / "a.png")})
    assert made.uri is None and made.reason


def test_a_file_that_has_gone_is_a_word_not_a_crash(tmp_path: Path) -> None:
    assert "cannot read" in Thumbnails().make({"file": str(tmp_path / "none.png")}).reason


def raw(path: Path, shape: list[int], layout: str = "HWC", element_type: str = "uint8") -> dict[str, object]:
    kind = {"element_type": element_type, "layout": layout, "color": "RGB"}
    return {"slice": str(path), "offset": 2, "shape": shape, **kind}


def test_raw_planes_become_a_png_without_any_library(tmp_path: Path, without_pillow: None) -> None:
    path = tmp_path / "planes.bin"
    path.write_bytes(b"xx" + bytes([1, 2, 3, 4]) + bytes([10, 20, 30, 40]) + bytes([5, 6, 7, 8]))
    picture = opened(Thumbnails().make(raw(path, [3, 2, 2], "CHW")))
    assert list(picture.get_flattened_data()) == [(1, 10, 5), (2, 20, 6), (3, 30, 7), (4, 40, 8)]


def test_a_large_raw_picture_is_thinned_out(tmp_path: Path) -> None:
    path = tmp_path / "grey.bin"
    path.write_bytes(b"xx" + bytes(range(200)) * 5 * 1000)
    picture = opened(Thumbnails().make(raw(path, [1000, 1000, 1])))
    assert picture.mode == "L" and picture.size == (250, 250)
    assert picture.getpixel((1, 0)) == 4


@pytest.mark.parametrize(
    ("shape", "element_type", "reason"),
    [
        ([2, 2, 3], "float32", "not a picture"),
        ([2, 2, 4], "uint8", "4 channels"),
        ([200, 200, 3], "uint8", "ends before"),
    ],
)
def test_what_is_no_picture_says_so(tmp_path: Path, shape: list[int], element_type: str, reason: str) -> None:
    path = tmp_path / "values.bin"
    path.write_bytes(bytes(100))
    assert reason in Thumbnails().make(raw(path, shape, element_type=element_type)).reason


def test_a_row_of_a_strip_becomes_its_picture(tmp_path: Path) -> None:
    strip = Image.frombytes("RGB", (4, 2), bytes(range(24)))
    strip.save(tmp_path / "strip.png")
    content = {"row": str(tmp_path / "strip.png"), "index": 1, "shape": [2, 2, 3], "color": "RGB"}
    assert opened(Thumbnails().make(content)).tobytes() == bytes(range(12, 24))


def test_the_pngs_we_write_are_read_by_others() -> None:
    rows = [bytes([255, 0, 0, 0, 255, 0]), bytes([0, 0, 255, 9, 9, 9])]
    picture = Image.open(io.BytesIO(write_png(rows, 3)))
    picture.load()
    assert picture.getpixel((1, 1)) == (9, 9, 9)


def test_no_format_that_can_carry_a_script_is_on_the_list() -> None:
    assert json.dumps(sorted(thumbnail._SAFE)) == '["gif", "jpeg", "png", "webp"]'


@pytest.mark.parametrize(
    "content",
    [
        {"parts": {"text": {"text": "hi"}}},
        {"parts": {"columns": {"cells": {"a": 1}}}},
        {"parts": {"audio": {"file": "a.wav"}}, "file": "a.wav"},
        {"parts": {"audio": {"file": "a.wav", "start": 1.0}}},
        {"slice": "a.bin", "offset": 0, "shape": [4], "element_type": "uint8", "layout": "", "color": ""},
    ],
)
def test_texts_rows_and_sounds_have_no_picture(content: dict[str, object]) -> None:
    assert "not a picture" in Thumbnails().make(content).reason
    assert picture_size(content) is None
