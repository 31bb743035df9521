"""NumPy arrays, one to a file or several."""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pictures import PIXELS, labels, npy, pixels

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import ArtifactError, DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.mark.parametrize("element_type", [np.uint8, np.float32, np.float64, np.float16])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "gray", "gray HWC", "gray CHW"])
def test_arrays_of_every_layout_and_type(write: Write, open_as: Open, element_type: type, layout: str) -> None:
    images = PIXELS.astype(element_type)
    wanted = images if "gray" not in layout else images[..., :1]
    stored = {"CHW": wanted.transpose(0, 3, 1, 2), "gray": wanted[..., 0]}.get(layout.split()[-1], wanted)
    folder = write({"x.npy": npy(stored.copy()), "y.npy": npy(np.arange(4))})
    dataset = open_as("arrays", folder / "x.npy", folder / "y.npy")
    assert (pixels(dataset) == wanted).all() and labels(dataset) == [0, 1, 2, 3]
    assert dataset.samples[0].content["color"] == ("GRAY" if "gray" in layout else "RGB")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_labels_of_every_kind_of_whole_number(
    write: Write, open_as: Open, kind: type, version: tuple[int, int]
) -> None:
    folder = write({"x.npy": npy(PIXELS, version), "y.npy": npy(np.array([[5], [0], [1], [100]], kind), version)})
    assert labels(open_as("arrays", folder / "x.npy", folder / "y.npy")) == [5, 0, 1, 100]


@pytest.mark.parametrize("names", [("x", "y"), ("images", "labels"), ("x_test", "y_test"), ("arr_0", "arr_1")])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("is_told", [True, False])
def test_one_npz_holds_images_and_labels(
    write: Write, open_as: Open, tmp_path: Path, names: tuple[str, str], save: Callable[..., None], is_told: bool
) -> None:
    save(tmp_path / "set.npz", **dict(zip(names, (PIXELS, np.arange(4)), strict=True)))
    dataset = open_as("arrays", tmp_path / "set.npz", tmp_path / "set.npz" if is_told else None)
    assert (pixels(dataset) == PIXELS).all() and labels(dataset) == [0, 1, 2, 3]


def test_the_shape_in_the_manifest_decides_between_two_layouts(write: Write, open_as: Open) -> None:
    odd = PIXELS[:, :3, :10, :].copy()  # 3 x 10 x 3: either way round
    folder = write({"x.npy": npy(odd), "y.npy": npy(np.arange(4))})
    first, second = (
        open_as("arrays", folder / "x.npy", folder / "y.npy", shape=shape) for shape in ((3, 10, 3), (10, 3, 3))
    )
    assert (first.samples[0].content["layout"], second.samples[0].content["layout"]) == ("HWC", "CHW")


def broken_header(text: bytes) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "x.npy is not a NumPy array"),
        (b"\x93NUMPY", "x.npy has a damaged header"),
        (npy(PIXELS)[:60], "x.npy has a damaged header"),
        (npy(PIXELS)[:-1], "x.npy has not the size that its header promises"),
        (npy(PIXELS.astype(">f4")), "holds `>f4`, which is not supported"),
        (npy(np.asfortranarray(PIXELS)), "in Fortran order"),
        (npy(PIXELS.astype(np.complex64)), "holds `<c8`"),
        (npy(np.zeros(4, [("a", "<f4")])), "which is not supported"),
        (npy(np.zeros((4, 32, 32, 2), np.uint8)), "neither 1 nor 3 colour channels"),
        (npy(np.zeros((4, 32), np.uint8)), r"has the shape \[4, 32\]"),
        (npy(np.zeros((0, 32, 32, 3), np.uint8)), "labels for 0 samples"),
        (broken_header(b"{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 2)}"), "damaged header"),
        (broken_header(b"{'descr': '|u1', 'fortran_order': False, 'shape': (9**9, 2)}"), "damaged header"),
        (broken_header(b"(" * 9000), "damaged header"),
        (broken_header(b"__import__('os').abort()"), "damaged header"),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff" + b" " * 100, "damaged header"),
    ],
)
def test_a_damaged_array_is_named(write: Write, open_as: Open, body: bytes, message: str) -> None:
    folder = write({"x.npy": body, "y.npy": npy(np.arange(4))})
    with pytest.raises(DatasetError, match=message):
        open_as("arrays", folder / "x.npy", folder / "y.npy")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (np.arange(3), "y.npy has 3 labels for 4 samples"),
        (np.arange(5), "y.npy has 5 labels for 4 samples"),
        (np.eye(4, dtype=int), "y.npy is not a list of whole numbers"),
        (np.arange(4.0), "y.npy is not a list of whole numbers"),
        (np.array([-1, 0, 0, 0]), "label -1 of the sample `00000` lies below"),
        (np.array([2**63, 0, 0, 0], np.uint64), "label 9223372036854775808 of the sample `00000` lies beyond"),
    ],
)
def test_wrong_labels_of_an_array_are_named(write: Write, open_as: Open, words: np.ndarray, message: str) -> None:
    folder = write({"x.npy": npy(PIXELS), "y.npy": npy(words)})
    with pytest.raises(DatasetError, match=message):
        open_as("arrays", folder / "x.npy", folder / "y.npy")


def test_an_npz_without_a_known_array_says_what_it_has(open_as: Open, tmp_path: Path) -> None:
    np.savez(tmp_path / "set.npz", foo=PIXELS, labels=np.arange(4))
    with pytest.raises(DatasetError, match="set.npz has the arrays foo, labels, none of images, x_test"):
        open_as("arrays", tmp_path / "set.npz")


def test_a_damaged_npz_is_named(write: Write, open_as: Open, tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "set.npz", images=PIXELS, labels=np.arange(4))
    body = bytearray((tmp_path / "set.npz").read_bytes())
    body[200] ^= 0xFF
    with pytest.raises(ArtifactError, match="set.npz"):
        open_as("arrays", write({"set.npz": bytes(body)}) / "set.npz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("images.npy", b"\0" * (20 << 20))
        packed.writestr("labels.npy", npy(np.arange(4)))
    with pytest.raises(ArtifactError, match="bomb.npz unpacks to more than"):
        open_as("arrays", tmp_path / "bomb.npz")
