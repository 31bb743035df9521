"""Packed bytes become plain ones a block at a time, with little memory, whatever they claim to be.

Python's own readers are used where they stop at the length that they are asked for: gzip, bzip2, and deflate inside of
zip files. For bzip2 and lzma inside of zip files they return all that a few bytes stand for, and for xz they take as
much memory as the file wants.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

MAX_MEMORY = 128 << 20
"""For the dictionary of xz and lzma; `xz -9` takes 65 MiB."""
_BLOCK = 1 << 16


_Decompressor = bz2.BZ2Decompressor | lzma.LZMADecompressor


def open_packed(path: Path) -> IO[bytes] | None:
    """A compressed file as the bytes that are in it; None where it is not compressed."""
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return gzip.open(path)  # type: ignore[return-value]
    if start.startswith(b"BZh"):
        return bz2.open(path)
    if start.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return io.BufferedReader(_Unpacked(path.open("rb"), _xz(), is_endless=True), _BLOCK)
    return None


def open_zipped(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """A member of a zip file."""
    if info.compress_type not in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        return packed.open(info)
    raw = copy.copy(info)  # as if it were stored, which gives its packed bytes
    raw.compress_type, raw.file_size = zipfile.ZIP_STORED, info.compress_size
    del raw.CRC
    source = packed.open(raw)
    decompressor: _Decompressor = bz2.BZ2Decompressor() if info.compress_type == zipfile.ZIP_BZIP2 else _lzma(source)
    return io.BufferedReader(_Unpacked(source, decompressor, about=info), _BLOCK)


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=MAX_MEMORY)


def _lzma(source: IO[bytes]) -> lzma.LZMADecompressor:
    """By the header that a zip file's members have: two bytes of version, the properties and their length."""
    head = source.read(4)
    properties = source.read(struct.unpack("<H", head[2:])[0]) if len(head) == 4 else b""
    if len(properties) != 5:
        raise zipfile.BadZipFile("an lzma member without properties")
    if struct.unpack("<I", properties[1:])[0] > MAX_MEMORY:
        raise zipfile.BadZipFile(f"an lzma member that takes more than {MAX_MEMORY >> 20} MiB of memory")
    chosen = lzma._decode_filter_properties(lzma.FILTER_LZMA1, properties)  # type: ignore[attr-defined]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[chosen])


class _Unpacked(io.RawIOBase):
    """No more comes out than a read asks for."""

    def __init__(
        self,
        source: IO[bytes],
        decompressor: _Decompressor,
        *,
        is_endless: bool = False,
        about: zipfile.ZipInfo | None = None,
    ) -> None:
        self._source, self._decompressor, self._is_endless, self._about = source, decompressor, is_endless, about
        self._pending, self._size, self._crc = b"", 0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        block = self._next(len(view))
        view[: len(block)] = block
        self._size += len(block)
        if self._about is not None:
            self._crc = zlib.crc32(block, self._crc)
            if self._size > self._about.file_size or (not block and self._is_other(self._about)):
                raise zipfile.BadZipFile(f"{self._about.filename!r} is not what its zip file says of it")
        return len(block)

    def _next(self, length: int) -> bytes:
        while True:
            if self._decompressor.eof and not self._begin_next():
                return b""
            data, self._pending = self._pending, b""
            if not data and self._decompressor.needs_input:
                data = self._source.read(_BLOCK)
            if not data and self._decompressor.needs_input:
                if self._about is not None and self._size == self._about.file_size:
                    return b""  # lzma's end need not be marked
                raise EOFError("the packed bytes end too early")
            block = self._decompressor.decompress(data, length)
            if block:
                return block

    def _begin_next(self) -> bool:
        """Another stream may follow, as parallel packers write them; zeros that fill it up may, too."""
        if not self._is_endless:
            return False
        self._pending = self._decompressor.unused_data.lstrip(b"\0")
        while not self._pending and (data := self._source.read(_BLOCK)):
            self._pending = data.lstrip(b"\0")
        if self._pending:
            self._decompressor = _xz()
        return bool(self._pending)

    def _is_other(self, about: zipfile.ZipInfo) -> bool:
        return (self._size, self._crc) != (about.file_size, about.CRC)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()
