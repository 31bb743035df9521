"""The devkit's table of synsets: a MATLAB file as scipy writes it, and everything that is not one."""

import contextlib
import random
import struct
import zlib
from pathlib import Path

import pytest

from budget import tries
from mlmodelscope.connection.devkit import synsets_by_id
from mlmodelscope.errors import DatasetError


def element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def small_element(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data.ljust(4, b"\0")


def matrix(kind: int, values: bytes, length: int) -> bytes:
    flags = element(6, struct.pack("<II", kind, 0))
    return element(14, flags + element(5, struct.pack("<ii", 1, length)) + small_element(1, b"") + values)


def row(number: int) -> bytes:
    text = f"n{number:08d}".encode("utf-16-le")
    return matrix(
        6, small_element(2, bytes((number % 256,))) if number < 256 else element(4, struct.pack("<H", number)), 1
    ) + (matrix(4, element(4, text), 9))


def meta(classes: int = 1000, compressed: bool = True) -> bytes:
    names = b"ILSVRC2012_ID".ljust(32, b"\0") + b"WNID".ljust(32, b"\0")
    body = element(6, struct.pack("<II", 2, 0)) + element(5, struct.pack("<ii", classes, 1)) + element(1, b"synsets")
    body += small_element(5, struct.pack("<i", 32)) + element(1, names)
    body += b"".join(row(number) for number in range(1, classes + 1))
    whole = element(14, body)
    packed = zlib.compress(whole)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + (struct.pack("<II", 15, len(packed)) + packed if compressed else whole)


@pytest.mark.parametrize("compressed", [True, False])
def test_numbers_become_synsets(compressed: bool, tmp_path: Path) -> None:
    (tmp_path / "meta.mat").write_bytes(meta(1002, compressed))
    found = synsets_by_id(tmp_path / "meta.mat")
    assert len(found) == 1000 and found[1] == "n00000001" and found[1000] == "n00001000"


@pytest.mark.parametrize("data", [b"", b"x" * 200, meta(999), meta()[:-40], meta(compressed=False)[:5000]])
def test_what_is_not_the_table_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "meta.mat").write_bytes(data)
    with pytest.raises(DatasetError, match="is not the devkit's table"):
        synsets_by_id(tmp_path / "meta.mat")


def test_without_the_table_numbers_mean_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="mean nothing without its meta.mat"):
        synsets_by_id(tmp_path / "meta.mat")


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(200 << 20), 9)
    (tmp_path / "meta.mat").write_bytes(meta()[:128] + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(DatasetError, match="is not the devkit's table"):
        synsets_by_id(tmp_path / "meta.mat")


def test_damaged_tables_never_end_in_a_traceback(tmp_path: Path) -> None:
    dice, whole, path = random.Random(0), meta(compressed=False), tmp_path / "meta.mat"
    for _ in range(tries(30, 3000)):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            data[dice.randrange(120, 900)] = dice.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(DatasetError):
            assert len(synsets_by_id(path)) == 1000
