"""Functions of libraries without symbols are named by where they begin."""

import ctypes
import os
import random
import struct
from pathlib import Path

import pytest

from mlmodelscope.trace.perf import Seen, _with_names
from mlmodelscope.trace.stripped import Mapping, Named, mappings_of, read_library


def elf(functions: list[int], form: int = 0x3B, at: int = 0x1000, table: int = 0x400) -> bytes:
    """A library whose code lies at `at` in memory and 0x200 in the file, and its table at the same place in both."""
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0
    )
    code = struct.pack("<IIQQQQQQ", 1, 5, 0x200, at, at, 0x200, 0x200, 0x1000)
    frames = struct.pack("<IIQQQQQQ", 0x6474E550, 4, table, table, table, 12 + 8 * len(functions), 0, 4)
    pairs = b"".join(struct.pack("<ii", each - table, 0) for each in functions)
    found = struct.pack("<BBBBiI", 1, 0x1B, 0x03, form, 0, len(functions)) + pairs
    return (header + code + frames).ljust(table, b"\0") + found


def named(tmp_path: Path, content: bytes) -> Named:
    place = tmp_path / "libnet.so"
    place.write_bytes(content)
    return Named([Mapping(0x7F0000, 0x7F0200, 0x200, place, "libnet.so")])


def test_every_place_in_a_function_has_the_name_of_its_beginning(tmp_path: Path) -> None:
    net = named(tmp_path, elf([0x1100, 0x1010, 0x1000]))
    assert net.name_of(0x7F0000) == "libnet.so+0x1000" and net.name_of(0x7F000F) == "libnet.so+0x1000"
    assert net.name_of(0x7F0010) == net.name_of(0x7F00FF) == "libnet.so+0x1010"
    assert net.name_of(0x7F01FF) == "libnet.so+0x1100"
    assert net.name_of(0x7F0200) is None and net.name_of(1) is None, "nothing lies there"


@pytest.mark.parametrize("content", [elf([]), elf([0x1010], form=0x1B), elf([0x1010])[:0x404]])
def test_without_such_a_table_the_page_stands_for_the_function(tmp_path: Path, content: bytes) -> None:
    assert named(tmp_path, content).name_of(0x7F0123) == "libnet.so+0x1000"


def test_what_is_no_library_has_no_names(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(100), b"\x7fELF\x02\x01\x01"):
        (tmp_path / "x").write_bytes(content)
        assert read_library(tmp_path / "x") is None
    assert read_library(tmp_path / "gone") is None and read_library(tmp_path) is None


def test_damaged_libraries_end_nothing(tmp_path: Path) -> None:
    whole, chance = elf([0x1000 + 16 * each for each in range(20)]), random.Random(0)
    for _ in range(500):
        broken = bytearray(whole[: chance.randrange(1, len(whole))] if chance.random() < 0.3 else whole)
        for _ in range(chance.randrange(1, 8)):
            broken[chance.randrange(len(broken))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        named(tmp_path, bytes(broken)).name_of(0x7F0123)


def test_a_table_that_claims_to_be_huge_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    content = bytearray(elf([0x1000, 0x1010]))
    content[0x408:0x40C] = struct.pack("<I", 0xFFFFFFFF)
    assert named(tmp_path, bytes(content)).name_of(0x7F0020) == "libnet.so+0x1010"


def test_this_process_is_read_as_it_is() -> None:
    mappings = mappings_of(os.getpid())
    if not mappings:
        pytest.skip("this system has no /proc/PID/maps")
    qsort = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value
    assert qsort is not None
    names = Named(mappings)
    name = names.name_of(qsort)
    assert name is not None and "+0x" in name and names.name_of(qsort + 3) == name
    assert mappings_of(2**30) == []


def test_only_what_has_no_symbol_is_named_so(tmp_path: Path) -> None:
    net = named(tmp_path, elf([0x1000]))
    seen = [
        Seen(1, "[unknown]", "libnet.so", 0x7F0004),
        Seen(2, "conv", "libnet.so", 0x7F0004),
        Seen(3, "[unknown]", "x", 9),
    ]
    assert [each.symbol for each in _with_names(seen, net)] == ["libnet.so+0x1000", "conv", "[unknown]"]
