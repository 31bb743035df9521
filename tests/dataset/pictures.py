"""The same four pictures as every format stores them, and what the worker makes of them."""

import io
import struct
import zlib

import numpy as np

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope_worker.sample import Loader

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), np.uint8)
GRAY = PIXELS[:, :28, :28, 0].copy()
DIGITS = np.array([3, 1, 4, 1], np.uint8)


def pixels(dataset: Dataset) -> np.ndarray:
    """What the worker will see, as height x width x channels."""
    images = [Loader()(sample.content, []) for sample in dataset.samples]
    return np.stack([image.array.transpose(1, 2, 0) if image.layout == "CHW" else image.array for image in images])


def labels(dataset: Dataset) -> list[int | None]:
    return [sample.label for sample in dataset.samples]


def cifar(numbers: list[bytes]) -> bytes:
    return b"".join(label + image.transpose(2, 0, 1).tobytes() for label, image in zip(numbers, PIXELS, strict=True))


def idx(array: np.ndarray) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def npy(array: np.ndarray, version: tuple[int, int] = (1, 0)) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version)
    return out.getvalue()


def png(rows: np.ndarray) -> bytes:
    """A PNG of height x width x 3."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = rows.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


CIFAR10 = cifar([b"\0", b"\7", b"\2", b"\x09"])
CIFAR100 = cifar([b"\x13\x63", b"\0\0", b"\1\2", b"\3\4"])
STRIP = png(PIXELS.reshape(4, 1024, 3))
