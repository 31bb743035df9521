"""Maps of more than 256 classes are shown like others: two bytes a pixel, read without numpy."""

import io
import struct
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mlmodelscope.task.levels import OTHERS, Levels
from mlmodelscope.task.png import read_levels, write_palette
from mlmodelscope.task.shape import class_map, named_by
from mlmodelscope.task.task import task_named
from mlmodelscope_worker.png import write_png

SEGMENTATION = task_named("semantic_segmentation")


def plane_of(levels: Levels | None) -> Any:
    assert levels is not None
    found = [levels.numbers[place] for place in levels.plane]
    return np.array(found).reshape(levels.height, levels.width)


def filtered(plane: Any, kind: int) -> bytes:
    """A PNG of 16 bits whose rows have this filter, as other programs write them."""
    height, width = plane.shape
    rows = plane.astype(">u2").view("u1").reshape(height, -1).astype(int)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    left, corner = (np.hstack([np.zeros((height, 2), int), each[:, :-2]]) for each in (rows, above))
    guess = left + above - corner
    far = [abs(guess - each) for each in (left, above, corner)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), left, np.where(far[1] <= far[2], above, corner))
    expected = (np.zeros_like(rows), left, above, (left + above) // 2, paeth)[kind]
    lines = np.hstack([np.full((height, 1), kind), (rows - expected) % 256]).astype(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("kind", range(5))
def test_two_bytes_a_pixel_are_read_whatever_the_filter(kind: int) -> None:
    plane = np.cumsum(np.random.default_rng(1).integers(0, 40, (9, 7)), axis=1).astype(np.uint16) + 250
    content = filtered(plane, kind)
    with Image.open(io.BytesIO(content)) as opened:
        assert (np.asarray(opened) == plane).all()  # Pillow reads the same file the same way
    assert (plane_of(read_levels(content)) == plane).all()


def test_more_numbers_than_bytes_tell_apart_lose_the_rarest_alone() -> None:
    plane = np.arange(40 * 50, dtype=np.uint16).reshape(40, 50)
    plane[:20] = 700  # the most common
    found = read_levels(write_png(plane))
    told = plane_of(found)
    assert found is not None and len(found.numbers) == 255 and found.numbers[-1] == OTHERS
    assert (told[:20] == 700).all() and set(np.unique(told[20:])) <= {OTHERS, *range(1000, 2000)}
    shape = class_map(found, str)
    assert shape.legend[0][0] == "other classes" and sum(shape.shares) == pytest.approx(1)


def test_numbers_that_become_the_same_one_are_one() -> None:
    found = Levels(bytes([0, 1, 2, 1]), 2, 2, (300, 301, 400)).renumbered(lambda number: number // 100)
    assert found == Levels(bytes([0, 0, 1, 0]), 2, 2, (3, 4)) and found.counts() == {3: 3, 4: 1}


@pytest.mark.parametrize("cut", [20, 40, 50])
def test_a_cut_file_is_no_map(cut: int) -> None:
    content = write_png(np.full((8, 8), 500, np.uint16))
    assert read_levels(content[:cut]) is None
    assert read_levels(content.replace(struct.pack(">II", 8, 8), struct.pack(">II", 0, 8))) is None


def row_of(plane: Any, no_class: int) -> dict[str, Any]:
    return {"map": write_png(plane), "no_class": no_class, "size": list(plane.shape)}


def test_a_map_of_four_hundred_classes_and_its_truth_are_shown(tmp_path: Path) -> None:
    plane = np.full((20, 20), 398, np.uint16)
    plane[:10], plane[0] = 255, 65535
    Image.fromarray(plane).save(tmp_path / "mask.png")
    names = named_by({255: "cloud", 398: "sea"})
    shapes = SEGMENTATION.shapes(row_of(plane, 65535), {"mask": {"file": str(tmp_path / "mask.png")}}, names)
    assert [each.side for each in shapes] == ["truth", "answer"]
    for each in shapes:
        assert [name for name, _ in each.legend] == ["cloud", "sea"] and each.shares == (0.45, 0.5)
        with Image.open(io.BytesIO(b64decode(each.png))) as opened:
            drawn = np.asarray(opened.convert("RGBA"))
        assert drawn.shape[:2] == (20, 20) and drawn[10, 5, 3] > 0  # the border between sea and cloud
    tint = np.asarray(Image.open(io.BytesIO(b64decode(shapes[1].png))).convert("RGBA"))
    assert tint[0, 0, 3] == 0 and tint[5, 5, 3] > 0 and tuple(tint[5, 5]) != tuple(tint[15, 5])


def test_pixels_of_no_class_stay_clear_in_masks_of_one_byte(tmp_path: Path) -> None:
    plane = np.array([[0, 1], [255, 255]], np.uint8)
    (tmp_path / "mask.png").write_bytes(write_palette(plane.tobytes(), 2, 2, {}))
    (shape,) = SEGMENTATION.shapes({"map": None}, {"mask": {"file": str(tmp_path / "mask.png")}}, str)
    assert [name for name, _ in shape.legend] == ["0", "1"]
