"""Where samples come from: files, buffers, slices of large files, rows of large images."""

import threading
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker import sample as samples
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.sample import Loader
from worker_package.pictures import encode, scene
from worker_package.sounds import pcm16, run


@pytest.fixture
def raw(tmp_path: Path) -> dict:
    (tmp_path / "raw").write_bytes(b"\7" + scene(4, 5).transpose(2, 0, 1).tobytes())
    return {
        "slice": str(tmp_path / "raw"),
        "offset": 1,
        "shape": [3, 4, 5],
        "element_type": "uint8",
        "layout": "CHW",
        "color": "RGB",
    }


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert Loader()({"file": str(tmp_path / "a")}, []) == b"abc"


@pytest.mark.parametrize(("name", "reason"), [("none", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(ImageError, match=f"cannot read it: {reason}"):
        Loader()({"file": str(tmp_path / name)}, [])


def test_a_file_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "_MAX_FILE_BYTES", 10)
    (tmp_path / "a").write_bytes(bytes(11))
    with pytest.raises(ImageError, match="larger than 10 bytes"):
        Loader()({"file": str(tmp_path / "a")}, [])


def test_a_buffer_is_the_messages_own() -> None:
    assert Loader()({"buffer": 1}, [b"a", b"b"]) == b"b"


def test_a_slice_is_pixels_that_were_never_encoded(raw: dict) -> None:
    image = Loader()(raw, [])
    assert (image.layout, image.color) == ("CHW", "RGB") and np.array_equal(image.pixels, scene(4, 5))


@pytest.mark.parametrize("element_type", ["float32", "float64", "int16", "bool"])
def test_a_slice_has_its_own_element_type(tmp_path: Path, element_type: str) -> None:
    stored = np.arange(24).reshape(2, 3, 4).astype(element_type)
    (tmp_path / "raw").write_bytes(stored.tobytes())
    content = {"slice": str(tmp_path / "raw"), "offset": 0, "shape": [2, 3, 4], "element_type": element_type}
    image = Loader()({**content, "layout": "HWC", "color": "RGB"}, [])
    assert image.array.dtype == element_type and np.array_equal(image.array, stored)


def test_a_slice_beyond_the_end_is_refused(raw: dict) -> None:
    with pytest.raises(ImageError, match="the file ends before this sample does"):
        Loader()({**raw, "offset": 2}, [])


@pytest.mark.parametrize("content", [None, b""])
def test_a_slice_of_nothing_is_refused(tmp_path: Path, raw: dict, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "empty").write_bytes(content)
    with pytest.raises(ImageError, match="cannot read it"):
        Loader()({**raw, "slice": str(tmp_path / "empty")}, [])


def test_a_row_of_an_image_is_a_sample(tmp_path: Path) -> None:
    pictures = np.stack([scene(4, 5), scene(4, 5)[::-1]])
    (tmp_path / "strip.png").write_bytes(encode(pictures.reshape(2, 20, 3), "PNG"))
    content = {"row": str(tmp_path / "strip.png"), "index": 1, "shape": [4, 5, 3], "color": "RGB"}
    assert np.array_equal(Loader()(content, []).array, scene(4, 5)[::-1])
    with pytest.raises(ImageError, match="the image has 2 rows, not 3"):
        Loader()({**content, "index": 2}, [])
    with pytest.raises(ImageError, match="a row of the image has 60 values, not 75"):
        Loader()({**content, "shape": [5, 5, 3]}, [])


def test_a_large_file_is_opened_once_for_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strip.png").write_bytes(encode(np.zeros((50, 12, 3), np.uint8), "PNG"))
    opened = []
    monkeypatch.setattr(samples, "decode", lambda data, **_: opened.append(1) or FakeImage())
    loader = Loader()

    def read() -> None:
        for index in range(50):
            loader({"row": str(tmp_path / "strip.png"), "index": index, "shape": [2, 2, 9], "color": "RGB"}, [])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [1]


class FakeImage:
    array = np.zeros((50, 12, 3), np.uint8)


def test_a_sound_is_read_whole_or_in_part(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(pcm16())
    form = {"file": str(tmp_path / "a.wav")}
    whole = Loader()({"parts": {"audio": form}}, [], "audio")
    part = Loader()({"parts": {"audio": {**form, "start": 0.25, "seconds": 0.125}}}, [], "audio")
    sent = Loader()({"parts": {"audio": {"buffer": 0}}}, [memoryview(pcm16())], "audio")
    assert whole.kind == "encoded sound" and bytes(sent.data) == whole.data
    arrays = [run(each, "decode_audio").array for each in (whole, part, sent)]
    assert np.array_equal(arrays[1], arrays[0][4000:6000]) and np.array_equal(arrays[2], arrays[0])


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"file": "/nowhere/a.wav"}, "cannot read it: No such file"),
        ({"file": "/nowhere/a.wav", "start": 1}, "cannot read it: No such file"),
        ({"file": "/dev/null", "start": 1}, "cannot read it"),
        ({"file": "/dev/null", "start": -1}, "a piece of a sound from -1 s"),
        ({"file": "/dev/null", "seconds": float("nan")}, "of nan s"),
        ({"cells": {}}, "it has no sound"),
    ],
)
def test_a_sound_that_cannot_be_read_says_why(form: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Loader()({"parts": {"audio": form}}, [], "audio")
