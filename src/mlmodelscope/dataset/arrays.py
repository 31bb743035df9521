"""A NumPy array of samples, and one of labels. The headers are read here: the host needs no NumPy."""

from __future__ import annotations

import ast
import math
import struct

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.raw import digest, read_blocks, refuse_other_shape, slice_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

# What `.npy` calls a type → what we call it, its width, and how `struct` reads it where it is a whole number.
_TYPES = {
    "|u1": ("uint8", 1, "B"),
    "|i1": ("int8", 1, "b"),
    "|b1": ("bool", 1, ""),
    "<u2": ("uint16", 2, "<H"),
    "<i2": ("int16", 2, "<h"),
    "<f2": ("float16", 2, ""),
    "<u4": ("uint32", 4, "<I"),
    "<i4": ("int32", 4, "<i"),
    "<f4": ("float32", 4, ""),
    "<u8": ("uint64", 8, "<Q"),
    "<i8": ("int64", 8, "<q"),
    "<f8": ("float64", 8, ""),
}
_MAX_HEADER_BYTES = 1 << 16


@dataset_format("arrays", packed=True, holds_labels=True)
def read_arrays(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A NumPy array of samples, and one of labels."""
    if labels is None:
        raise DatasetError("an array of samples needs a `labels_url` with an array of labels")
    shape, kind, offset = read_npy_header(source)
    element_type, width, _ = _TYPES[kind]
    if len(shape) not in (3, 4):
        raise DatasetError(f"{source.name} has the shape {list(shape)}, not samples of height x width (x channels)")
    layout, color = _arrangement(source, shape, dataset)
    words = read_npy_integers(labels)
    if len(words) != shape[0]:
        raise DatasetError(f"{labels.name} has {len(words)} labels for {shape[0]} samples")
    sample_shape = [*shape[1:], 1] if len(shape) == 3 else list(shape[1:])
    length = math.prod(sample_shape) * width
    return [
        Unlabelled(
            f"{index:05d}",
            slice_of(source.path, offset + index * length, sample_shape, element_type, layout, color),
            words[index],
            digest(block),
        )
        for index, block in enumerate(read_blocks(source.path, offset, length))
    ]


def _arrangement(source: NamedFile, shape: tuple[int, ...], dataset: PlannedDataset) -> tuple[str, str]:
    """(layout, colour). The manifest's `shape` decides where the numbers alone leave it open."""
    sample = (*shape[1:], 1) if len(shape) == 3 else shape[1:]
    fits = {"HWC": (sample[0], sample[1], sample[2]), "CHW": (sample[1], sample[2], sample[0])}
    possible = {layout: found for layout, found in fits.items() if found[2] in (1, 3)}
    if not possible:
        raise DatasetError(f"{source.name} has the shape {list(shape)}, in which neither 1 nor 3 colour channels are")
    stated = [layout for layout, found in possible.items() if found == dataset.shape]
    layout = stated[0] if stated else next(iter(possible))
    refuse_other_shape(source, possible[layout], dataset)
    return layout, "GRAY" if possible[layout][2] == 1 else "RGB"


def read_npy_header(file: NamedFile) -> tuple[tuple[int, ...], str, int]:
    """(shape, type as `.npy` calls it, offset of the first value)."""
    with file.path.open("rb") as opened:
        if opened.read(6) != b"\x93NUMPY":
            raise DatasetError(f"{file.name} is not a NumPy array")
        major = opened.read(2)[:1]
        length = int.from_bytes(opened.read(2 if major == b"\x01" else 4), "little")
        text = opened.read(min(length, _MAX_HEADER_BYTES)).decode("latin-1").strip()
        offset = opened.tell()
    try:
        header = ast.literal_eval(text)
        shape, kind, fortran = tuple(header["shape"]), str(header["descr"]), bool(header["fortran_order"])
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError
    except (ValueError, KeyError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise DatasetError(f"{file.name} has a damaged header") from None
    if kind not in _TYPES or fortran:
        order = " in Fortran order" if fortran else ""
        raise DatasetError(f"{file.name} holds `{kind[:80]}`{order}, which is not supported")
    if file.path.stat().st_size - offset != math.prod(shape) * _TYPES[kind][1]:
        raise DatasetError(f"{file.name} has not the size that its header promises")
    return shape, kind, offset


def read_npy_integers(file: NamedFile) -> list[int]:
    shape, kind, offset = read_npy_header(file)
    code = _TYPES[kind][2]
    if not code or len([size for size in shape if size != 1]) > 1:
        raise DatasetError(f"{file.name} is not a list of whole numbers")
    return [value for (value,) in struct.iter_unpack(code, file.path.read_bytes()[offset:])]
