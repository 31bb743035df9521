"""Names for functions of libraries without a symbol table: the library, and where the function begins in it.

A stripped library still says where each of its functions begins, in the table by which exceptions are unwound
(`.eh_frame_hdr`): a sample anywhere in a function gets that function's address, `libnet.so+0x3f20`, the same in every
run and for every tool that reads the file. Where there is no such table, the page of memory stands for the function.
"""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.provision.machine.read import read

_PAGE = 0x1000
_LOAD, _EH_FRAME_HDR = 1, 0x6474E550
_MOST_HEADERS, _MOST_FUNCTIONS = 256, 1 << 22
_SORTED_BY_4_BYTES = 0x3B
"""The one form that linkers write: signed 4-byte numbers, from the beginning of the table."""


@dataclass(frozen=True)
class Mapping:
    """A piece of a file that a process can execute."""

    start: int
    end: int
    offset: int
    """Where it is in the file."""
    path: Path
    """From here: a process in a root file system of its own names others."""
    name: str


@dataclass(frozen=True)
class Library:
    """What a file says of itself: which of its bytes lie at which address, and where functions begin."""

    segments: tuple[tuple[int, int, int], ...]
    """(place in the file, size, address)."""
    functions: tuple[int, ...]
    """Addresses, in order."""

    def function_at(self, offset: int) -> int:
        """The address at which the function begins that a place in the file is in."""
        found = offset
        for place, size, address in self.segments:
            if place <= offset < place + size:
                found = address + offset - place
        number = bisect_right(self.functions, found) - 1
        return self.functions[number] if number >= 0 else found & -_PAGE


class Named:
    """Names places in the memory of a process, as its mappings were when it was asked."""

    def __init__(self, mappings: Iterable[Mapping]) -> None:
        self._mappings = sorted(mappings, key=lambda each: each.start)
        self._starts = [each.start for each in self._mappings]
        self._libraries: dict[Path, Library | None] = {}

    def name_of(self, address: int) -> str | None:
        """`library+0xaddress`; None where nothing lies there that came from a file."""
        number = bisect_right(self._starts, address) - 1
        if number < 0 or address >= self._mappings[number].end:
            return None
        mapping = self._mappings[number]
        if mapping.path not in self._libraries:
            self._libraries[mapping.path] = read_library(mapping.path)
        library = self._libraries[mapping.path]
        if library is None:
            return None
        return f"{mapping.name}+{library.function_at(address - mapping.start + mapping.offset):#x}"


def mappings_of(pid: int, root: Path = Path("/")) -> list[Mapping]:
    """What a process can execute of files; nothing where that is not told."""
    folder = root / "proc" / str(pid)
    return list(_parsed((read(folder / "maps") or "").splitlines(), folder / "root"))


def _parsed(lines: Iterable[str], root: Path) -> Iterator[Mapping]:
    for line in lines:
        words = line.split(maxsplit=5)
        if len(words) < 6 or "x" not in words[1] or not words[5].startswith("/"):
            continue
        with suppress(ValueError):
            start, _, end = words[0].partition("-")
            path = words[5].removesuffix(" (deleted)")
            name = path.rsplit("/", 1)[-1]
            yield Mapping(int(start, 16), int(end, 16), int(words[2], 16), root / path.lstrip("/"), name)


def read_library(path: Path) -> Library | None:
    """None for what is not a 64-bit little-endian ELF file; one that is damaged has fewer functions, or none."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:6] != b"\x7fELF\x02\x01":
                return None
            return _library(content)
    except (OSError, ValueError, OverflowError, struct.error):
        return None


def _library(content: mmap.mmap) -> Library:
    (first,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    segments, table = [], None
    for number in range(min(count, _MOST_HEADERS)):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", content, first + number * size)
        if kind == _LOAD:
            segments.append((offset, length, address))
        elif kind == _EH_FRAME_HDR:
            table = offset, address
    functions: tuple[int, ...] = ()
    if table is not None:
        with suppress(OverflowError, struct.error):
            functions = _functions(content, *table)
    return Library(tuple(segments), functions)


def _functions(content: mmap.mmap, offset: int, address: int) -> tuple[int, ...]:
    version, _, counted, form = struct.unpack_from("<BBBB", content, offset)
    if version != 1 or counted != 0x03 or form != _SORTED_BY_4_BYTES:
        return ()
    (count,) = struct.unpack_from("<I", content, offset + 8)
    count = min(count, _MOST_FUNCTIONS, (len(content) - offset - 12) // 8)
    pairs = struct.unpack_from(f"<{2 * count}i", content, offset + 12)
    return tuple(sorted(address + each for each in pairs[::2]))
